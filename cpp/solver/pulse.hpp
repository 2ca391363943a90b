// A Watch shared by the workers of a parallel loop: the caller's worker asks it, the others hear.
#pragma once

#include <atomic>

#include "solver/watch.hpp"

namespace graphtv {

class Pulse {
  public:
    // `watch` is null on helpers: only the thread that called the solver may ask it.
    Pulse(Watch* watch, std::atomic<bool>& stop) : watch_(watch), stop_(&stop) {}

    // Counts `work` (arcs looked at, roughly); true when it is time to end.
    bool beat(unsigned work = 1) {
        work_ += work;
        if (work_ < work_per_beat) return false;
        return look();
    }

    bool look() {
        work_ = 0;
        if (watch_ != nullptr && watch_->expired()) *stop_ = true;
        return stop_->load(std::memory_order_relaxed);
    }

  private:
    static constexpr unsigned work_per_beat = 1U << 16;
    Watch* watch_;
    std::atomic<bool>* stop_;
    unsigned work_ = 0;
};

}  // namespace graphtv
