"""Settings for all tests."""

import signal

from hypothesis import HealthCheck, settings

from motif.runtime.progress import COMPILATION

# A busy machine is not an error: examples and their generation have no deadline.
settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
# If a shell starts tests in the background, they ignore Ctrl-C, and so do the processes that
# they start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The output of a command in a test must not depend on which kernels are in the cache.
COMPILATION.is_said = True
