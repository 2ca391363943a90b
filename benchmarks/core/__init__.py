"""The core problems, for `benchmarks/regressions.py` and for asv (`benchmarks/asv.conf.json`)."""
