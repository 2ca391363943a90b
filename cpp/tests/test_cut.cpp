// Minimum cuts: the flow is feasible, consistent with the remaining excess, and proves the cut.
#include <limits>
#include <string>

#include "check.hpp"
#include "cut/minimum_cut.hpp"
#include "cut/proof.hpp"
#include "cut/push_relabel.hpp"
#include "cut/stencil_network.hpp"
#include "cut/whole_numbers.hpp"
#include "instances.hpp"

namespace graphtv::tests {
namespace {

// A network with its capacities, and room for a flow.
template <class Value>
struct Network {
    Instance graph;
    std::vector<Value> forward, backward, source, sink, flow, excess;
    std::vector<char> side;

    Network(Instance instance, std::int64_t largest, Random& random) : graph(std::move(instance)) {
        const auto draw = [&](std::size_t n, std::int64_t least) {
            std::vector<Value> values(n);
            for (Value& value : values) value = static_cast<Value>(integer(random, least, largest));
            return values;
        };
        const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
        forward = draw(m, 0), backward = draw(m, 0);
        source = draw(n, -largest), sink = draw(n, -largest);  // half of them are zero
        for (auto* terminal : {&source, &sink})
            for (Value& capacity : *terminal) capacity = std::max(capacity, Value{0});
        flow.assign(m, Value{0});
        side.resize(n);
        restart();
    }

    void restart() {
        excess.resize(source.size());
        for (std::size_t v = 0; v < excess.size(); ++v) excess[v] = source[v] - sink[v];
        for (std::size_t e = 0; e < flow.size(); ++e) move(excess, e);
    }
    void move(std::vector<Value>& amounts, std::size_t e) const {
        amounts[at(graph.edges[e].tail)] -= flow[e];
        amounts[at(graph.edges[e].head)] += flow[e];
    }

    FlowProblem<Value> problem() { return {graph.view(), forward, backward, flow, excess}; }
    std::span<bool> sides() { return {reinterpret_cast<bool*>(side.data()), side.size()}; }
    bool cut(Watch& watch, bool gathers = false) {
        return minimum_cut(problem(), sides(), gathers, watch);
    }

