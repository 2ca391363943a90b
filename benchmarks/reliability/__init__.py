"""Tests of graphtv's guarantees, one module per property.

`harness` runs the cases in separate processes, and `run` is the command.
"""
