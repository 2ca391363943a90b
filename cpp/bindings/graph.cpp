// Binds the construction of simple graphs, orders of their vertices, and the recognition of grids.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "decomposition/grid_recognition.hpp"
#include "graph/connected_components.hpp"
#include "graph/cuthill_mckee.hpp"
#include "graph/free_memory.hpp"
#include "graph/lattice_shape.hpp"
#include "graph/renumbering.hpp"
#include "graph/simplify.hpp"

namespace graphtv::bindings {

void bind_graph(nb::module_& m) {
    m.def("give_back_freed_memory", &give_back_freed_memory, "Return freed memory to the system.");
    using namespace nb::literals;

    m.def(
        "simplify",
        [](Vertex n_vertices, const InEdges& edges, const In<double>& weights) {
            WeightedEdges simple;
            {
                nb::gil_scoped_release release;
                simple = simplify(n_vertices, view(n_vertices, edges).edges, view(weights));
            }
            return std::make_tuple(to_numpy(std::move(simple.edges)),
                                   to_numpy(std::move(simple.weights)));
        },
        "n_vertices"_a, "edges"_a.noconvert(), "weights"_a.noconvert());

    m.def(
        "recognize_grid",
        [](Vertex n_vertices,
           const InEdges& edges) -> std::optional<std::tuple<Out<Vertex>, OutMatrix<Vertex>>> {
            std::optional<Grid> grid;
            {
                nb::gil_scoped_release release;
                grid = recognize_grid(view(n_vertices, edges));
            }
            if (!grid) return std::nullopt;
            const auto n_axes = grid->shape.size();
            return std::make_tuple(to_numpy(std::move(grid->shape)),
                                   to_numpy(std::move(grid->coordinates), n_axes));
        },
        "n_vertices"_a, "edges"_a.noconvert());

    m.def(
        "lattice_shape",
        [](Vertex n_vertices, const InEdges& edges) {
            std::vector<Vertex> shape;
            {
                nb::gil_scoped_release release;
                shape = lattice_shape(view(n_vertices, edges));
            }
            return to_numpy(std::move(shape));
        },
        "n_vertices"_a, "edges"_a.noconvert(),
        "Lengths of the axes if the vertices form a grid in row-major order, else an empty list.");

    m.def(
        "reverse_cuthill_mckee",
        [](Vertex n_vertices, const InEdges& edges) {
            std::vector<Vertex> order;
            {
                nb::gil_scoped_release release;
                order = reverse_cuthill_mckee(view(n_vertices, edges));
            }
            return to_numpy(std::move(order));
        },
        "n_vertices"_a, "edges"_a.noconvert(),
        "The vertices in an order that keeps neighbours close to each other.");

    m.def(
        "misses_per_edge",
        [](const InEdges& edges) {
            nb::gil_scoped_release release;
            return misses_per_edge(view(0, edges).edges);
        },
        "edges"_a.noconvert(), "How often a loop over the edges meets a vertex not in the cache.");

    m.def(
        "renumber",
        [](Vertex n_vertices, const InEdges& edges)
            -> std::optional<std::tuple<Out<Vertex>, Out<EdgeIndex>, OutMatrix<Vertex>>> {
            std::optional<Renumbering> found;
            {
                nb::gil_scoped_release release;
                found = renumber(view(n_vertices, edges));
            }
            if (!found) return std::nullopt;
            return std::make_tuple(to_numpy(std::move(found->vertices)),
                                   to_numpy(std::move(found->order)),
                                   to_numpy(std::move(found->edges)));
        },
        "n_vertices"_a, "edges"_a.noconvert(),
        "A numbering in which neighbours are close: old vertices, old edges, and the edges.");

    m.def(
        "connected_components",
        [](Vertex n_vertices, const InEdges& edges, const std::optional<In<bool>>& kept) {
            Components found;
            {
                nb::gil_scoped_release release;
                if (kept) require_size(kept->size(), edges.shape(0));
                found = connected_components(view(n_vertices, edges),
                                             kept ? view(*kept) : std::span<const bool>{});
            }
            return std::make_tuple(found.count, to_numpy(std::move(found.label)));
        },
        "n_vertices"_a, "edges"_a.noconvert(), "kept"_a.noconvert() = nb::none(),
        "The number of components and the component of each vertex, by the edges that are kept.");

    m.def(
        "count_pieces",
        [](Vertex n_vertices, const InEdges& edges, const In<double>& u) {
            nb::gil_scoped_release release;
            require_size(u.size(), static_cast<std::size_t>(n_vertices));
            return count_pieces(view(n_vertices, edges), view(u));
        },
        "n_vertices"_a, "edges"_a.noconvert(), "u"_a.noconvert(),
        "The number of connected pieces of equal u.");
}

}  // namespace graphtv::bindings
