"""The exception for files that cannot be used."""


class FileError(ValueError):
    """A file cannot be read or written as asked; the message is for the user who chose it."""
