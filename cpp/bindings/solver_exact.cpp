// Binds the exact finish by warm-started flows.

#include <stdexcept>

#include "bindings/watch.hpp"
#include "parallel/parallel_for.hpp"
#include "solver/exact_finish.hpp"

namespace graphtv::bindings {

namespace {

const char* name(ExactFinish::End end) {
    if (end == ExactFinish::End::exact) return "exact";
    return end == ExactFinish::End::expired ? "expired" : "stalled";
}

}  // namespace

void bind_exact(nb::module_& m) {
    nb::class_<ExactFinishStats>(m, "ExactFinishStats", "What the last exact finish did.")
        .def_ro("rounds", &ExactFinishStats::rounds)
        .def_ro("components", &ExactFinishStats::components)
        .def_ro("splits", &ExactFinishStats::splits)
        .def_ro("merges", &ExactFinishStats::merges)
        .def_ro("paths", &ExactFinishStats::paths)
        .def_ro("path_arcs", &ExactFinishStats::path_arcs)
        .def_ro("waves", &ExactFinishStats::waves)
        .def_ro("fallback", &ExactFinishStats::fallback);

    nb::class_<ExactFinish>(m, "ExactFinish", "Exact minimisers by warm-started maximum flows.")
        .def(
            "__init__",
            [](ExactFinish* self, Vertex n_vertices, const InEdges& edges,
               const In<double>& weights) {
                const nb::gil_scoped_release no_gil;
                new (self) ExactFinish(view(n_vertices, edges), view(weights));
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::keep_alive<1, 4>())
        .def(
            "solve",
            [](ExactFinish& self, const SmoothTerm& term, std::size_t channel, const InPlace& x,
               const InPlace& u, PythonWatch& watch, int n_threads) {
                if (u.size() != term.n_vertices() || channel >= term.n_channels())
                    throw std::invalid_argument("an array has the wrong size");
                return name(watched(watch, [&](Watch& w) {
                    return self.solve(term, channel, view(x), view(u), w,
                                      resolve_threads(n_threads));
                }));
            },
            nb::arg("term"), nb::arg("channel"), nb::arg("x").noconvert(), nb::arg("u").noconvert(),
            nb::arg("watch"), nb::arg("n_threads"),
            "From a feasible flow x to the optimal one, in place; 'exact', 'stalled' or 'expired'.")
        .def_prop_ro("stats", &ExactFinish::stats);
}

}  // namespace graphtv::bindings
