"""Measuring: error rates on GNUbg-style benchmark files, and speed."""

from motif.benchmark.error_rate import ErrorRate, error_rate
from motif.benchmark.files import BenchmarkFile, read_benchmark

__all__ = ["BenchmarkFile", "ErrorRate", "error_rate", "read_benchmark"]
