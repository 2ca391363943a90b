// Binds what the solver's loop in Python drives: watches, forests and the descent over them.

#include "bindings/watch.hpp"
#include "parallel/parallel_for.hpp"
#include "solver/block_descent.hpp"
#include "solver/forests.hpp"

namespace graphtv::bindings {

void bind_solver(nb::module_& m) {
    nb::class_<PythonWatch>(m, "Watch", "Why a computation should end early.")
        .def(nb::init<double>(), nb::arg("seconds"))
        .def("interrupt", &PythonWatch::interrupt, "Ask whoever watches to end soon.")
        .def_prop_ro("interrupted", &PythonWatch::interrupted)
        .def_prop_ro("expired", &PythonWatch::expired);

    nb::class_<Forests>(m, "Forests", "The forests of a partition, ready for proximal steps.")
        .def(
            "__init__",
            [](Forests* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
               const In<std::int32_t>& labels, std::int32_t n_forests, double delta,
               const In<double>& vertex_weights) {
                const nb::gil_scoped_release no_gil;
                new (self) Forests(view(n_vertices, edges), view(weights), view(labels), n_forests,
                                   delta, view(vertex_weights));
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("labels").noconvert(), nb::arg("n_forests"), nb::arg("delta"),
            nb::arg("vertex_weights").noconvert(), "`vertex_weights` may be empty: all ones.")
        .def_prop_ro("is_linear", &Forests::is_linear)
        .def_prop_ro("n_bytes", &Forests::n_bytes, "Memory held, in bytes.");

    nb::class_<BlockDescent>(m, "BlockDescent", "Accelerated block descent for one channel.")
        .def(
            "__init__",
            [](BlockDescent* self, Forests& forests, const In<double>& signal,
               const In<double>& vertex_weights) {
                const nb::gil_scoped_release no_gil;
                new (self) BlockDescent(forests, view(signal), view(vertex_weights));
            },
            nb::arg("forests"), nb::arg("signal").noconvert(),
            nb::arg("vertex_weights").noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
            nb::keep_alive<1, 4>())
        .def(
            "start_from",
            [](BlockDescent& self, const In<double>& p) {
                const nb::gil_scoped_release no_gil;
                self.start_from(view(p));
            },
            nb::arg("p").noconvert(), "Start from a dual point by edge.")
        .def(
            "step",
            [](BlockDescent& self, PythonWatch& watch, int n_threads) {
                return watched(watch, [&](Watch& w) { return self.step(w, n_threads); });
            },
            nb::arg("watch"), nb::arg("n_threads"), "One iteration; False if the watch expired.")
        .def(
            "u",
            [](const BlockDescent& self, const InPlace& out) {
                std::copy(self.u().begin(), self.u().end(), out.data());
            },
            nb::arg("out").noconvert(), "Copy the primal point.")
        .def(
            "dual",
            [](const BlockDescent& self, const InPlace& out) {
                const nb::gil_scoped_release no_gil;
                self.dual(view(out));
            },
            nb::arg("out").noconvert(), "The dual point by edge.")
        .def_prop_ro("dual_value", &BlockDescent::dual_value)
        .def_prop_ro("momentum", &BlockDescent::momentum)
        .def_prop_ro("restarted", &BlockDescent::restarted)
        .def_prop_ro("n_bytes", &BlockDescent::n_bytes);
}

}  // namespace graphtv::bindings
