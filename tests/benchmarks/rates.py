"""Error rates of players on benchmark files, for tests."""

from motif.benchmarks.choices import ErrorRate, ErrorRates, player_choices, summary


def error_rates(player, benchmarks, *, seed=0, jobs=None) -> ErrorRates:
    """Error rates of a player on all files together, by file and by position class."""
    return summary([player_choices(player, benchmark, seed=seed, jobs=jobs) for benchmark in benchmarks])


def error_rate(player, benchmark, *, seed=0, jobs=None) -> ErrorRate:
    """Error rate of a player on one file."""
    return error_rates(player, [benchmark], seed=seed, jobs=jobs).overall
