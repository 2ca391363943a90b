"""Settings for all tests: the profile of Hypothesis, and Ctrl-C."""

import signal

from hypothesis import settings

# A deadline per example would make correct tests fail on slow machines.
settings.register_profile("graphtv", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=20)


def pytest_configure(config):
    """Try fewer examples in the fast set."""
    settings.load_profile("fast" if config.option.markexpr == "not slow" else "graphtv")


# A shell starts background jobs with SIGINT ignored, and their children inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
