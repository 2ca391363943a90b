"""Runs in the environment with numpy < 2: python cut_pursuit_worker.py FOLDER.

Reads FOLDER/problem.npz once. For every line [cuts, tolerance] on standard input it solves, writes
FOLDER/u.npy and answers with a line {"seconds": processor time of the call}.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from pycut_pursuit.cp_d1_ql1b import cp_d1_ql1b


def main() -> None:
    folder = Path(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints must not mix with the answers
    problem = dict(np.load(folder / "problem.npz"))
    for line in sys.stdin:
        cuts, tolerance = json.loads(line)
        start = time.process_time()
        component, values = cp_d1_ql1b(
            problem["signal"],
            1.0,
            problem["first_edge"],
            problem["adj_vertices"],
            edge_weights=problem["edge_weights"],
            cp_it_max=cuts,
            cp_dif_tol=0.0,
            pfdr_dif_tol=tolerance,
            verbose=0,
            max_num_threads=1,
            balance_parallel_split=False,
        )[:2]
        u = values.ravel()[component]
        seconds = time.process_time() - start
        np.save(folder / "u.npy", u)
        answers.write(json.dumps({"seconds": seconds}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
