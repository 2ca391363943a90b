// A Watch shared by the workers of a parallel loop: the caller's worker asks it, the others hear. It
// also counts the work done on one component, and ends when that exceeds an allowance: a count does
// not depend on the clock, nor on the number of threads.
#pragma once

#include <atomic>
#include <limits>

#include "parallel/watch.hpp"

namespace graphtv {

class Pulse {
  public:
    // `watch` is null on helpers: only the thread that called the solver may ask it.
    Pulse(Watch* watch, std::atomic<bool>& stop) : watch_(watch), stop_(&stop) {}

    // From now on, at most so much work.
    void allow(double work) {
        total_ += spent_ + static_cast<double>(work_);
        spent_ = 0.0;
        work_ = 0;
        allowance_ = work;
    }

    // Counts `work` (arcs looked at, roughly); true when it is time to end.
    bool beat(unsigned work = 1) {
        work_ += work;
        if (work_ < work_per_beat) return false;
        return look();
    }

    bool look() {
        spent_ += static_cast<double>(work_);
        work_ = 0;
        if (spent_ > allowance_) is_exhausted_ = true;
        if (is_exhausted_ || (watch_ != nullptr && watch_->expired())) *stop_ = true;
        return stop_->load(std::memory_order_relaxed);
    }

    // What is left of the allowance.
    double left() const { return allowance_ - spent_ - static_cast<double>(work_); }

    // Ends as if nothing were left.
    void give_up() {
        is_exhausted_ = true;
        *stop_ = true;
    }

    // Only looks: for passes whose work is counted elsewhere.
    bool glance() {
        if (watch_ != nullptr && watch_->expired()) *stop_ = true;
        return stop_->load(std::memory_order_relaxed);
    }

    bool is_exhausted() const { return is_exhausted_; }
    double total() const { return total_ + spent_ + static_cast<double>(work_); }

  private:
    static constexpr unsigned work_per_beat = 1U << 16;
    Watch* watch_;
    std::atomic<bool>* stop_;
    unsigned work_ = 0;  // since the last look
    double spent_ = 0.0, total_ = 0.0, allowance_ = std::numeric_limits<double>::infinity();
    bool is_exhausted_ = false;
};

}  // namespace graphtv
