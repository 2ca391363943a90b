"""One adapter per peer, each with `enter(task)`, run by `worker` in the peer's own interpreter.

That interpreter need not have graphtv, and its Python and numpy may be others than ours: nothing
here imports more than numpy, scipy and the peer, and imports within this folder are relative, since
a worker knows it as the package ``peers``.
"""
