"""Coverage-guided fuzzing of the readers with atheris (libFuzzer): ``pip install atheris``.

    python benchmarks/reliability/fuzz.py READER [--seconds S] [--corpus FOLDER]

READER is dimacs, table, image or scribbles. `readers.py` defines what counts as a failure. The
failing input is stored in the folder as ``crash-…``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> None:
    """Fuzz one reader."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reader", choices=("dimacs", "table", "image", "scribbles"))
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument(
        "--corpus", type=Path, help="folder of inputs to continue from, which is updated"
    )
    given = parser.parse_args()
    import atheris

    with atheris.instrument_imports(include=["graphtv.io", "graphtv.cli", "csv", "tifffile"]):
        import tifffile  # noqa: F401

    import numpy as np

    from reliability import readers

    corpus = given.corpus or Path(tempfile.mkdtemp())
    corpus.mkdir(exist_ok=True)
    for k, data in enumerate(readers.seeds(given.reader, np.random.default_rng(0))):
        (corpus / f"seed-{given.reader}-{k}").write_bytes(data)
    folder = Path(tempfile.mkdtemp())

    def one_input(data: bytes) -> None:
        readers.read(given.reader, data, folder)

    options: list[Any] = [
        sys.argv[0], str(corpus), f"-max_total_time={given.seconds}", "-timeout=10",
        "-rss_limit_mb=2048", "-max_len=4096", f"-artifact_prefix={corpus.parent}/",
        "-print_final_stats=1", "-verbosity=1",
    ]  # fmt: skip
    atheris.Setup(options, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
