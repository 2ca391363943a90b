// Binds the classes that the Python solver loop drives: watches, forests and descent.

#include "bindings/descent.hpp"
#include "solver/descent/block_descent.hpp"
#include "solver/descent/edge_descent.hpp"
#include "solver/descent/lattice_descent.hpp"
#include "solver/descent/stencil_descent.hpp"
#include "solver/forests.hpp"

namespace graphtv::bindings {

void bind_solver(nb::module_& m) {
    nb::exception<Expired>(m, "Expired");
    nb::class_<PythonWatch>(m, "Watch", "Ends a computation early: at a deadline or on request.")
        .def(nb::init<double, nb::object>(), nb::arg("seconds"), nb::arg("stop") = nb::none(),
             nb::sig("def __init__(self, seconds: float, stop: object = None) -> None"),
             "Expires after this many seconds, or when `stop()`, called regularly, returns true.")
        .def("interrupt", &PythonWatch::interrupt, "Let the watch expire.")
        .def("reserve", &PythonWatch::reserve, nb::arg("seconds"),
             "Expire this many seconds before the deadline.")
        .def(
            "__enter__",
            [](PythonWatch& self) -> PythonWatch& {
                self.enter();
                return self;
            },
            nb::rv_policy::reference,
            "Inside the block, code that checks the watch raises `Expired` after it has expired.")
        .def(
            "__exit__", [](PythonWatch& self, const nb::args&) { self.exit(); },
            nb::sig("def __exit__(self, *_: object) -> None"))
        .def_prop_ro("remaining", &PythonWatch::remaining, "Seconds until it expires.")
        .def_prop_ro("interrupted", &PythonWatch::interrupted,
                     "Whether the computation was interrupted.")
        .def_prop_ro("stopped", &PythonWatch::stopped, "Whether `stop` ended it.")
        .def_prop_ro("expired", &PythonWatch::expired);

    nb::class_<Forests>(m, "Forests", "The forests of a partition, prepared for proximal steps.")
        .def(
            "__init__",
            [](Forests* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
               const In<std::int32_t>& labels, std::int32_t n_forests, double delta,
               const In<double>& vertex_weights, PythonWatch* watch) {
                set_up(watch, [&](Watch&) {
                    new (self) Forests(view(n_vertices, edges), view(weights), view(labels),
                                       n_forests, {delta}, view(vertex_weights));
                });
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("labels").noconvert(), nb::arg("n_forests"), nb::arg("delta"),
            nb::arg("vertex_weights").noconvert(), nb::arg("watch") = nb::none(),
            nb::keep_alive<1, 4>(), "Empty `vertex_weights` mean 1 everywhere.")
        .def_prop_ro("is_linear", &Forests::is_linear)
        .def_prop_ro("n_bytes", &Forests::n_bytes, "Memory held, in bytes.");

    nb::class_<EdgeDescent> edge_descent(m, "EdgeDescent",
                                         "Accelerated descent over edges for one channel.");
    edge_descent.def(
        "__init__",
        [](EdgeDescent* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
           const In<double>& signal, const In<double>& vertex_weights) {
            const nb::gil_scoped_release no_gil;
            new (self) EdgeDescent(view(n_vertices, edges), view(weights), view(signal),
                                   view(vertex_weights));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("signal").noconvert(), nb::arg("vertex_weights").noconvert(),
        nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
        nb::keep_alive<1, 6>());
    bind_descent(edge_descent);

    nb::class_<LatticeDescent> lattice_descent(
        m, "LatticeDescent", "Accelerated descent over the edges of a grid for one channel.");
    lattice_descent.def(
        "__init__",
        [](LatticeDescent* self, const In<Vertex>& shape, const InEdges& edges,
           const In<double>& weights, const In<double>& signal, const In<double>& vertex_weights) {
            const nb::gil_scoped_release no_gil;
            const auto n_vertices = static_cast<Vertex>(signal.shape(0));
            new (self) LatticeDescent(view(shape), view(n_vertices, edges), view(weights),
                                      view(signal), view(vertex_weights));
        },
        nb::arg("shape").noconvert(), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("signal").noconvert(), nb::arg("vertex_weights").noconvert(),
        nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
        nb::keep_alive<1, 6>());
    bind_descent(lattice_descent);
    lattice_descent.def(
        "start_from_coarse",
        [](LatticeDescent& self, PythonWatch& watch, int n_threads) {
            return watched(watch, [&](Watch& w) {
                return self.start_from_coarse(w, resolve_threads(n_threads));
            });
        },
        nb::arg("watch"), nb::arg("n_threads"),
        "Start from a solution on coarser grids; false if the watch expired.");

    nb::class_<StencilDescent> stencil_descent(
        m, "StencilDescent", "Accelerated descent over edges with few offsets for one channel.");
    stencil_descent.def(
        "__init__",
        [](StencilDescent* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
           const In<double>& signal, const In<double>& vertex_weights) {
            const nb::gil_scoped_release no_gil;
            new (self) StencilDescent(view(n_vertices, edges), view(weights), view(signal),
                                      view(vertex_weights));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("signal").noconvert(), nb::arg("vertex_weights").noconvert(),
        nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
        nb::keep_alive<1, 6>());
    bind_descent(stencil_descent);
    m.def(
        "is_stencil",
        [](Vertex n_vertices, const InEdges& edges) {
            const nb::gil_scoped_release no_gil;
            return StencilDescent::applies(view(n_vertices, edges));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(),
        "Whether the ends of all edges differ by one of a few offsets.");

    nb::class_<BlockDescent> block_descent(m, "BlockDescent",
                                           "Accelerated block descent for one channel.");
    block_descent.def(
        "__init__",
        [](BlockDescent* self, Forests& forests, const In<double>& signal,
           const In<double>& vertex_weights) {
            const nb::gil_scoped_release no_gil;
            new (self) BlockDescent(forests, view(signal), view(vertex_weights));
        },
        nb::arg("forests"), nb::arg("signal").noconvert(), nb::arg("vertex_weights").noconvert(),
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    bind_descent(block_descent);
    block_descent.def("rest", &BlockDescent::rest, "Free the memory that only the next step needs.")
        .def_prop_ro("n_bytes", &BlockDescent::n_bytes);
}

}  // namespace graphtv::bindings
