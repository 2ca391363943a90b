// A Watch that Python can end: by a deadline, a signal, a callback or a flag.
#pragma once

#include <atomic>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "bindings/arrays.hpp"
#include "parallel/watch.hpp"

namespace graphtv::bindings {

class PythonWatch {
  public:
    explicit PythonWatch(double seconds, nb::object stop = nb::none())
        : watch_(seconds, [this] { return poll(); }), stop_(std::move(stop)) {}
    PythonWatch(const PythonWatch&) = delete;
    PythonWatch& operator=(const PythonWatch&) = delete;

    Watch& watch() { return watch_; }
    bool expired() { return watch_.expired(); }
    bool interrupted() const { return interrupted_; }
    bool stopped() const { return stopped_; }  // by the function
    void interrupt() { interrupted_ = true; }
    void reserve(double seconds) { watch_.reserve(seconds); }
    double remaining() const { return watch_.remaining(); }

    // Python's `with`: the thread is under this watch inside the block.
    void enter() { watched_.emplace(&watch_); }
    void exit() {
        watched_.reset();
        rethrow();
    }

    // Rethrows an exception that a signal handler raised while the core was running.
    void rethrow() {
        if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    }

  private:
    // Lets Python's signal handlers run, one of which may set the flag, and calls the callback.
    bool poll() {
        const nb::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) nb::raise_python_error();
            if (!interrupted_ && !stop_.is_none() && nb::cast<bool>(nb::bool_(stop_())))
                stopped_ = interrupted_ = true;
        } catch (...) {
            raised_ = std::current_exception();
            interrupted_ = true;
        }
        return interrupted_;
    }

    Watch watch_;
    nb::object stop_;
    std::optional<Watched> watched_;
    std::atomic<bool> interrupted_ = false;
    bool stopped_ = false;
    std::exception_ptr raised_;
};

// Runs `body` without the GIL, then raises any exception that a signal handler raised meanwhile.
template <class Body>
auto watched(PythonWatch& watch, const Body& body) {
    const auto result = [&] {
        const nb::gil_scoped_release no_gil;
        return body(watch.watch());
    }();
    watch.rethrow();
    return result;
}

// Builds an object without the GIL. With a watch, raises `_core.Expired` when it expires. Without
// one, only Ctrl-C ends it.
template <class Body>
void set_up(PythonWatch* watch, const Body& body) {
    if (watch == nullptr) {
        PythonWatch forever(std::numeric_limits<double>::infinity());
        set_up(&forever, body);
        return;
    }
    try {
        const nb::gil_scoped_release no_gil;
        const Watched here(&watch->watch());
        body(watch->watch());
    } catch (const Expired&) {
        watch->rethrow();
        throw;
    }
}

}  // namespace graphtv::bindings
