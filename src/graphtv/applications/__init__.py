"""Front doors for those who have the problem rather than the mathematics.

Each module turns one audience's data into a `Problem`, calls `solve`, and hands the certificate on.
"""
