"""Wiring, vendors and composition of the one corrective run."""
