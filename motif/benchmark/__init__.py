"""Measuring: error rates on GNUbg-style benchmark files and on recorded decisions, and speed."""

from motif.benchmark.error_rate import ErrorRate, ErrorRates, error_rate, error_rates
from motif.benchmark.files import BenchmarkFile, read_benchmark

__all__ = ["BenchmarkFile", "ErrorRate", "ErrorRates", "error_rate", "error_rates", "read_benchmark"]
