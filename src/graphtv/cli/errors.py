"""The exception for invalid usage of a command."""


class UsageError(Exception):
    """Invalid usage; the message is printed and the exit code is 2."""
