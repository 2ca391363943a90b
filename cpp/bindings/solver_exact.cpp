// Binds the exact finish by flows.

#include <nanobind/stl/optional.h>

#include <limits>
#include <optional>
#include <stdexcept>

#include "bindings/watch.hpp"
#include "parallel/parallel_for.hpp"
#include "solver/flow/exact_finish.hpp"

namespace graphtv::bindings {

namespace {

void require_size(std::size_t size, std::size_t expected, const char* name) {
    if (size != expected) throw std::invalid_argument(std::string(name) + " has the wrong size");
}

const char* name_of(ExactFinish::End end) {
    switch (end) {
        case ExactFinish::End::exact:
            return "exact";
        case ExactFinish::End::stalled:
            return "stalled";
        case ExactFinish::End::exhausted:
            return "exhausted";
        default:
            return "expired";
    }
}

}  // namespace

void bind_exact(nb::module_& m) {
    nb::class_<ExactFinishStats>(m, "ExactFinishStats", "Statistics of the last solve.")
        .def_ro("rounds", &ExactFinishStats::rounds)
        .def_ro("components", &ExactFinishStats::components)
        .def_ro("splits", &ExactFinishStats::splits)
        .def_ro("merges", &ExactFinishStats::merges)
        .def_ro("paths", &ExactFinishStats::paths)
        .def_ro("path_arcs", &ExactFinishStats::path_arcs)
        .def_ro("level_pushes", &ExactFinishStats::level_pushes)
        .def_ro("work", &ExactFinishStats::work, "Approximate number of scanned arcs.")
        .def_ro("fallback", &ExactFinishStats::fallback);

    nb::class_<ExactFinish>(m, "ExactFinish",
                            "Computes an exact solution from a flow near the optimum.")
        .def(
            "__init__",
            [](ExactFinish* self, Vertex n_vertices, const InEdges& edges,
               const In<double>& weights, PythonWatch* watch) {
                require_size(weights.size(), edges.shape(0), "weights");
                set_up(watch, [&](Watch& w) {
                    new (self) ExactFinish(view(n_vertices, edges), view(weights), w);
                });
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("watch") = nb::none(), nb::keep_alive<1, 4>())
        .def(
            "solve",
            [](ExactFinish& self, const SlopedTerm& term, std::size_t channel, const InPlace& p,
               const InPlace& u, PythonWatch& watch, int n_threads, double allowance,
               const std::optional<In<Rounded>>& start) {
                require_size(p.size(), self.n_edges(), "p");
                if (start) require_size(start->size(), self.n_edges(), "start");
                require_size(u.size(), self.n_vertices(), "u");
                require_size(term.n_vertices(), self.n_vertices(), "term");
                if (channel >= term.n_channels())
                    throw std::invalid_argument("the channel is out of range");
                return name_of(watched(watch, [&](Watch& w) {
                    return self.solve(term, channel, view(p), view(u), w,
                                      resolve_threads(n_threads), allowance,
                                      start ? view(*start) : std::span<const Rounded>{});
                }));
            },
            nb::arg("term"), nb::arg("channel"), nb::arg("p").noconvert(), nb::arg("u").noconvert(),
            nb::arg("watch"), nb::arg("n_threads"),
            nb::arg("allowance") = std::numeric_limits<double>::infinity(),
            nb::arg("start").noconvert() = nb::none(),
            "p by edge is the start and is replaced by the solution, and u is set. Return 'exact', "
            "'stalled', 'expired', or 'exhausted' if the allowed work per vertex is used up. In "
            "the "
            "last two cases u is unchanged and p is rounded. `start` is the rounded p, if it is "
            "already available.")
        .def_prop_ro("stats", &ExactFinish::stats, nb::rv_policy::reference_internal)
        .def_prop_ro("settled", &ExactFinish::settled,
                     "During `solve`, the share of the vertices whose values are final so far.")
        .def_prop_ro("n_bytes", &ExactFinish::n_bytes, "Memory held, in bytes.");
}

}  // namespace graphtv::bindings
