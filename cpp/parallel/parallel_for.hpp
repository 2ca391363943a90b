// The only file that starts threads.
//
// Work is divided into numbered tasks whose results do not depend on the thread that runs them. Any
// number of threads therefore gives the same bits. Helper threads are started once and then wait
// for work. After fork() the child starts new ones.
#pragma once

#include <functional>

namespace graphtv {

// The number of threads for a request: 0 means one per processor that this process may use.
int resolve_threads(int requested);

// Runs body(task, worker) for every task in [0, n_tasks) on up to n_threads threads. The caller is
// worker 0 of [0, n_threads). The first exception is rethrown after all workers have stopped. Calls
// from inside a body, or while another caller uses the helpers, run on the calling thread alone.
// The caller's thread calls `idle` every few milliseconds while it waits for long tasks of other
// workers.
void parallel_for(int n_tasks, int n_threads, const std::function<void(int task, int worker)>& body,
                  const std::function<void()>& idle = {});

}  // namespace graphtv
