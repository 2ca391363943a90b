#include "bindings/arrays.hpp"
#include "graph/simplify.hpp"

namespace graphtv::bindings {

void bind_graph(nb::module_& m) {
    using namespace nb::literals;

    m.def(
        "simplify",
        [](Vertex n_vertices, const InEdges& edges, const In<double>& weights) {
            WeightedEdges simple;
            {
                nb::gil_scoped_release release;
                simple = simplify(n_vertices, view(n_vertices, edges).edges, view(weights));
            }
            return nb::make_tuple(to_numpy(std::move(simple.edges)),
                                  to_numpy(std::move(simple.weights)));
        },
        "n_vertices"_a, "edges"_a.noconvert(), "weights"_a.noconvert());
}

}  // namespace graphtv::bindings
