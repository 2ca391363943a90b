// Maximum flows in whole numbers: every balance holds to the last bit, and no residual path is left
// from excess to a deficit.
#include <cmath>

#include "check.hpp"
#include "instances.hpp"
#include "solver/flow/max_flow.hpp"

namespace graphtv::tests {
namespace {

// Whether a deficit can be reached from an excess, by plain search.
bool has_path(const Instance& graph, const std::vector<double>& w, const std::vector<double>& x,
              const std::vector<double>& excess) {
    std::vector<char> reached(excess.size());
    for (std::size_t v = 0; v < excess.size(); ++v) reached[v] = excess[v] > 0.0;
    for (bool grows = true; grows;) {
        grows = false;
        for (std::size_t e = 0; e < w.size(); ++e) {
            const auto tail = at(graph.edges[e].tail), head = at(graph.edges[e].head);
            const bool there = reached[tail] && !reached[head] && x[e] < w[e];
            const bool back = reached[head] && !reached[tail] && x[e] > -w[e];
            if (there) reached[head] = 1;
            if (back) reached[tail] = 1;
            grows = grows || there || back;
        }
    }
    for (std::size_t v = 0; v < excess.size(); ++v)
        if (reached[v] && excess[v] < 0.0) return true;
    return false;
}

void whole_numbers_are_exact(Travellers travellers) {
    Random random(1);
    for (const std::int64_t largest : {std::int64_t{3}, std::int64_t{1} << 40}) {
        for (const Vertex side : {2, 5, 30}) {
            const auto graph = random_graph(side * side, 2 * side * side, random);
            const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
            std::vector<double> w(m), x(m), excess(n);
            for (std::size_t e = 0; e < m; ++e) {
                const auto weight = integer(random, 0, largest);
                w[e] = static_cast<double>(weight);
                x[e] = static_cast<double>(integer(random, -weight, weight));
            }
            for (double& amount : excess)
                amount = static_cast<double>(integer(random, -largest, largest));
            auto flow = x, rest = excess;
            Watch watch;
            check(max_flow(graph.view(), w, flow, rest, 0.0, travellers, watch));
            auto balance = excess;
            for (std::size_t e = 0; e < m; ++e) {
                if (!check(std::abs(flow[e]) <= w[e])) break;
                balance[at(graph.edges[e].tail)] -= flow[e] - x[e];
                balance[at(graph.edges[e].head)] += flow[e] - x[e];
            }
            check(balance == rest);
            check(!has_path(graph, w, flow, rest));
            if (travellers == Travellers::both) continue;
            for (std::size_t v = 0; v < n; ++v)
                if (!check(excess[v] < 0.0 ? rest[v] >= excess[v] : rest[v] >= 0.0)) break;
        }
    }
}

void an_early_end_keeps_the_balance() {
    Random random(2);
    const auto graph = random_graph(90000, 180000, random);
    const std::vector<double> w(graph.edges.size(), 40.0);
    std::vector<double> excess(at(graph.n_vertices));
    for (double& amount : excess) amount = static_cast<double>(integer(random, -60, 60));
    for (const double seconds : {0.002, 0.004, 0.008}) {
        std::vector<double> x(w.size(), 0.0), rest = excess;
        Watch watch(seconds, {});
        try {
            max_flow(graph.view(), w, x, rest, 0.0, Travellers::both, watch);
        } catch (const Expired&) {
        }
        auto balance = excess;
        for (std::size_t e = 0; e < w.size(); ++e) {
            if (!check(std::abs(x[e]) <= w[e])) break;
            balance[at(graph.edges[e].tail)] -= x[e];
            balance[at(graph.edges[e].head)] += x[e];
        }
        check(balance == rest);
    }
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    whole_numbers_are_exact(graphtv::Travellers::both);
    whole_numbers_are_exact(graphtv::Travellers::excess);
    an_early_end_keeps_the_balance();
    return verdict();
}
