// A Watch that Python can set off: by a deadline, by a signal, or by its flag.
#pragma once

#include <atomic>
#include <exception>
#include <utility>

#include "bindings/arrays.hpp"
#include "solver/watch.hpp"

namespace graphtv::bindings {

class PythonWatch {
  public:
    explicit PythonWatch(double seconds) : watch_(seconds, [this] { return poll(); }) {}
    PythonWatch(const PythonWatch&) = delete;
    PythonWatch& operator=(const PythonWatch&) = delete;

    Watch& watch() { return watch_; }
    bool expired() { return watch_.expired(); }
    bool interrupted() const { return interrupted_; }
    void interrupt() { interrupted_ = true; }

    // Passes on what a signal handler raised while the core was at work.
    void rethrow() {
        if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    }

  private:
    // Lets Python's signal handlers run; one of them may set the flag.
    bool poll() {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            raised_ = std::make_exception_ptr(nb::python_error());
            interrupted_ = true;
        }
        return interrupted_;
    }

    Watch watch_;
    std::atomic<bool> interrupted_ = false;
    std::exception_ptr raised_;
};

// Runs `body` without the GIL, and raises what a signal handler raised meanwhile.
template <class Body>
auto watched(PythonWatch& watch, const Body& body) {
    const auto result = [&] {
        const nb::gil_scoped_release no_gil;
        return body(watch.watch());
    }();
    watch.rethrow();
    return result;
}

}  // namespace graphtv::bindings
