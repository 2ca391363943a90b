// parallel_for: runs every task once, for any caller, with exceptions, and also after fork().
#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/watch.hpp"

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace graphtv::tests {
namespace {
bool is_child = false;
}
}  // namespace graphtv::tests

// Called by the leak checker at exit, which does not support a fork() of several threads.
extern "C" int __lsan_is_turned_off() { return graphtv::tests::is_child ? 1 : 0; }

namespace graphtv::tests {
namespace {

// Runs n_tasks tasks. Returns whether each ran once, on a worker in range, and no worker ran two at
// a time.
bool all_tasks_run_once(int n_tasks, int n_threads) {
    std::vector<int> runs(static_cast<std::size_t>(n_tasks));  // tasks share no entries
    std::vector<std::atomic<bool>> busy(static_cast<std::size_t>(n_threads));
    std::atomic<bool> fine{true};
    parallel_for(n_tasks, n_threads, [&](int task, int worker) {
        if (worker < 0 || worker >= n_threads) {
            fine = false;
            return;
        }
        auto& mine = busy[static_cast<std::size_t>(worker)];
        if (mine.exchange(true)) fine = false;
        ++runs[static_cast<std::size_t>(task)];
        mine = false;
    });
    for (const int n : runs)
        if (n != 1) fine = false;
    return fine;
}

void every_task_runs_once() {
    for (const int n_threads : {1, 2, 3, 8, 16})
        for (const int n_tasks : {0, 1, 2, 3, 7, 8, 9, 1000})
            check(all_tasks_run_once(n_tasks, n_threads));
    for (int repeat = 0; repeat < 3'000; ++repeat)
        check(all_tasks_run_once(repeat % 7, 1 + repeat % 5));
    check(resolve_threads(0) >= 1 && resolve_threads(-3) >= 1 && resolve_threads(5) == 5);
}

void the_caller_is_asked_while_it_waits() {
    std::atomic<bool> stop = false;
    int n_asked = 0;
    // The task of a helper ends only when the idle caller is polled.
    std::atomic<int> n_long = 0;
    const auto body = [&](int, int worker) {
        if (worker == 0) return;
        ++n_long;
        while (!stop) std::this_thread::yield();
    };
    const auto idle = [&] {
        ++n_asked;
        stop = true;
    };
    for (int repeat = 0; repeat < 20; ++repeat) {
        stop = false;
        parallel_for(64, 2, body, idle);
    }
    check(n_long == 0 || n_asked > 0);
    parallel_for(2, 1, body, [] { check(false); });
}

void only_the_caller_is_under_its_watch() {
    Watched::look();
    Watch late(0.0, {}), early(1e9, {});
    const auto throws = [](const auto& body) {
        try {
            body();
        } catch (const Expired&) {
            return true;
        }
        return false;
    };
    const auto look = [] { Watched::look(); };
    {
        const Watched here(&late);
        check(throws(look));
        bool helper_throws = true;
        std::thread([&] { helper_throws = throws(look); }).join();
        check(!helper_throws);
        {
            const Watched inside(&early);
            check(!throws(look));
        }
        check(throws(look));
        int n_done = 0;
        check(throws([&] { for_watched(100, [&](std::size_t) { ++n_done; }); }) && n_done == 0);
        check(throws([&] { parallel_for(8, 1, [&](int, int) { Watched::look(); }); }));
    }
    check(!throws(look));
}

void exceptions_are_passed_on_and_leave_no_trace() {
    for (int repeat = 0; repeat < 300; ++repeat) {
        const int n_threads = 1 + repeat % 4, bad = repeat % 20;
        check(throws<std::runtime_error>([&] {
            parallel_for(20, n_threads, [&](int task, int) {
                if (task >= bad) throw std::runtime_error("task");
            });
        }));
        check(all_tasks_run_once(20, n_threads));
    }
}

void nested_calls_run_on_the_spot() {
    for (int repeat = 0; repeat < 100; ++repeat) {
        std::atomic<int> count{0};
        parallel_for(8, 4, [&](int, int) {
            const auto here = std::this_thread::get_id();
            parallel_for(5, 4, [&](int, int worker) {
                check(std::this_thread::get_id() == here && worker == 0);
                ++count;
            });
        });
        check(count == 40);
    }
    check(throws<int>([] {
        parallel_for(4, 4, [](int, int) { parallel_for(4, 4, [](int, int) { throw 1; }); });
    }));
}

void callers_do_not_disturb_each_other() {
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 6; ++caller)
        callers.emplace_back([caller] {
            for (int repeat = 0; repeat < 300; ++repeat) {
                check(all_tasks_run_once(1 + (repeat + caller) % 30, 1 + caller % 4));
                if (repeat % 10 == caller)
                    check(throws<int>([] { parallel_for(9, 3, [](int, int) { throw 1; }); }));
            }
        });
    for (auto& caller : callers) caller.join();
}

#if defined(__linux__)

// The exit code of `action` in a forked child, or -1 if it was killed or hung.
template <class Action>
int in_child(Action action) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        is_child = true;
        alarm(30);
        // Runs static destructors, which must not wait for threads that do not exist.
        std::exit(action());
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void forked_children_start_their_own_threads() {
    check(all_tasks_run_once(100, 4));
    check(in_child([] { return 0; }) == 0);
    check(in_child([] { return all_tasks_run_once(100, 4) ? 0 : 1; }) == 0);
    check(in_child([] {
              const int grandchild = in_child([] { return all_tasks_run_once(50, 3) ? 0 : 1; });
              return grandchild == 0 && all_tasks_run_once(100, 2) ? 0 : 1;
          }) == 0);
    check(all_tasks_run_once(100, 4));
}

// Forks while other threads are inside parallel_for and hold its locks.
void forks_disturb_no_callers() {
    std::atomic<bool> stop{false};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 2; ++caller)
        callers.emplace_back([&] {
            while (!stop) check(all_tasks_run_once(16, 3));
        });
    for (int repeat = 0; repeat < 20; ++repeat)
        check(in_child([] { return all_tasks_run_once(40, 4) ? 0 : 1; }) == 0);
    stop = true;
    for (auto& caller : callers) caller.join();
}

// Another thread may still be inside parallel_for when main returns.
void exit_does_not_wait_for_callers() {
    for (int repeat = 0; repeat < 10; ++repeat)
        check(in_child([] {
                  std::atomic<bool> started{false};
                  std::thread([&started] {
                      for (;;) {
                          all_tasks_run_once(64, 4);
                          started = true;
                      }
                  }).detach();
                  while (!started) std::this_thread::yield();
                  std::exit(0);
                  return 1;
              }) == 0);
}

// If the system refuses to start threads, the existing ones do the work, and the next call
// succeeds.
void refused_threads_are_done_without() {
    check(in_child([] {
              const rlimit before = [] {
                  rlimit limit{};
                  getrlimit(RLIMIT_AS, &limit);
                  return limit;
              }();
              const rlimit none{1, before.rlim_max};
              setrlimit(RLIMIT_AS, &none);  // no memory for another stack
              bool fine = all_tasks_run_once(8, 8);
              setrlimit(RLIMIT_AS, &before);
              std::atomic<int> helped{0};
              for (int repeat = 0; repeat < 200; ++repeat)
                  parallel_for(8, 4, [&](int, int worker) {
                      helped += worker > 0;
                      std::this_thread::yield();
                  });
              fine &= helped > 0;
              return fine ? 0 : 1;
          }) == 0);
}

#endif

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    every_task_runs_once();
    the_caller_is_asked_while_it_waits();
    only_the_caller_is_under_its_watch();
    exceptions_are_passed_on_and_leave_no_trace();
    nested_calls_run_on_the_spot();
    callers_do_not_disturb_each_other();
#if defined(__linux__)
    // The thread sanitizer does not support threads after fork(), and the address sanitizer does
    // not support fork() while another thread allocates. Neither leaves memory that the system
    // could refuse.
    if constexpr (!under_thread_sanitizer) forked_children_start_their_own_threads();
    if constexpr (!under_thread_sanitizer) exit_does_not_wait_for_callers();
    if constexpr (sanitizers.empty()) forks_disturb_no_callers();
    if constexpr (sanitizers.empty()) refused_threads_are_done_without();
#endif
    return verdict();
}
