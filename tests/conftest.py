"""Settings for all tests."""

import signal

from hypothesis import HealthCheck, settings

from motif.runtime.progress import COMPILATION

# A busy machine is no fault: neither an example nor the making of one has a deadline.
settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
# A shell that starts tests in the background makes them deaf to Ctrl-C, and with them the processes that
# they start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What a command says in a test does not depend on which kernels happen to be kept already.
COMPILATION.is_said = True
