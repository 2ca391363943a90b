// Why a long computation should end early: a deadline, or a user who asks. Every loop of the solver
// asks at least every few milliseconds of work and then returns with its state intact: whatever it
// holds by then is feasible and can be certified.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

namespace graphtv {

// Thrown out of a set-up that is of no use unless it is complete.
struct Expired : std::exception {
    const char* what() const noexcept override { return "the watch expired"; }
};

// Cheap steps of a loop, such as a visit of a vertex or an edge, between two looks at the watch.
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
    // `poll` is asked now and then, on the thread that called the solver, and returns true to end.
    Watch(double seconds, std::function<bool()> poll) : poll_(std::move(poll)) {
        if (seconds < std::numeric_limits<double>::infinity())
            deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::min(seconds, 1e9)));
    }

    // Cheap enough for every few thousand vertices. Once true, it stays so.
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

    // From now on expires so much before the deadline.
    void reserve(double seconds) {
        const auto wanted = std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(std::min(seconds, 1e9)));
        if (deadline_ != Clock::time_point::max()) deadline_ += reserved_ - wanted;
        reserved_ = wanted;
    }

    // Seconds until the deadline, for those about to do what cannot be ended early.
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

// Puts the calling thread under a watch, for work that is of no use unless it is complete: every
// `look` on the way throws Expired when the watch has expired. Set-ups are nested deep, and this
// spares each of their parts a parameter. Helpers of a parallel loop are under none: what the
// caller's worker throws ends the loop.
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
