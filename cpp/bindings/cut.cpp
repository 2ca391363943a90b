#include <nanobind/stl/pair.h>

#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/watch.hpp"
#include "cut/minimum_cut.hpp"
#include "cut/proof.hpp"
#include "cut/whole_numbers.hpp"

namespace graphtv::bindings {

namespace {

template <class Value>
bool cut(Vertex n_vertices, const InEdges& edges, const In<Value>& forward,
         const In<Value>& backward, const InPlaceOf<Value>& flow, const InPlaceOf<Value>& excess,
         const InPlaceOf<bool>& side, bool gathers, PythonWatch& watch) {
    const std::size_t m = edges.shape(0), n = static_cast<std::size_t>(n_vertices);
    require_size(forward.size(), m);
    require_size(backward.size(), m);
    require_size(flow.size(), m);
    require_size(excess.size(), n);
    require_size(side.size(), n);
    const FlowProblem<Value> problem{view(n_vertices, edges),
                                     view(forward),
                                     view(backward),
                                     {aligned(flow), m},
                                     {aligned(excess), n}};
    return watched(watch, [&](Watch& w) {
        return minimum_cut(problem, std::span<bool>(side.data(), n), gathers, w);
    });
}

template <class Value>
void bind_cut_of(nb::module_& m) {
    m.def("minimum_cut", &cut<Value>, nb::arg("n_vertices"), nb::arg("edges").noconvert(),
          nb::arg("forward").noconvert(), nb::arg("backward").noconvert(),
          nb::arg("flow").noconvert(), nb::arg("excess").noconvert(), nb::arg("side").noconvert(),
          nb::arg("gathers"), nb::arg("watch"),
          "Move excess to deficits, starting from the given flow. Update flow and excess, and set "
          "`side` to the source side of a minimum cut. Return False if the watch ended the search "
          "early; the flow is feasible all the same. With `gathers`, excess may remain at other "
          "vertices than before.");
}

CutCapacities capacities_of(Vertex n_vertices, const InEdges& edges,
                            const In<std::int64_t>& forward, const In<std::int64_t>& backward,
                            const In<std::int64_t>& source, const In<std::int64_t>& sink) {
    const std::size_t m = edges.shape(0), n = static_cast<std::size_t>(n_vertices);
    require_size(forward.size(), m);
    require_size(backward.size(), m);
    require_size(source.size(), n);
    require_size(sink.size(), n);
    return {view(n_vertices, edges), view(forward), view(backward), view(source), view(sink)};
}

}  // namespace

void bind_cut(nb::module_& m) {
    bind_cut_of<std::int64_t>(m);
    bind_cut_of<double>(m);
    m.def(
        "to_whole",
        [](const In<double>& values, const InPlaceOf<std::int64_t>& whole) {
            require_size(whole.size(), values.size());
            const nb::gil_scoped_release no_gil;
            return to_whole(view(values), {aligned(whole), whole.size()});
        },
        nb::arg("values").noconvert(), nb::arg("whole").noconvert(),
        "Write the values as integers. Return False if a value is not an integer below 2**63.");
    m.def(
        "wide_sum",
        [](const In<std::int64_t>& values) {
            const nb::gil_scoped_release no_gil;
            const auto sum = wide_sum(view(values));
            return std::pair(sum.high, sum.low);
        },
        nb::arg("values").noconvert(), "The sum as (high, low): high * 2**32 + low.");
    m.def(
        "cut_value",
        [](Vertex n_vertices, const InEdges& edges, const In<std::int64_t>& forward,
           const In<std::int64_t>& backward, const In<std::int64_t>& source,
           const In<std::int64_t>& sink, const In<bool>& side) {
            const auto capacities =
                capacities_of(n_vertices, edges, forward, backward, source, sink);
            require_size(side.size(), source.size());
            const nb::gil_scoped_release no_gil;
            return cut_value(capacities, view(side));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("forward").noconvert(),
        nb::arg("backward").noconvert(), nb::arg("source").noconvert(), nb::arg("sink").noconvert(),
        nb::arg("side").noconvert(),
        "The cost of a cut. The sum of all capacities must be below 2**62.");
    m.def(
        "flow_bound",
        [](Vertex n_vertices, const InEdges& edges, const In<std::int64_t>& forward,
           const In<std::int64_t>& backward, const In<std::int64_t>& source,
           const In<std::int64_t>& sink, const In<std::int64_t>& flow) {
            const auto capacities =
                capacities_of(n_vertices, edges, forward, backward, source, sink);
            require_size(flow.size(), forward.size());
            const nb::gil_scoped_release no_gil;
            return flow_bound(capacities, view(flow));
        },
        nb::arg("n_vertices"), nb::arg("edges").noconvert(), nb::arg("forward").noconvert(),
        nb::arg("backward").noconvert(), nb::arg("source").noconvert(), nb::arg("sink").noconvert(),
        nb::arg("flow").noconvert(),
        "The lower bound of all cuts that a flow proves. Raises if the flow exceeds a capacity.");
}

}  // namespace graphtv::bindings
