#include "cut/proof.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace graphtv {

std::int64_t cut_value(const CutCapacities& capacities, std::span<const bool> side) {
    const auto edges = capacities.graph.edges;
    std::int64_t value = 0;
    for (std::size_t v = 0; v < side.size(); ++v)
        value += side[v] ? capacities.sink[v] : capacities.source[v];
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const bool tail = side[at(edges[e].tail)], head = side[at(edges[e].head)];
        if (tail != head) value += tail ? capacities.forward[e] : capacities.backward[e];
    }
    return value;
}

std::int64_t flow_bound(const CutCapacities& capacities, std::span<const std::int64_t> flow) {
    const auto edges = capacities.graph.edges;
    std::vector<std::int64_t> excess(capacities.source.size());
    for (std::size_t v = 0; v < excess.size(); ++v)
        excess[v] = capacities.source[v] - capacities.sink[v];
    bool is_feasible = true;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        is_feasible &= flow[e] <= capacities.forward[e] && -flow[e] <= capacities.backward[e];
        excess[at(edges[e].tail)] -= flow[e];
        excess[at(edges[e].head)] += flow[e];
    }
    if (!is_feasible) throw std::invalid_argument("flow exceeds a capacity");
    // min(s, t + out) = s - max(s - t - out, 0)
    std::int64_t bound = 0;
    for (std::size_t v = 0; v < excess.size(); ++v)
        bound += capacities.source[v] - std::max<std::int64_t>(excess[v], 0);
    return bound;
}

}  // namespace graphtv
