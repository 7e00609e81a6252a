"""How all tests are run."""

from hypothesis import HealthCheck, settings

# A busy machine is no fault: neither an example nor the making of one has a deadline.
settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
