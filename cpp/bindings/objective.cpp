// Binds the dual side of the objectives, and the primal polish.

#include "solver/objective.hpp"

#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>

#include "bindings/watch.hpp"
#include "parallel/parallel_for.hpp"
#include "solver/polish.hpp"
#include "solver/reduced/reduced_polish.hpp"

namespace graphtv::bindings {

namespace {

void require(bool holds) {
    if (!holds) throw std::invalid_argument("an array has the wrong size");
}

// `size` numbers by vertex or by edge, one channel after another.
bool fits(std::size_t size, std::size_t per_channel) {
    return per_channel == 0 ? size == 0 : size % per_channel == 0;
}

template <class Real>
void bind_dual_side(nb::module_& m) {
    m.def(
        "adjoint",
        [](Vertex n_vertices, const InEdges& edges, const In<double>& weights, const In<Real>& p,
           double scale, const InPlace& out, int n_threads) {
            const nb::gil_scoped_release no_gil;
            const auto n = static_cast<std::size_t>(n_vertices);
            require(fits(out.size(), n) && (n == 0 || out.size() / n * edges.shape(0) == p.size()));
            adjoint(view(n_vertices, edges), view(weights), view(p), scale, view(out),
                    resolve_threads(n_threads));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("p").noconvert(), nb::arg("scale"), nb::arg("out").noconvert(),
        nb::arg("n_threads") = 1, "out = scale · Kᵀp; p may be rounded.");

    m.def(
        "slope",
        [](Vertex n_vertices, const InEdges& edges, const In<double>& weights, const In<Real>& p,
           const InPlace& s, const InPlace& errors, int n_threads) {
            const nb::gil_scoped_release no_gil;
            const auto n = static_cast<std::size_t>(n_vertices);
            require(fits(s.size(), n) && (n == 0 || s.size() / n * edges.shape(0) == p.size()));
            require(s.size() == errors.size());
            slope(view(n_vertices, edges), view(weights), view(p), view(s), view(errors),
                  resolve_threads(n_threads));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("p").noconvert(), nb::arg("s").noconvert(), nb::arg("errors").noconvert(),
        nb::arg("n_threads") = 1, "s = -Kᵀp, and the error counts that `certify` uses.");

    m.def(
        "certify",
        [](const DataTerm& term, const InEdges& edges, const In<double>& weights,
           const Penalty& penalty, const In<double>& u, const In<Real>& p, const In<double>& s,
           const In<double>& errors, int n_threads) {
            const nb::gil_scoped_release no_gil;
            const std::size_t size = term.shape().size();
            require(u.size() == size && s.size() == size && errors.size() == size);
            require(p.size() == edges.shape(0) * term.n_channels());
            const Certificate found = certify(
                term, view(static_cast<Vertex>(term.n_vertices()), edges), view(weights), penalty,
                view(u), view(p), view(s), view(errors), resolve_threads(n_threads));
            return std::tuple(found.primal, found.dual, found.gap, found.rounding,
                              found.gap_rounding);
        },
        nb::arg("term"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("penalty"), nb::arg("u").noconvert(), nb::arg("p").noconvert(),
        nb::arg("s").noconvert(), nb::arg("errors").noconvert(), nb::arg("n_threads") = 1,
        "Primal and dual objective, gap, and bounds on the rounding errors of the objectives and "
        "of "
        "the gap, from u, p and the slope of p. p may be rounded.");

    m.def(
        "polish",
        [](const SeparableTerm& term, const InEdges& edges, const In<double>& weights,
           const In<Real>& p, double slack, const InPlace& out, PythonWatch& watch) {
            require(out.size() == term.shape().size());
            require(p.size() == edges.shape(0) * term.n_channels());
            return watched(watch, [&](Watch& w) {
                const EdgeList graph = view(static_cast<Vertex>(term.n_vertices()), edges);
                return Polish(term, graph, view(weights)).run(view(p), slack, view(out), w);
            });
        },
        nb::arg("term"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("p").noconvert(), nb::arg("slack"), nb::arg("out").noconvert(), nb::arg("watch"),
        "A primal candidate from the pattern of p, which may be rounded; False if the watch "
        "expired.");
}

}  // namespace

void bind_objective(nb::module_& m) {
    bind_dual_side<double>(m);
    bind_dual_side<Rounded>(m);

    m.def(
        "reduced_polish",
        [](Vertex n_vertices, const InEdges& edges, const In<double>& weights,
           const In<double>& signal, const In<double>& vertex_weights, const In<double>& p,
           const InPlace& u, PythonWatch& watch) {
            require(u.size() == signal.size() && p.size() == edges.shape(0));
            set_up(&watch, [&](Watch& w) {
                const SquaredProblem problem{view(n_vertices, edges), view(weights), view(signal),
                                             view(vertex_weights), view(p)};
                ReducedPolish(problem).run(view(u), w);
            });
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("signal").noconvert(), nb::arg("vertex_weights").noconvert(),
        nb::arg("p").noconvert(), nb::arg("u").noconvert(), nb::arg("watch"),
        "A primal candidate from problems on parts where u is nearly constant.");

    m.def(
        "round_dual",
        [](const In<double>& p, const InPlaceOf<Rounded>& out, int n_threads) {
            const nb::gil_scoped_release no_gil;
            require(p.size() == out.size());
            round_dual(view(p), view(out), resolve_threads(n_threads));
        },
        nb::arg("p").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
        "|p| ≤ 1 in multiples of 1/32767.");
}

}  // namespace graphtv::bindings
