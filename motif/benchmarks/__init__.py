"""Error rates on benchmark files and recorded decisions, and speed."""

from motif.benchmarks.benchmark_files import BenchmarkFile, read_benchmark
from motif.benchmarks.choices import ErrorRate, ErrorRates, error_rate, error_rates

__all__ = ["BenchmarkFile", "ErrorRate", "ErrorRates", "error_rate", "error_rates", "read_benchmark"]
