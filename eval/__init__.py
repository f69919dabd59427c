"""Measuring: datasets, metrics, calibration and benchmarks."""
