#include "parallel/parallel_for.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace graphtv {

namespace {

// A running parallel_for: tasks are handed out in order.
struct Job {
    const std::function<void(int, int)>& body;
    const int n_tasks;
    std::atomic<int> next{0};
    std::mutex mutex{};
    std::exception_ptr failure{};

    void run(int worker) {
        try {
            for (int task; (task = next.fetch_add(1)) < n_tasks;) body(task, worker);
        } catch (...) {
            next = n_tasks;
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
    }
};

// Never destroyed: helpers and callers may still run on other threads while the process exits.
class Pool {
  public:
    Pool() = default;
    Pool(const Pool&) = delete;
    ~Pool() = delete;

    // Requests exclusive use of the helpers. False if another caller has them.
    bool try_acquire() { return !busy_.exchange(true); }
    void release() { busy_ = false; }

    void run(Job& job, int n_helpers, const std::function<void()>& idle) {
        try {
            while (n_helpers_ < n_helpers) {
                const auto work = [this, worker = n_helpers_ + 1, seen = generation_] {
                    help(worker, seen);
                };
                std::thread(work).detach();
                ++n_helpers_;
            }
        } catch (const std::exception&) {  // no more threads: use those there are
            n_helpers = n_helpers_;
        }
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            invited_ = working_ = n_helpers;
            ++generation_;
        }
        wake_.notify_all();
        job.run(0);
        std::unique_lock lock(mutex_);
        const auto is_done = [this] { return working_ == 0; };
        while (idle && !done_.wait_for(lock, std::chrono::milliseconds(5), is_done)) {
            lock.unlock();
            idle();
            lock.lock();
        }
        done_.wait(lock, is_done);
    }

  private:
    void help(int worker, unsigned long seen) {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return generation_ != seen; });
            seen = generation_;
            if (worker > invited_) continue;
            lock.unlock();
            job_->run(worker);
            lock.lock();
            if (--working_ == 0) done_.notify_one();
        }
    }

    std::atomic<bool> busy_{false};
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    int n_helpers_ = 0;
    Job* job_ = nullptr;
    unsigned long generation_ = 0;
    int invited_ = 0, working_ = 0;
};

// Created when the library is loaded, so that no fork finds it half constructed.
Pool* the_pool = new Pool;
#if defined(__unix__) || defined(__APPLE__)
// The threads of a forked parent do not exist in the child: discard their handles there.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { the_pool = new Pool; });
#endif

thread_local bool inside_parallel_for = false;

}  // namespace

int resolve_threads(int requested) {
    if (requested > 0) return requested;
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
    const unsigned available = std::thread::hardware_concurrency();
    return available > 0 ? static_cast<int>(available) : 1;
}

void parallel_for(int n_tasks, int n_threads, const std::function<void(int, int)>& body,
                  const std::function<void()>& idle) {
    Job job{body, n_tasks};
    const int n_helpers = (n_threads < n_tasks ? n_threads : n_tasks) - 1;
    if (n_helpers <= 0 || inside_parallel_for || !the_pool->try_acquire()) {
        job.run(0);
    } else {
        inside_parallel_for = true;
        the_pool->run(job, n_helpers, idle);
        inside_parallel_for = false;
        the_pool->release();
    }
    if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace graphtv