    bool is_feasible() const {
        for (std::size_t e = 0; e < flow.size(); ++e)
            if (flow[e] > forward[e] || -flow[e] > backward[e]) return false;
        return true;
    }
    bool is_balanced() {
        const auto told = excess;
        restart();
        return told == excess;
    }
};

bool is_proved(Network<std::int64_t>& network) {
    const CutCapacities capacities{network.graph.view(), network.forward, network.backward,
                                   network.source, network.sink};
    return cut_value(capacities, network.sides()) == flow_bound(capacities, network.flow);
}

Instance grid(Vertex width, Vertex height, bool diagonals) {
    Instance graph{width * height, {}};
    for (Vertex y = 0; y < height; ++y)
        for (Vertex x = 0; x < width; ++x) {
            const Vertex v = y * width + x;
            if (x + 1 < width) graph.edges.push_back({v, v + 1});
            if (y + 1 < height) graph.edges.push_back({v + width, v});
            if (!diagonals || y + 1 == height) continue;
            if (x + 1 < width) graph.edges.push_back({v, v + width + 1});
            if (x > 0) graph.edges.push_back({v, v + width - 1});
        }
    return graph;
}

std::vector<Instance> graphs(Random& random) {
    std::vector<Instance> found{{0, {}}, {1, {}}, {2, {{0, 1}}}, grid(7, 5, false)};
    found.push_back(grid(40, 30, false));
    found.push_back(grid(40, 30, true));
    found.push_back(grid(1, 50, false));
    found.push_back(scrambled(grid(40, 30, true), random));
    for (const Vertex n : {3, 10, 100, 2000}) found.push_back(random_graph(n, 3 * n, random));
    return found;
}

void cuts_are_proved() {
    Random random(1);
    constexpr std::int64_t small = 3, medium = 1 << 20, large = std::int64_t{1} << 40;
    for (const std::int64_t largest : {small, medium, large}) {
        for (const auto& graph : graphs(random)) {
            for (const bool gathers : {false, true}) {
                Network<std::int64_t> network(graph, largest, random);
                Watch watch;
                const auto context = std::to_string(graph.n_vertices);
                check(network.cut(watch, gathers), context);
                check(network.is_feasible() && network.is_balanced(), context);
                check(is_proved(network), context);
                if (gathers) continue;
                // The remaining excess is where it was.
                for (std::size_t v = 0; v < network.excess.size(); ++v) {
                    const auto before = network.source[v] - network.sink[v];
                    const auto after = network.excess[v];
                    check(before < 0 ? before <= after && after <= 0
                                     : 0 <= after && after <= before);
                }
            }
        }
    }
}

// Push-relabel alone, on every kind of network.
template <class Kind>
void labels_find_minimum_cuts(Kind kind, const Network<std::int64_t>& before) {
    Network<std::int64_t> network = before;
    const auto problem = network.problem();
    auto residual = kind(problem);
    using Residual = decltype(residual);
    std::vector<typename Residual::Amount> excess(problem.excess.begin(), problem.excess.end());
    PushRelabel<Residual> labels(residual, excess);
    labels.run();
    for (std::size_t v = 0; v < excess.size(); ++v) network.side[v] = labels.is_source_side(v);
    residual.hand_back(problem);
    network.excess.assign(excess.begin(), excess.end());
    check(network.is_feasible() && network.is_balanced() && is_proved(network));
    for (std::size_t v = 0; v < excess.size(); ++v)  // deficits do not move
        check(excess[v] >= std::min<std::int64_t>(0, network.source[v] - network.sink[v]));
}

void labels_are_a_proof() {
    Random random(7);
    for (const std::int64_t largest : {1, 30, 100000}) {
        for (const auto& graph : graphs(random)) {
            const Network<std::int64_t> network(graph, largest, random);
            labels_find_minimum_cuts([](auto p) { return ResidualNetwork<std::int32_t>(p); },
                                     network);
            labels_find_minimum_cuts([](auto p) { return ResidualNetwork<std::int64_t>(p); },
                                     network);
            if (const auto stencil = Stencil::of(graph.view()))
                labels_find_minimum_cuts([&](auto p) { return StencilNetwork(*stencil, p); },
                                         network);
        }
    }
}

// Excess gathers at one vertex, beyond what 32 bits hold.
void gathered_excess_does_not_overflow() {
    constexpr std::int64_t large = (std::int64_t{1} << 30) - 1;
    constexpr Vertex n = 400;
    Instance graph{n + 2, {}};
    for (Vertex v = 0; v < n; ++v) graph.edges.push_back({v, n});
    graph.edges.push_back({n, n + 1});
    Random random(8);
    Network<std::int64_t> network(graph, 1, random);
    network.forward.assign(graph.edges.size(), large);
    network.backward = network.forward;
    network.source.assign(n + 2, large);
    network.sink.assign(n + 2, 0);
    network.source[n] = network.source[n + 1] = 0;
    network.sink[n + 1] = 2 * large;
    network.restart();
    Watch watch;
    check(network.cut(watch, true) && network.is_feasible() && network.is_balanced());
    check(is_proved(network));
}

void any_flow_is_a_start() {
    Random random(2);
    for (const auto& graph : graphs(random)) {
        Network<std::int64_t> network(graph, 50, random);
        for (std::size_t e = 0; e < network.flow.size(); ++e)
            network.flow[e] = integer(random, -network.backward[e], network.forward[e]);
        network.restart();
        Watch watch;
        check(network.cut(watch));
        check(network.is_feasible() && network.is_balanced() && is_proved(network));
    }
}

// Floats with integer values are exact: both types must find cuts of the same value.
void floats_agree_with_integers() {
    for (const auto& graph : [] {
             Random random(3);
             return graphs(random);
         }()) {
        Random first(4), second(4);
        Network<std::int64_t> whole(graph, 1000, first);
        Network<double> real(graph, 1000, second);
        Watch watch;
        check(real.cut(watch) && real.is_feasible() && real.is_balanced());
        whole.side = real.side;
        for (std::size_t e = 0; e < whole.flow.size(); ++e)
            whole.flow[e] = static_cast<std::int64_t>(real.flow[e]);
        check(is_proved(whole));
    }
}

void an_early_end_keeps_the_balance() {
    Random random(5);
    for (const bool scramble : {false, true}) {
        const auto graph =
            scramble ? scrambled(grid(300, 300, false), random) : grid(300, 300, false);
        for (const double seconds : {0.0, 0.002, 0.004}) {
            Network<std::int64_t> network(graph, 100, random);
            Watch watch(seconds, {});
            check(!network.cut(watch) || seconds > 0.0);
            check(network.is_feasible() && network.is_balanced());
        }
    }
}

void grids_are_stencils() {
    Random random(6);
    const auto directions = [](const Instance& graph) {
        const auto stencil = Stencil::of(graph.view());
        return stencil ? stencil->n_directions() : 0U;
    };
    check(directions(grid(20, 30, false)) == 4);
    check(directions(grid(20, 30, true)) == 8);
    check(directions(scrambled(grid(20, 30, true), random)) == 0);
    check(directions({1000, {{0, 1}}}) == 0);  // most slots would be unused
    const auto graph = grid(20, 30, true);
    const auto stencil = Stencil::of(graph.view());
    for (const Edge edge : graph.edges) {
        const auto there = stencil->direction(edge),
                   back = stencil->direction({edge.head, edge.tail});
        check(stencil->offset(there) == edge.head - edge.tail && (there ^ 1U) == back);
    }
}

void a_flow_beyond_capacities_proves_nothing() {
    const Instance graph{2, {{0, 1}}};
    const std::vector<std::int64_t> forward{3}, backward{2}, source{9, 0}, sink{0, 9};
    const CutCapacities capacities{graph.view(), forward, backward, source, sink};
    check(flow_bound(capacities, std::vector<std::int64_t>{3}) == 3);
    for (const std::int64_t x : {4, -3})
        check(throws<std::invalid_argument>(
            [&] { flow_bound(capacities, std::vector<std::int64_t>{x}); }));
}

void whole_numbers() {
    std::vector<std::int64_t> whole(3);
    check(to_whole(std::vector{1.0, 0.0, 0x1p62}, whole));
    check(whole == std::vector{std::int64_t{1}, std::int64_t{0}, std::int64_t{1} << 62});
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double value : {0.5, 0x1p63, infinity, std::numeric_limits<double>::quiet_NaN()})
        check(!to_whole(std::vector{1.0, value, 2.0}, whole));
    const auto most = std::numeric_limits<std::int64_t>::max();
    const auto sum = wide_sum(std::vector{most, most, std::int64_t{-5}});
    check(sum.high == 2 * (most >> 32) - 1);
    check(sum.low == 3 * std::int64_t{0xFFFFFFFF} - 4);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    cuts_are_proved();
    labels_are_a_proof();
    gathered_excess_does_not_overflow();
    any_flow_is_a_start();
    floats_agree_with_integers();
    an_early_end_keeps_the_balance();
    grids_are_stencils();
    a_flow_beyond_capacities_proves_nothing();
    whole_numbers();
    return verdict();
}
