// Binds Newton's method for isotropic and coupled total variation.

#include "bindings/watch.hpp"
#include "solver/newton/primal_newton.hpp"

namespace graphtv::bindings {

void bind_newton(nb::module_& m) {
    nb::class_<PrimalNewton>(m, "PrimalNewton", "Newton's method for the primal objective.")
        .def(
            "__init__",
            [](PrimalNewton* self, Vertex n_vertices, const InEdges& edges,
               const In<double>& weights, const GroupNorms& penalty) {
                const nb::gil_scoped_release no_gil;
                new (self) PrimalNewton(view(n_vertices, edges), view(weights), penalty);
            },
            nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("penalty"), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
            nb::keep_alive<1, 5>())
        .def(
            "step",
            [](PrimalNewton& self, const In<double>& u, const In<double>& p,
               const In<double>& slope, const In<double>& curvature, double smoothing,
               double accuracy, int most, const InPlace& out) {
                const nb::gil_scoped_release no_gil;
                for (const auto size : {slope.size(), curvature.size(), out.size()})
                    require_size(size, u.size());
                return self.step(view(u), view(p), view(slope), view(curvature), smoothing,
                                 accuracy, most, view(out));
            },
            nb::arg("u").noconvert(), nb::arg("p").noconvert(), nb::arg("slope").noconvert(),
            nb::arg("curvature").noconvert(), nb::arg("smoothing"), nb::arg("accuracy"),
            nb::arg("most"), nb::arg("out").noconvert(),
            "Compute a step; returns the number of iterations of conjugate gradients.");
}

}  // namespace graphtv::bindings
