// How much work may be spent on one component, and until when.
//
// Each worker of a parallel loop has a budget; all share one stop flag. Only the worker of the
// calling thread checks the Watch. The budget counts work instead of time, since a count does not
// depend on the clock or on the number of threads.
#pragma once

#include <atomic>
#include <limits>

#include "parallel/watch.hpp"

namespace graphtv {

class WorkBudget {
  public:
    // `watch` is null on helpers: only the thread that called the solver may check it.
    WorkBudget(Watch* watch, std::atomic<bool>& stop) : watch_(watch), stop_(&stop) {}

    // Starts a new allowance.
    void allow(double work) {
        total_ += spent_ + static_cast<double>(work_);
        spent_ = 0.0;
        work_ = 0;
        allowance_ = work;
    }

    // Adds `work` (approximately, scanned arcs). Returns true when the caller should stop.
    bool spend(unsigned work = 1) {
        work_ += work;
        if (work_ < work_per_check) return false;
        return check();
    }

    // True when the allowance is exhausted, the watch has expired or another worker has stopped.
    bool check() {
        spent_ += static_cast<double>(work_);
        work_ = 0;
        if (spent_ > allowance_) is_exhausted_ = true;
        if (is_exhausted_ || (watch_ != nullptr && watch_->expired())) *stop_ = true;
        return stop_->load(std::memory_order_relaxed);
    }

    // The remaining allowance.
    double left() const { return allowance_ - spent_ - static_cast<double>(work_); }

    // Stops as if the allowance were exhausted.
    void give_up() {
        is_exhausted_ = true;
        *stop_ = true;
    }

    // The same without the allowance, for passes whose work is counted elsewhere.
    bool check_watch() {
        if (watch_ != nullptr && watch_->expired()) *stop_ = true;
        return stop_->load(std::memory_order_relaxed);
    }

    bool is_exhausted() const { return is_exhausted_; }
    double total() const { return total_ + spent_ + static_cast<double>(work_); }

  private:
    static constexpr unsigned work_per_check = 1U << 16;
    Watch* watch_;
    std::atomic<bool>* stop_;
    unsigned work_ = 0;  // since the last check
    double spent_ = 0.0, total_ = 0.0, allowance_ = std::numeric_limits<double>::infinity();
    bool is_exhausted_ = false;
};

}  // namespace graphtv
