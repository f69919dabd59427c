"""Vendors behind the ports of api, one file each."""
