// Binds the partitions of a graph into forests and the profile of a partition.

#include "bindings/watch.hpp"
#include "decomposition/heaviest_first.hpp"
#include "decomposition/linear_forests.hpp"
#include "decomposition/matroid_partition.hpp"
#include "decomposition/nested_forests.hpp"
#include "decomposition/partition_profile.hpp"
#include "graph/degeneracy.hpp"

namespace graphtv::bindings {
namespace {

// Binds a function (graph, order, interrupt) → labels; `order` is a permutation of the edges.
template <class Partition>
void bind_ordered(nb::module_& m, const char* name, Partition partition, const char* doc) {
    m.def(
        name,
        [partition](Vertex n_vertices, const InEdges& edges, const In<EdgeIndex>& order,
                    PythonWatch* watch) {
            std::vector<Forest> labels;
            set_up(watch, [&](Watch& w) {
                labels = partition(view(n_vertices, edges), view(order), [&] {
                    if (w.expired()) throw Expired{};
                });
            });
            return to_numpy(std::move(labels));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("order").noconvert(),
        nb::arg("watch") = nb::none(), doc);
}

Out<std::int32_t> copied(std::vector<std::int32_t> values) { return to_numpy(std::move(values)); }

Out<Forest> traverse(Vertex n_vertices, const InEdges& edges, Traversal traversal) {
    std::vector<Forest> labels;
    {
        nb::gil_scoped_release release;
        labels = traversal_forests(view(n_vertices, edges), traversal);
    }
    return to_numpy(std::move(labels));
}

}  // namespace

void bind_decomposition(nb::module_& m) {
    bind_ordered(m, "nested_forests", nested_forests,
                 "Successive spanning forests by Kruskal's rule in the given order.");
    bind_ordered(m, "linear_forests", first_fit_linear_forests,
                 "Linear forests by first fit in the given order.");
    bind_ordered(m, "linear_forests_of_paper", residual_linear_forests,
                 "Linear forests by the paper's procedure, edges in the given order.");
    bind_ordered(m, "matroid_partition", matroid_partition,
                 "The smallest number of nested forests, with edges in the given order.");
    m.def(
        "heaviest_first",
        [](const In<double>& weights, PythonWatch* watch) {
            std::vector<EdgeIndex> order;
            set_up(watch, [&](Watch& w) {
                order = heaviest_first(view(weights), [&] {
                    if (w.expired()) throw Expired{};
                });
            });
            return to_numpy(std::move(order));
        },
        nb::arg("weights").noconvert(), nb::arg("watch") = nb::none(),
        "The edges by descending weight. Equal weights keep their order.");
    m.def(
        "breadth_first_forests",
        [](Vertex n_vertices, const InEdges& edges) {
            return traverse(n_vertices, edges, Traversal::breadth_first);
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(),
        "Successive breadth-first forests of the remaining graph.");
    m.def(
        "depth_first_forests",
        [](Vertex n_vertices, const InEdges& edges) {
            return traverse(n_vertices, edges, Traversal::depth_first);
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(),
        "Successive depth-first forests of the remaining graph.");

    m.def(
        "degeneracy",
        [](Vertex n_vertices, const InEdges& edges, PythonWatch* watch) {
            Vertex found = 0;
            set_up(watch, [&](Watch& w) {
                found = degeneracy(view(n_vertices, edges), [&] {
                    if (w.expired()) throw Expired{};
                });
            });
            return found;
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("watch") = nb::none(),
        "The degeneracy: the largest minimum degree of a subgraph.");

    m.def(
        "largest_degree",
        [](Vertex n_vertices, const InEdges& edges) {
            const nb::gil_scoped_release no_gil;
            return largest_degree(view(n_vertices, edges));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(),
        "The largest number of edges at a vertex.");

    nb::class_<PartitionProfile>(m, "PartitionProfile")
        .def_prop_ro(
            "edges", [](const PartitionProfile& p) { return copied(p.edges); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "trees", [](const PartitionProfile& p) { return copied(p.trees); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "longest", [](const PartitionProfile& p) { return copied(p.longest); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "max_degree", [](const PartitionProfile& p) { return copied(p.max_degree); },
            nb::rv_policy::automatic)
        .def_ro("cyclic", &PartitionProfile::cyclic)
        .def_ro("is_nested", &PartitionProfile::is_nested)
        .def_ro("n_spanning", &PartitionProfile::n_spanning);
    m.def(
        "profile_partition",
        [](Vertex n_vertices, const InEdges& edges, const In<Forest>& labels, Forest n_forests) {
            nb::gil_scoped_release release;
            return profile_partition(view(n_vertices, edges), view(labels), n_forests);
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("labels").noconvert(),
        nb::arg("n_forests"), "Properties of a partition of the edges, computed from the labels.");
}

}  // namespace graphtv::bindings
