// Binds the primal-dual hybrid gradient method with every preconditioner.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/watch.hpp"
#include "parallel/parallel_for.hpp"
#include "solver/pdhg/edge_dual.hpp"
#include "solver/pdhg/forest_dual.hpp"
#include "solver/pdhg/pdhg.hpp"

namespace graphtv::bindings {

namespace {

PdhgOptions::Scheme scheme_called(const std::string& name) {
    using enum PdhgOptions::Scheme;
    if (name == "fixed") return fixed;
    if (name == "accelerated") return accelerated;
    if (name == "balanced") return balanced;
    if (name == "restarted") return restarted;
    if (name == "auto") return automatic;
    throw std::invalid_argument(
        "scheme must be one of fixed, accelerated, balanced, restarted, auto");
}

// Checks the sizes of its arguments, which the core does not check.
class BoundPdhg : public Pdhg {
  public:
    BoundPdhg(const EdgeList& graph, std::span<const double> weights, const DataTerm& data,
              const Penalty& penalty, std::unique_ptr<DualVariable> dual,
              const PdhgOptions& options)
        : Pdhg(graph, weights, data, penalty, std::move(dual), options),
          primal_size(data.shape().size()),
          dual_size(graph.edges.size() * data.n_channels()) {}

    const std::size_t primal_size, dual_size;
};

void make(BoundPdhg* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
          const DataTerm& data, const Penalty& penalty, Forests* forests,
          std::optional<double> alpha, const std::string& scheme, double primal_step,
          double dual_step, double primal_weight, double gamma, int n_threads, bool reconditions,
          double unit_weight) {
    const nb::gil_scoped_release no_gil;
    require_size(weights.size(), edges.shape(0));
    require_size(data.n_vertices(), static_cast<std::size_t>(n_vertices));
    const PdhgOptions options{scheme_called(scheme),
                              primal_step,
                              dual_step,
                              primal_weight,
                              unit_weight,
                              gamma,
                              reconditions && forests,
                              resolve_threads(n_threads)};
    const EdgeList graph = view(n_vertices, edges);
    const auto n_channels = data.n_channels();
    const auto memory = options.memory();
    std::unique_ptr<DualVariable> dual;
    if (forests) {
        require_size(forests->n_vertices(), data.n_vertices());
        require_size(forests->n_edges(), weights.size());
        const auto by_edge = penalty.by_edge();
        if (!by_edge) throw std::invalid_argument("forests need a penalty of single edges");
        dual = std::make_unique<ForestDual>(*forests, *by_edge, n_channels, memory);
    } else if (alpha) {
        dual = std::make_unique<EdgeDual>(
            EdgeDual::diagonal(graph, view(weights), penalty, n_channels, memory, *alpha));
    } else {
        dual = std::make_unique<EdgeDual>(
            EdgeDual::unscaled(graph, view(weights), penalty, n_channels, memory));
    }
    new (self) BoundPdhg(graph, view(weights), data, penalty, std::move(dual), options);
}

}  // namespace

void bind_pdhg(nb::module_& m) {
    nb::class_<Pdhg::Step>(m, "PdhgStep", "The result of one iteration.")
        .def_ro("primal_step", &Pdhg::Step::primal_step, "The inverse step size s.")
        .def_ro("dual_step", &Pdhg::Step::dual_step, "The inverse step size t.")
        .def_ro("restarted", &Pdhg::Step::restarted)
        .def_ro("completed", &Pdhg::Step::completed, "False if the watch expired.");

    nb::class_<BoundPdhg>(m, "Pdhg", "PDHG. Arrays hold one channel after another.")
        .def("__init__", &make, nb::arg("n_vertices"), nb::arg("edges").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("data"), nb::arg("penalty"),
             nb::arg("forests").none(), nb::arg("alpha").none(), nb::arg("scheme"),
             nb::arg("primal_step"), nb::arg("dual_step"), nb::arg("primal_weight"),
             nb::arg("gamma"), nb::arg("n_threads"), nb::arg("reconditions") = false,
             nb::arg("unit_weight") = 1.0, nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
             nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(),
             "Takes `forests`, or the exponent `alpha` of the diagonal preconditioner, or neither. "
             "If "
             "a step is 0, the solver chooses it.")
        .def(
            "start_from",
            [](BoundPdhg& self, const In<double>& u, const In<double>& p) {
                const nb::gil_scoped_release no_gil;
                require_size(u.size(), self.primal_size);
                require_size(p.size(), self.dual_size);
                self.start(view(u), view(p));
            },
            nb::arg("u").noconvert(), nb::arg("p").noconvert(), "Start from a primal-dual pair.")
        .def(
            "step",
            [](BoundPdhg& self, PythonWatch& watch) {
                return watched(watch, [&](Watch& w) { return self.step(w); });
            },
            nb::arg("watch"), "One iteration.")
        .def(
            "evaluate",
            [](BoundPdhg& self) {
                Pdhg::Objectives values;
                {
                    const nb::gil_scoped_release no_gil;
                    values = self.evaluate();
                }
                return nb::make_tuple(values.primal, values.dual);
            },
            nb::sig("def evaluate(self) -> tuple[float, float]"),
            "The primal and the dual objective at the current pair.")
        .def(
            "u",
            [](const BoundPdhg& self, const InPlace& out) {
                require_size(out.size(), self.primal_size);
                std::ranges::copy(self.u(), view(out).begin());
            },
            nb::arg("out").noconvert(), "Copy the primal point.")
        .def(
            "dual",
            [](BoundPdhg& self, const InPlace& out) {
                const nb::gil_scoped_release no_gil;
                require_size(out.size(), self.dual_size);
                self.dual(view(out));
            },
            nb::arg("out").noconvert(), "The dual point by edge.")
        .def_prop_ro("squared_operator_norm", &BoundPdhg::squared_operator_norm,
                     "The bound N of the squared norm of T^-1/2 K S^-1/2.")
        .def_prop_ro("n_sweeps", &BoundPdhg::n_sweeps, "Number of forest solves so far.");
}

}  // namespace graphtv::bindings
