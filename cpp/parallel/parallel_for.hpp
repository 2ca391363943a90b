// The one place that names threads.
//
// Work is cut into numbered tasks whose results do not depend on who runs them, so any number of
// threads gives the same bits. Helpers are started once and wait; after fork() the child starts its
// own.
#pragma once

#include <functional>

namespace graphtv {

// Number of threads for a request: 0 means one per processor this process may use.
int resolve_threads(int requested);

// Runs body(task, worker) for every task in [0, n_tasks) on up to n_threads threads, the caller
// being worker 0 of [0, n_threads). The first exception is passed on after all workers have
// stopped. Calls from inside a body, or while another caller has the helpers, run on the calling
// thread alone. Where tasks are long, `idle` is called on the caller's thread every few milliseconds
// while it waits for the others.
void parallel_for(int n_tasks, int n_threads, const std::function<void(int task, int worker)>& body,
                  const std::function<void()>& idle = {});

}  // namespace graphtv
