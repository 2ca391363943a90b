#include "cut/minimum_cut.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "cut/incremental_search.hpp"
#include "cut/push_relabel.hpp"
#include "cut/stencil_network.hpp"

namespace graphtv {

namespace {

// Sends excess over single edges, which saves the shortest paths of the search.
template <class Value>
void push_over_edges(const FlowProblem<Value>& problem) {
    const auto edges = problem.graph.edges;
    for_watched(edges.size(), [&](std::size_t e) {
        Value& tail = problem.excess[at(edges[e].tail)];
        Value& head = problem.excess[at(edges[e].head)];
        const Value zero{0};
        Value amount = zero;
        if (tail > zero && head < zero)
            amount = std::min({tail, -head, problem.forward[e] - problem.flow[e]});
        else if (tail < zero && head > zero)
            amount = -std::min({-tail, head, problem.backward[e] + problem.flow[e]});
        problem.flow[e] += amount;
        tail -= amount;
        head += amount;
    });
}

// Whether all values of a search fit into 32 bits. If excess may gather, its sum must fit.
bool is_small(const FlowProblem<std::int64_t>& problem, bool gathers) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    bool small = true;
    for (std::size_t e = 0; e < problem.flow.size(); ++e)
        small &= problem.forward[e] + problem.backward[e] <= most;
    for (const std::int64_t excess : problem.excess) small &= excess <= most && excess >= -most;
    if (!small || !gathers) return small;
    std::int64_t total = 0;  // less than 2³¹ vertices, less than 2³¹ each
    for (const std::int64_t excess : problem.excess) total += std::max<std::int64_t>(excess, 0);
    return total <= most;
}

// Whether the sum of all excess fits into a value.
bool fits(const FlowProblem<std::int64_t>& problem) {
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t excess : problem.excess) {
        if (excess > room) return false;
        room -= std::max<std::int64_t>(excess, 0);
    }
    return true;
}
bool fits(const FlowProblem<double>&) { return true; }

// How often paths may look at each arc on average before labels take over. Most searches need fewer
// looks than this. On grids, labels are slower than long paths.
template <class Network>
constexpr std::uint64_t looks_per_arc = 4;
template <>
constexpr std::uint64_t looks_per_arc<StencilNetwork> = 32;

// Shortest augmenting paths, to the end or until there were many looks at arcs.
template <class Network, class Value>
CutEnd by_paths(Network network, const FlowProblem<Value>& problem,
                std::span<typename Network::Amount> excess, std::span<bool> side, bool to_the_end,
                Watch& watch) {
    const std::uint64_t most_looks = to_the_end ? std::numeric_limits<std::uint64_t>::max()
                                                : looks_per_arc<Network> * network.n_arcs();
    IncrementalSearch<Network> trees(network, excess);
    const CutEnd end = trees.run(most_looks, watch);
    for (std::size_t v = 0; v < side.size(); ++v) side[v] = trees.is_source_side(v);
    network.hand_back(problem);
    return end;
}

// Push and relabel. Returns false if the watch of the thread expires.
template <class Network, class Value>
bool by_labels(Network network, const FlowProblem<Value>& problem,
               std::span<typename Network::Amount> excess, std::span<bool> side) {
    bool finished = true;
    PushRelabel<Network> labels(network, excess);
    try {
        labels.run();
        for (std::size_t v = 0; v < side.size(); ++v) side[v] = labels.is_source_side(v);
    } catch (const Expired&) {
        finished = false;
    }
    network.hand_back(problem);
    return finished;
}

// Calls search(network, excess) on the smallest network that holds the problem.
template <class Value, class Search>
auto on_network(const FlowProblem<Value>& problem, bool gathers, Search search) {
    if constexpr (std::is_same_v<Value, std::int64_t>) {
        if (is_small(problem, gathers)) {
            std::vector<std::int32_t> narrow(problem.excess.begin(), problem.excess.end());
            const std::span<std::int32_t> excess(narrow);
            const auto stencil = Stencil::of(problem.graph);
            const auto end = stencil ? search(StencilNetwork(*stencil, problem), excess)
                                     : search(ResidualNetwork<std::int32_t>(problem), excess);
            std::copy(narrow.begin(), narrow.end(), problem.excess.begin());
            return end;
        }
    }
    return search(ResidualNetwork<Value>(problem), problem.excess);
}

}  // namespace

// Paths are fastest if they are short. If they turn out to be long, labels take over.
template <class Value>
bool minimum_cut(const FlowProblem<Value>& problem, std::span<bool> side, bool gathers,
                 Watch& watch) {
    const Watched here(&watch);
    for (std::size_t v = 0; v < side.size(); ++v) side[v] = problem.excess[v] > Value{0};
    try {
        push_over_edges(problem);
        const bool has_labels = gathers && fits(problem);
        const CutEnd end = on_network(problem, false, [&](auto network, auto excess) {
            return by_paths(std::move(network), problem, excess, side, !has_labels, watch);
        });
        if (end != CutEnd::exhausted) return end == CutEnd::finished;
        return on_network(problem, true, [&](auto network, auto excess) {
            return by_labels(std::move(network), problem, excess, side);
        });
    } catch (const Expired&) {
        return false;
    }
}

template bool minimum_cut(const FlowProblem<std::int64_t>&, std::span<bool>, bool, Watch&);
template bool minimum_cut(const FlowProblem<double>&, std::span<bool>, bool, Watch&);

}  // namespace graphtv
