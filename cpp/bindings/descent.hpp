// Bindings that all kinds of descent share.
#pragma once

#include <algorithm>
#include <span>

#include "bindings/watch.hpp"
#include "parallel/parallel_for.hpp"
#include "tv/rounded.hpp"

namespace graphtv::bindings {

// Some kinds do a few iterations at a time, some use threads.
template <class Descent>
int steps(Descent& descent, Watch& watch, int n_threads, int at_most) {
    if constexpr (requires { descent.step(watch, n_threads, at_most); })
        return descent.step(watch, n_threads, at_most);
    else if constexpr (requires { descent.step(watch, n_threads); })
        return descent.step(watch, n_threads) ? 1 : 0;
    else
        return descent.step(watch) ? 1 : 0;
}

// Some kinds store u, others compute it.
template <class Descent>
void copy_u(Descent& descent, std::span<double> out) {
    if constexpr (requires { descent.u(out); })
        descent.u(out);
    else
        std::ranges::copy(descent.u(), out.begin());
}

template <class Descent>
void bind_descent(nb::class_<Descent>& descent) {
    descent
        .def(
            "start_from",
            [](Descent& self, const In<double>& p) {
                const nb::gil_scoped_release no_gil;
                self.start_from(view(p));
            },
            nb::arg("p").noconvert(), "Start from a feasible dual point by edge.")
        .def(
            "step",
            [](Descent& self, PythonWatch& watch, int n_threads, int at_most) {
                return watched(watch, [&](Watch& w) {
                    return steps(self, w, resolve_threads(n_threads), at_most);
                });
            },
            nb::arg("watch"), nb::arg("n_threads"), nb::arg("at_most"),
            "Do one or a few iterations and return their number, 0 if the watch expired.")
        .def(
            "u",
            [](Descent& self, const InPlace& out) {
                const nb::gil_scoped_release no_gil;
                copy_u(self, view(out));
            },
            nb::arg("out").noconvert(), "Copy the primal point to `out`.")
        .def(
            "dual",
            [](Descent& self, const InPlace& out, int n_threads) {
                const nb::gil_scoped_release no_gil;
                self.dual(view(out), resolve_threads(n_threads));
            },
            nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
            "Copy the dual point by edge to `out`. With groups, rounding may leave it slightly"
            " outside of the unit balls.")
        .def_prop_ro("dual_value", &Descent::dual_value)
        .def_prop_ro("momentum", &Descent::momentum)
        .def_prop_ro("restarted", &Descent::restarted);
    if constexpr (requires { &Descent::primal_value; })
        descent.def_prop_ro("primal_value", &Descent::primal_value);
    if constexpr (requires { &Descent::rounded_dual; })
        descent.def(
            "rounded_dual",
            [](Descent& self, const InPlaceOf<Rounded>& out, int n_threads) {
                const nb::gil_scoped_release no_gil;
                self.rounded_dual(view(out), resolve_threads(n_threads));
            },
            nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
            "The dual point by edge, in multiples of 1/32767.");
}

}  // namespace graphtv::bindings
