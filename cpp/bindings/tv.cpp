// Binds exact total variation: batches of chains, and forests that keep their memory.

#include <algorithm>
#include <limits>

#include "bindings/arrays.hpp"
#include "parallel/parallel_for.hpp"
#include "terms/largest_size.hpp"
#include "tv/chain.hpp"
#include "tv/forest.hpp"

namespace graphtv::bindings {

namespace {

// The rows of a batch are chains of equal length. Weights are given per edge and row, per edge, or
// as one number.
using InRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// `largest_weight` comes from the validation of the arguments, which has read all of them.
void chain_rows(const InRows& signal, const InRows& weights, double largest_weight,
                const OutRows& out, int n_threads) {
    const nb::gil_scoped_release no_gil;
    const double* f = aligned(signal);
    const double* w = aligned(weights);
    double* u = aligned(out);
    const std::size_t n_rows = signal.shape(0), n = signal.shape(1), n_weights = weights.shape(1);
    const std::size_t weights_stride = weights.shape(0) == 1 ? 0 : n_weights;
    constexpr std::size_t vertices_per_task = 8192;
    const std::size_t rows_per_task = vertices_per_task / (n + 1) + 1;
    const auto n_tasks = static_cast<int>((n_rows + rows_per_task - 1) / rows_per_task);
    const int threads = std::min(resolve_threads(n_threads), std::max(n_tasks, 1));
    std::vector<ChainWorkspace> workspaces(static_cast<std::size_t>(threads));
    parallel_for(n_tasks, threads, [&](int task, int worker) {
        auto row = static_cast<std::size_t>(task) * rows_per_task;
        for (const auto end = std::min(row + rows_per_task, n_rows); row < end; ++row)
            tv_chain({f + row * n, n}, {{w + row * weights_stride, n_weights}, largest_weight},
                     {u + row * n, n}, workspaces[static_cast<std::size_t>(worker)]);
    });
}

// The same for one chain. Returns false without a result unless the signal has at least two entries,
// all numbers are finite, no weight is negative, and no sum can overflow. So plain arguments need no
// other validation, which would take longer than a short chain.
bool plain_chain(std::span<const double> f, std::span<const double> weights, std::span<double> u) {
    constexpr double largest_signal = 0x1p800;
    const nb::gil_scoped_release no_gil;
    if (f.size() < 2 || u.size() != f.size() || !(largest_size(f) <= largest_signal)) return false;
    const double largest = largest_size(weights);
    const bool is_negative = std::ranges::any_of(weights, [](double w) { return w < 0.0; });
    if (is_negative || !(largest <= std::numeric_limits<double>::max())) return false;
    ChainWorkspace workspace;
    tv_chain(f, {weights, largest}, u, workspace);
    return true;
}

}  // namespace

void bind_tv(nb::module_& m) {
    m.def(
        "plain_chain",
        [](const In<double>& signal, double weight, const InPlace& out) {
            return plain_chain(view(signal), {&weight, 1}, view(out));
        },
        nb::arg("signal").noconvert(), nb::arg("weight"), nb::arg("out").noconvert(),
        "Exact TV on one chain with one weight, unless the arguments need validation.");
    m.def(
        "plain_chain",
        [](const In<double>& signal, const In<double>& weights, const InPlace& out) {
            if (weights.size() + 1 != signal.size()) return false;
            return plain_chain(view(signal), view(weights), view(out));
        },
        nb::arg("signal").noconvert(), nb::arg("weights").noconvert(), nb::arg("out").noconvert(),
        "The same with one weight per edge.");

    m.def("tv_chain", &chain_rows, nb::arg("signal").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("largest_weight"), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Exact TV on every row of `signal`.");

    nb::class_<ForestTV>(m, "ForestTV", "The proximal step of one forest, with its memory.")
        .def(
            "__init__",
            [](ForestTV* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
               double delta, const In<double>& vertex_weights) {
                const nb::gil_scoped_release no_gil;
                new (self)
                    ForestTV(view(n_vertices, edges), view(weights), {delta}, view(vertex_weights));
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("delta"), nb::arg("vertex_weights").noconvert(),
            "Empty `vertex_weights` mean 1 everywhere.")
        .def(
            "solve",
            [](ForestTV& self, const In<double>& signal, const InPlace& out, bool warm,
               int n_threads) {
                const nb::gil_scoped_release no_gil;
                self.solve(view(signal), view(out), warm, resolve_threads(n_threads));
            },
            nb::arg("signal").noconvert(), nb::arg("out").noconvert(), nb::arg("warm"),
            nb::arg("n_threads"), "The minimiser. `warm` starts from the result of the last call.")
        .def(
            "refine",
            [](ForestTV& self, const In<double>& signal, const InPlace& solution) {
                const nb::gil_scoped_release no_gil;
                self.refine(view(signal), view(solution));
            },
            nb::arg("signal").noconvert(), nb::arg("solution").noconvert(),
            "Remove the rounding errors of long message chains, in place.")
        .def(
            "dual",
            [](ForestTV& self, const In<double>& signal, const In<double>& solution,
               const InPlace& out) {
                const nb::gil_scoped_release no_gil;
                self.dual(view(signal), view(solution), view(out));
            },
            nb::arg("signal").noconvert(), nb::arg("solution").noconvert(),
            nb::arg("out").noconvert(), "The dual variable by edge.")
        .def_prop_ro("is_linear", &ForestTV::is_linear)
        .def_prop_ro("n_bytes", &ForestTV::n_bytes, "Memory held, in bytes.");
}

}  // namespace graphtv::bindings
