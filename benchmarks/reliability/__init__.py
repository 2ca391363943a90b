"""What is promised about graphtv, property by property, and put to the test.

One module per property; `harness` runs their cases in processes of their own, `run` is the command.
"""
