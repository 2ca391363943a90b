"""The profile under which Hypothesis runs."""

from hypothesis import settings

# A deadline per example would make slow machines fail tests that are right.
settings.register_profile("graphtv", deadline=None)
settings.load_profile("graphtv")
