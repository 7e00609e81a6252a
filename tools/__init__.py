"""Maintainers' scripts: measurements, generated docs, checks."""
