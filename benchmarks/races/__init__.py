"""The benchmarks behind ``graphtv bench``: seeded problems, peers in separate processes, a referee.

A race goes through these modules in order. `problems` makes an instance and `reference` proves its
optimum. `peer_process` starts the peers, and `search` finds the cheapest setting that reaches an
accuracy. `contest` lets all take turns and judges what they return. `race_tables` and `pictures`
show the outcome. `command` is the command line.
"""
