// Binds the descents for isotropic and coupled total variation.

#include "bindings/descent.hpp"
#include "solver/descent/coupled_descent.hpp"
#include "solver/descent/star_descent.hpp"

namespace graphtv::bindings {

namespace {

template <class Real>
void bind_stars(nb::module_& m, const char* name) {
    using Descent = StarDescent<Real>;
    nb::class_<Descent> descent(m, name, "Accelerated descent over the stars or edges of a grid.");
    descent.def(
        "__init__",
        [](Descent* self, const In<Vertex>& shape, Vertex n_vertices, const InEdges& edges,
           const In<double>& weights, const In<double>& signal, bool has_stars,
           PythonWatch* watch) {
            set_up(watch, [&](Watch&) {
                new (self) Descent(view(shape), view(n_vertices, edges), view(weights),
                                   view(signal), has_stars ? Blocks::stars : Blocks::edges);
            });
        },
        nb::arg("shape").noconvert(), nb::arg("n_vertices"), nb::arg("edges").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("signal").noconvert(), nb::arg("has_stars"),
        nb::arg("watch") = nb::none(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
        nb::keep_alive<1, 6>(), "The channels of the signal are coupled.");
    bind_descent(descent);
}

template <class Real>
void bind_coupled(nb::module_& m, const char* name) {
    using Descent = CoupledDescent<Real>;
    nb::class_<Descent> coupled(m, name, "Accelerated descent over edges with coupled channels.");
    coupled.def(
        "__init__",
        [](Descent* self, Vertex n_vertices, const InEdges& edges, const In<double>& weights,
           const In<double>& signal, const In<double>& vertex_weights, PythonWatch* watch) {
            set_up(watch, [&](Watch&) {
                new (self) Descent(view(n_vertices, edges), view(weights), view(signal),
                                   view(vertex_weights));
            });
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("signal").noconvert(), nb::arg("vertex_weights").noconvert(),
        nb::arg("watch") = nb::none(), nb::keep_alive<1, 3>(),
        "`vertex_weights` may be empty: all ones.");
    bind_descent(coupled);
}

}  // namespace

void bind_groups(nb::module_& m) {
    bind_stars<float>(m, "SingleStarDescent");
    bind_stars<double>(m, "StarDescent");

    bind_coupled<float>(m, "SingleCoupledDescent");
    bind_coupled<double>(m, "CoupledDescent");
}

}  // namespace graphtv::bindings
