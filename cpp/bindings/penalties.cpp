// Binds the penalties, including penalties that are implemented in Python.

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/python_object.hpp"
#include "parallel/parallel_for.hpp"
#include "solver/fuse.hpp"
#include "terms/group_norms.hpp"
#include "terms/penalty.hpp"

namespace graphtv::bindings {

namespace {

// A penalty that is implemented in Python: `object` has value(x), conjugate(p), project(p) and
// prox_conjugate(v, steps) of flat float64 arrays, as the adapter in graphtv.terms.penalty
// provides. Every call takes the GIL. Python exceptions propagate through the solver to its caller.
class PythonPenalty final : public Penalty {
  public:
    PythonPenalty(nb::object made, std::vector<std::int32_t> edge_groups)
        : object(std::move(made)), edge_groups_(std::move(edge_groups)) {}

    double value(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                 int) const override {
        const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
        const std::size_t n_channels = n == 0 ? 0 : u.size() / n;
        std::vector<double> x(m * n_channels);
        for (std::size_t c = 0; c < n_channels; ++c)
            for (std::size_t e = 0; e < m; ++e) {
                const auto [tail, head] = graph.edges[e];
                x[c * m + e] = weights[e] * (u[c * n + at(tail)] - u[c * n + at(head)]);
            }
        const nb::gil_scoped_acquire gil;
        return nb::cast<double>(object.attr("value")(copied(x)));
    }
    using Penalty::conjugate;
    double conjugate(std::span<const double> p, int) const override {
        const nb::gil_scoped_acquire gil;
        return nb::cast<double>(object.attr("conjugate")(copied(p)));
    }
    void project(std::span<double> p, int) const override {
        const nb::gil_scoped_acquire gil;
        copy_result(object.attr("project")(copied(p)), p);
    }
    void prox_conjugate(std::span<const double> v, std::span<const double> steps,
                        std::span<double> out, int) const override {
        const nb::gil_scoped_acquire gil;
        copy_result(object.attr("prox_conjugate")(copied(v), copied(steps)), out);
    }
    std::span<const std::int32_t> edge_groups() const override { return edge_groups_; }

    nb::object object;

