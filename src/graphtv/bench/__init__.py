"""The races behind ``graphtv bench``: seeded problems, peers in processes of their own, a referee.

The way of a race: `problems` makes an instance, `reference` proves its optimum, `team` starts the
peers, `search` finds the cheapest setting that reaches an accuracy, `contest` lets all take turns
and judges what they return, `tables` and `pictures` show it.
"""
