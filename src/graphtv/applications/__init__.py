"""High-level functions and estimators for common applications.

Each module turns the data of one application into a `Problem`, calls `solve`, and returns the
result with its certificate.
"""
