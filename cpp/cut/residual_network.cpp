#include "cut/residual_network.hpp"

#include <algorithm>

namespace graphtv {

// A counting sort by vertex.
template <class Capacity>
template <class Value>
ResidualNetwork<Capacity>::ResidualNetwork(const FlowProblem<Value>& problem)
    : first_(at(problem.graph.n_vertices) + 2) {
    const auto edges = problem.graph.edges;
    arcs_.reserve(2 * edges.size());
    of_edge_.reserve(edges.size());
    for_watched(edges.size(), [&](std::size_t e) {
        ++first_[at(edges[e].tail) + 2];
        ++first_[at(edges[e].head) + 2];
    });
    for (std::size_t v = 2; v < first_.size(); ++v) first_[v] += first_[v - 1];
    // first_[v + 1] is the position of the next arc of v, and finally the end of its arcs.
    for_watched(edges.size(), [&](std::size_t e) {
        const auto [tail, head] = edges[e];
        const std::uint32_t there = first_[at(tail) + 1]++, back = first_[at(head) + 1]++;
        of_edge_[e] = there;
        const Value x = problem.flow[e];
        const auto room = static_cast<Capacity>(problem.forward[e] - x);
        const auto room_back = static_cast<Capacity>(problem.backward[e] + x);
        arcs_[there] = Arc(head, back, room, room_back > Capacity{0});
        arcs_[back] = Arc(tail, there, room_back, room > Capacity{0});
    });
    first_.pop_back();
}

template <class Capacity>
template <class Value>
void ResidualNetwork<Capacity>::hand_back(const FlowProblem<Value>& problem) const {
    for (std::size_t e = 0; e < problem.flow.size(); ++e) {
        const auto room = static_cast<Value>(arcs_[of_edge_[e]].residual());
        problem.flow[e] = std::clamp(static_cast<Value>(problem.forward[e] - room),
                                     static_cast<Value>(-problem.backward[e]), problem.forward[e]);
    }
}

template class ResidualNetwork<std::int32_t>;
template ResidualNetwork<std::int32_t>::ResidualNetwork(const FlowProblem<std::int64_t>&);
template void ResidualNetwork<std::int32_t>::hand_back(const FlowProblem<std::int64_t>&) const;
template class ResidualNetwork<std::int64_t>;
template ResidualNetwork<std::int64_t>::ResidualNetwork(const FlowProblem<std::int64_t>&);
template void ResidualNetwork<std::int64_t>::hand_back(const FlowProblem<std::int64_t>&) const;
template class ResidualNetwork<double>;
template ResidualNetwork<double>::ResidualNetwork(const FlowProblem<double>&);
template void ResidualNetwork<double>::hand_back(const FlowProblem<double>&) const;

}  // namespace graphtv
