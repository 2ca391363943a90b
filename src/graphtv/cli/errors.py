"""What a command raises when it was asked for something it cannot do."""


class UsageError(Exception):
    """A message for the user; the exit code is 2."""
