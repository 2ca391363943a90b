"""One adapter per peer, each with `enter(task)`, run by `worker` in the peer's own interpreter.

That interpreter need not have graphtv, and its versions of Python and numpy may differ from ours.
The adapters therefore import only numpy, scipy and the peer. Imports within this folder are
relative, since a worker imports it as the package ``peers``.
"""
