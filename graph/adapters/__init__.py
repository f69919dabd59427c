"""Vendors behind the ports of nodes, one file each."""
