#include "cut/minimum_cut.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "cut/excess_push.hpp"
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

// Whether all values of the search fit into 32 bits.
bool is_small(const FlowProblem<std::int64_t>& problem) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    bool small = true;
    for (std::size_t e = 0; e < problem.flow.size(); ++e)
        small &= problem.forward[e] + problem.backward[e] <= most;
    for (const std::int64_t excess : problem.excess) small &= excess <= most && excess >= -most;
    return small;
}

// Passes over the whole network help if paths are long. The paths therefore have an allowance. When
// it is exhausted, passes are tried again with a lower threshold.
template <class Network, class Value>
CutEnd search(Network network, const FlowProblem<Value>& problem,
              std::span<typename Network::Amount> excess, std::span<bool> side,
              const CutOptions& options, Watch& watch) {
    constexpr double threshold_at_first = 1.0, threshold_later = 0.1;
    constexpr std::uint64_t looks_per_arc = 8, growth = 4;
    CutEnd end = CutEnd::exhausted;
    try {
        std::uint64_t looks = 0, allowed = options.most_looks;
        if (options.passes) {
            allowed = looks_per_arc * 2 * problem.flow.size();
            ExcessPush<Network>(network, excess).run(threshold_at_first);
        }
        for (; end == CutEnd::exhausted && looks < options.most_looks; allowed *= growth) {
            if (looks > 0) ExcessPush<Network>(network, excess).run(threshold_later);
            IncrementalSearch<Network> trees(network, excess);
            end = trees.run(std::min(allowed, options.most_looks - looks), watch);
            looks += trees.n_looks;
            for (std::size_t v = 0; v < side.size(); ++v) side[v] = trees.is_source_side(v);
        }
    } catch (const Expired&) {
        end = CutEnd::expired;
    }
    network.hand_back(problem);
    return end;
}

CutEnd search_small(const FlowProblem<std::int64_t>& problem, std::span<bool> side,
                    const CutOptions& options, Watch& watch) {
    std::vector<std::int32_t> excess(problem.excess.begin(), problem.excess.end());
    const std::span<std::int32_t> rest(excess);
    const auto stencil = Stencil::of(problem.graph);
    const CutEnd end =
        stencil
            ? search(StencilNetwork(*stencil, problem), problem, rest, side, options, watch)
            : search(ResidualNetwork<std::int32_t>(problem), problem, rest, side, options, watch);
    std::copy(excess.begin(), excess.end(), problem.excess.begin());
    return end;
}

}  // namespace

template <class Value>
CutEnd minimum_cut(const FlowProblem<Value>& problem, std::span<bool> side,
                   const CutOptions& options, Watch& watch) {
    const Watched here(&watch);
    for (std::size_t v = 0; v < side.size(); ++v) side[v] = problem.excess[v] > Value{0};
    try {
        push_over_edges(problem);
        if constexpr (std::is_same_v<Value, std::int64_t>)
            if (is_small(problem)) return search_small(problem, side, options, watch);
        return search(ResidualNetwork<Value>(problem), problem, problem.excess, side, options,
                      watch);
    } catch (const Expired&) {
        return CutEnd::expired;
    }
}

template CutEnd minimum_cut(const FlowProblem<std::int64_t>&, std::span<bool>, const CutOptions&,
                            Watch&);
template CutEnd minimum_cut(const FlowProblem<double>&, std::span<bool>, const CutOptions&, Watch&);

}  // namespace graphtv
