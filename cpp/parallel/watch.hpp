// Ends a long computation early, at a deadline or on request of the user. Every loop of the solver
// checks the watch at least every few milliseconds of work. It then returns with its state intact,
// so that its point is feasible and can be certified.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

namespace graphtv {

// Thrown by a set-up whose partial result would be useless.
struct Expired : std::exception {
    const char* what() const noexcept override { return "the watch expired"; }
};

// The number of cheap loop steps, such as visits of a vertex or an edge, between two checks of the
// watch.
inline constexpr std::size_t between_looks = 1 << 15;

// Calls body(i) for i in [0, n), and ends() every between_looks steps. Returns false as soon as
// ends() returns true.
template <class Ends, class Body>
bool for_watched(std::size_t n, const Ends& ends, const Body& body) {
    for (std::size_t i = 0; i < n;) {
        if (ends()) return false;
        for (const std::size_t end = std::min(i + between_looks, n); i < end; ++i) body(i);
    }
    return true;
}

class Watch {
  public:
    using Clock = std::chrono::steady_clock;

    Watch() = default;
    // The thread that called the solver calls `poll` at regular intervals. It returns true to end
    // the run.
    Watch(double seconds, std::function<bool()> poll) : poll_(std::move(poll)) {
        if (seconds < std::numeric_limits<double>::infinity())
            deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::min(seconds, 1e9)));
    }

    // Cheap enough to be called every few thousand vertices. Once true, it stays true.
    bool expired() {
        if (expired_) return true;
        const auto now = Clock::now();
        if (now >= deadline_) return expired_ = true;
        if (poll_ && now >= next_poll_) {
            next_poll_ = now + std::chrono::milliseconds(20);
            expired_ = poll_();
        }
        return expired_;
    }

    // From now on, expires this many seconds before the deadline.
    void reserve(double seconds) {
        const auto wanted = std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(std::min(seconds, 1e9)));
        if (deadline_ != Clock::time_point::max()) deadline_ += reserved_ - wanted;
        reserved_ = wanted;
    }

    // Seconds until the deadline, for callers that are about to start work that cannot be
    // interrupted.
    double remaining() const {
        if (deadline_ == Clock::time_point::max()) return std::numeric_limits<double>::infinity();
        return std::chrono::duration<double>(deadline_ - Clock::now()).count();
    }

  private:
    Clock::time_point deadline_ = Clock::time_point::max();
    Clock::time_point next_poll_ = Clock::time_point::min();
    Clock::duration reserved_{0};
    std::function<bool()> poll_;
    bool expired_ = false;
};

// Puts the calling thread under a watch, for work whose partial result would be useless. Every
// nested `look` throws Expired when the watch has expired. This avoids an extra parameter in every
// function of a deeply nested set-up. The helpers of a parallel loop are not under the watch; an
// exception of the caller's worker ends the loop.
class Watched {
  public:
    explicit Watched(Watch* watch) : before_(std::exchange(current_, watch)) {}
    ~Watched() { current_ = before_; }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    static void look() {
        if (current_ != nullptr && current_->expired()) throw Expired{};
    }

  private:
    static inline thread_local Watch* current_ = nullptr;
    Watch* before_;
};

// The same under Watched: throws Expired when the watch has expired.
template <class Body>
void for_watched(std::size_t n, const Body& body) {
    for_watched(
        n,
        [] {
            Watched::look();
            return false;
        },
        body);
}

}  // namespace graphtv
