"""Measuring: error rates on GNUbg-style benchmark files and on recorded decisions, and speed."""

from motif.benchmark.benchmark_files import BenchmarkFile, read_benchmark
from motif.benchmark.choices import ErrorRate, ErrorRates, error_rate, error_rates

__all__ = ["BenchmarkFile", "ErrorRate", "ErrorRates", "error_rate", "error_rates", "read_benchmark"]
