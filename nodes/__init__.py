"""The steps of one run, one file each, and the ports they need. No vendor is imported here."""
