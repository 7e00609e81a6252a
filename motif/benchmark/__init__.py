"""How well a player chooses: error rates on benchmark files and recorded decisions; and how fast."""

from motif.benchmark.benchmark_files import BenchmarkFile, read_benchmark
from motif.benchmark.choices import ErrorRate, ErrorRates, error_rate, error_rates
from motif.runtime.package import callable_package

callable_package(__name__)

__all__ = ["BenchmarkFile", "ErrorRate", "ErrorRates", "error_rate", "error_rates", "read_benchmark"]
