"""Vendors behind the ports of ingest, one file each."""
