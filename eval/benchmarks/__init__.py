"""Benchmarks; each is a command that states its parts."""
