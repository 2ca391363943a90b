#include <optional>
#include <utility>

#include "bindings/arrays.hpp"
#include "decomposition/grid_recognition.hpp"
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

    m.def(
        "recognize_grid",
        [](Vertex n_vertices, const InEdges& edges) -> nb::object {
            std::optional<Grid> grid;
            {
                nb::gil_scoped_release release;
                grid = recognize_grid(view(n_vertices, edges));
            }
            if (!grid) return nb::none();
            const auto n_axes = grid->shape.size();
            return nb::make_tuple(to_numpy(std::move(grid->shape)),
                                  to_numpy(std::move(grid->coordinates), n_axes));
        },
        "n_vertices"_a, "edges"_a.noconvert());
}

}  // namespace graphtv::bindings