  private:
    std::vector<std::int32_t> edge_groups_;
};

template <class Real>
double conjugate(const Penalty& self, const In<Real>& p, int n_threads) {
    const nb::gil_scoped_release no_gil;
    return self.conjugate(view(p), resolve_threads(n_threads));
}

}  // namespace

void bind_penalties(nb::module_& m) {
    nb::class_<Penalty>(m, "Penalty", "A penalty. Arrays hold one channel after another.")
        .def(
            "value",
            [](const Penalty& self, Vertex n_vertices, const InEdges& edges,
               const In<double>& weights, const In<double>& u, int n_threads) {
                const nb::gil_scoped_release no_gil;
                const std::size_t n = at(n_vertices);
                require_size(weights.size(), edges.shape(0));
                require_size(n == 0 ? u.size() : u.size() % n, 0);
                return self.value(view(n_vertices, edges), view(weights), view(u),
                                  resolve_threads(n_threads));
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("u").noconvert(), nb::arg("n_threads") = 1, "F(Ku).")
        .def("conjugate", &conjugate<double>, nb::arg("p").noconvert(), nb::arg("n_threads") = 1,
             "F*(p), infinite if p is not feasible. p may be rounded.")
        .def("conjugate", &conjugate<Rounded>, nb::arg("p").noconvert(), nb::arg("n_threads") = 1)
        .def(
            "project",
            [](const Penalty& self, const InPlace& p, int n_threads) {
                const nb::gil_scoped_release no_gil;
                self.project(view(p), resolve_threads(n_threads));
            },
            nb::arg("p").noconvert(), nb::arg("n_threads") = 1,
            "Replace p by the nearest feasible point.")
        .def(
            "prox_conjugate",
            [](const Penalty& self, const In<double>& v, const In<double>& steps,
               const InPlace& out, int n_threads) {
                const nb::gil_scoped_release no_gil;
                require_size(out.size(), v.size());
                require_size(steps.size() == 0 ? v.size() : v.size() % steps.size(), 0);
                self.prox_conjugate(view(v), view(steps), view(out), resolve_threads(n_threads));
            },
            nb::arg("v").noconvert(), nb::arg("steps").noconvert(), nb::arg("out").noconvert(),
            nb::arg("n_threads") = 1,
            "The proximal map of F*. There is one step, or one step per edge.")
        .def(
            "round",
            [](const Penalty& self, const In<double>& p, const InPlaceOf<Rounded>& out,
               int n_threads) {
                const nb::gil_scoped_release no_gil;
                require_size(out.size(), p.size());
                self.round(view(p), view(out), resolve_threads(n_threads));
            },
            nb::arg("p").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
            "Round a feasible p to multiples of 1/32767, such that it stays feasible.")
        .def_prop_ro(
            "delta",
            [](const Penalty& self) -> std::optional<double> {
                const auto h = self.by_edge();
                return h ? std::optional(h->delta) : std::nullopt;
            },
            "Width of Huber's function if F is its sum over all entries; 0 for total variation, "
            "None for other penalties.");

    nb::class_<EdgewisePenalty, Penalty>(m, "EdgewisePenalty",
                                         "Total variation, or its Huber relaxation.")
        .def(
            "__init__",
            [](EdgewisePenalty* self, double delta) {
                new (self) EdgewisePenalty(EdgePenalty{delta});
            },
            nb::arg("delta"));

    nb::class_<GroupNorms, Penalty>(
        m, "GroupNorms", "Sum of the norms of groups of edges, in one channel or in all.")
        .def(
            "__init__",
            [](GroupNorms* self, std::size_t n_edges, const In<std::int32_t>& edge_groups,
               bool couples, double delta) {
                const auto groups = view(edge_groups);
                if (!groups.empty()) require_size(groups.size(), n_edges);
                new (self) GroupNorms(n_edges, {groups.begin(), groups.end()}, couples, delta);
            },
            nb::arg("n_edges"), nb::arg("edge_groups").noconvert(), nb::arg("couples"),
            nb::arg("delta"), "If `edge_groups` is empty, every edge is a group.")
        .def(
            "fuse",
            [](const GroupNorms& self, Vertex n_vertices, const InEdges& edges, const In<double>& p,
               double slack, const In<double>& vertex_weights, const InPlace& u) {
                const nb::gil_scoped_release no_gil;
                fuse(self, view(n_vertices, edges), view(p), slack, view(vertex_weights), view(u));
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("p").noconvert(),
            nb::arg("slack"), nb::arg("vertex_weights").noconvert(), nb::arg("u").noconvert(),
            "Replace u by its means over the parts where p is inside its balls.")
        .def_prop_ro("couples", &GroupNorms::couples,
                     "Whether a group contains all channels of its edges.")
        .def_prop_ro("width", &GroupNorms::width, "Width of the quadratic zone.")
        .def_prop_ro("n_groups", &GroupNorms::n_groups,
                     "The number of groups of edges, in all channels or in each.")
        .def_prop_ro("largest_group", &GroupNorms::largest_group,
                     "The number of edges of the largest group.");

    nb::class_<PythonPenalty, Penalty>(m, "PythonPenalty",
                                       nb::type_slots(Collected<PythonPenalty>::slots),
                                       "A penalty that is implemented by a Python object.")
        .def(
            "__init__",
            [](PythonPenalty* self, nb::object penalty, const In<std::int32_t>& edge_groups) {
                const auto groups = view(edge_groups);
                new (self) PythonPenalty(std::move(penalty), {groups.begin(), groups.end()});
            },
            nb::arg("penalty"), nb::arg("edge_groups").noconvert());
}

}  // namespace graphtv::bindings
