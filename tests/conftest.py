"""What holds for all tests: Hypothesis's profile, and Ctrl-C."""

import signal

from hypothesis import settings

# A deadline per example would make slow machines fail tests that are right.
settings.register_profile("graphtv", deadline=None)
settings.load_profile("graphtv")

# A shell starts jobs in the background deaf to Ctrl-C, and their children are too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
