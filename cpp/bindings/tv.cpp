#include "bindings/arrays.hpp"
#include "parallel/parallel_for.hpp"
#include "tv/chain.hpp"
#include "tv/forest.hpp"

namespace graphtv::bindings {

namespace {

// Rows of a batch of chains, all of one length; one weight per edge and row, per edge, or one in
// all.
using InRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Out<double> chain_rows(const InRows& signal, const InRows& weights, int n_threads) {
    const std::size_t n_rows = signal.shape(0), n = signal.shape(1), n_weights = weights.shape(1);
    std::vector<double> u(n_rows * n);
    {
        const nb::gil_scoped_release no_gil;
        const auto row_weights = [&](std::size_t row) {
            const std::size_t weight_row = weights.shape(0) == 1 ? 0 : row;
            return ChainWeights::of({weights.data() + weight_row * n_weights, n_weights});
        };
        const auto shared = n_rows > 0 ? row_weights(0) : ChainWeights{};
        const std::size_t per_task = 8192 / (n + 1) + 1;
        const int threads = resolve_threads(n_threads);
        std::vector<ChainWorkspace> workspaces(static_cast<std::size_t>(threads));
        parallel_for(static_cast<int>((n_rows + per_task - 1) / per_task), threads,
                     [&](int task, int worker) {
                         const auto first = static_cast<std::size_t>(task) * per_task;
                         for (auto row = first; row < std::min(first + per_task, n_rows); ++row)
                             tv_chain({signal.data() + row * n, n},
                                      weights.shape(0) == 1 ? shared : row_weights(row),
                                      {u.data() + row * n, n},
                                      workspaces[static_cast<std::size_t>(worker)]);
                     });
    }
    return to_numpy(std::move(u));
}

}  // namespace

void bind_tv(nb::module_& m) {
    m.def("tv_chain", &chain_rows, nb::arg("signal").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("n_threads"), "Exact TV on every row of `signal`; flattened.");

    nb::class_<ForestTV>(m, "ForestTV", "The proximal step of one forest, with its memory.")
        .def(
            "__init__",
            [](ForestTV* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
               double delta) {
                const nb::gil_scoped_release no_gil;
                new (self) ForestTV(view(n_vertices, edges), view(weights), delta);
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("delta"))
        .def(
            "solve",
            [](ForestTV& self, const In<double>& signal, bool warm, int n_threads) {
                std::vector<double> u(signal.size());
                {
                    const nb::gil_scoped_release no_gil;
                    self.solve(view(signal), u, warm, resolve_threads(n_threads));
                }
                return to_numpy(std::move(u));
            },
            nb::arg("signal").noconvert(), nb::arg("warm"), nb::arg("n_threads"))
        .def(
            "refine",
            [](ForestTV& self, const In<double>& signal, const In<double>& solution) {
                std::vector<double> u(solution.data(), solution.data() + solution.size());
                {
                    const nb::gil_scoped_release no_gil;
                    self.refine(view(signal), u);
                }
                return to_numpy(std::move(u));
            },
            nb::arg("signal").noconvert(), nb::arg("solution").noconvert())
        .def(
            "dual",
            [](ForestTV& self, const In<double>& signal, const In<double>& solution,
               std::size_t n_edges) {
                std::vector<double> p(n_edges);
                {
                    const nb::gil_scoped_release no_gil;
                    self.dual(view(signal), view(solution), p);
                }
                return to_numpy(std::move(p));
            },
            nb::arg("signal").noconvert(), nb::arg("solution").noconvert(), nb::arg("n_edges"))
        .def_prop_ro("is_linear", &ForestTV::is_linear)
        .def_prop_ro("n_bytes", &ForestTV::n_bytes);
}

}  // namespace graphtv::bindings
