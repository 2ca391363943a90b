#include "solver/flow/undirected_network.hpp"

#include <algorithm>
#include <cstdlib>

#include "terms/sum.hpp"

namespace graphtv {

namespace {

// Whether the ends of edges are so far apart on average that a search would miss the cache.
bool is_scattered(const EdgeList& graph) {
    constexpr Vertex small = 4096, nearness = 16;
    if (graph.n_vertices < small) return false;
    std::int64_t total = 0;
    for (const auto [tail, head] : graph.edges) total += std::abs(tail - head);
    return total / nearness > 0 &&
           total > static_cast<std::int64_t>(graph.n_vertices / nearness) * graph.size();
}

}  // namespace

UndirectedNetwork::UndirectedNetwork(const EdgeList& graph, std::span<const double> weights,
                                     Watch& watch)
    : weights_(weights), first_(at(graph.n_vertices) + 1), out_(2 * graph.edges.size()) {
    build(graph, {}, watch);
    if (!is_scattered(graph)) return;
    const Vertex n = graph.n_vertices;
    std::vector<Vertex> name(at(n), -1);
    original_.reserve(at(n));
    for (Vertex root = 0; root < n; ++root) {
        if (name[at(root)] >= 0) continue;
        auto next = original_.size();
        name[at(root)] = static_cast<Vertex>(next);
        original_.push_back(root);
        for (; next < original_.size(); ++next) {
            if ((next + 1) % between_looks == 0 && watch.expired()) throw Expired{};
            for (const auto [w, arc] : (*this)[original_[next]]) {
                if (name[at(w)] >= 0) continue;
                name[at(w)] = static_cast<Vertex>(original_.size());
                original_.push_back(w);
            }
        }
    }
    build(graph, name, watch);
}

// A counting sort by vertex. `name` maps the caller's vertices to vertices of the network.
void UndirectedNetwork::build(const EdgeList& graph, std::span<const Vertex> name, Watch& watch) {
    const auto named = [&](Vertex v) { return name.empty() ? v : name[at(v)]; };
    std::fill(first_.begin(), first_.end(), 0);
    const std::size_t m = graph.edges.size();
    const auto ends = [&] { return watch.expired(); };
    const bool counted = for_watched(m, ends, [&](std::size_t e) {
        ++first_[at(named(graph.edges[e].tail))];
        ++first_[at(named(graph.edges[e].head))];
    });
    if (!counted) throw Expired{};
    std::uint32_t end = 0;
    for (auto& first : first_) first = end += first;
    const bool sorted = for_watched(m, ends, [&](std::size_t i) {
        const std::size_t e = m - 1 - i;
        const Vertex tail = named(graph.edges[e].tail), head = named(graph.edges[e].head);
        const auto there = static_cast<Arc>(2 * e);
        out_[--first_[at(tail)]] = {head, there};
        out_[--first_[at(head)]] = {tail, reverse(there)};
    });
    if (!sorted) throw Expired{};
}

void UndirectedNetwork::open_all() {
    for (std::size_t e = 0; e < x_.size(); ++e) x_[e] = opened(e);
}

bool UndirectedNetwork::take(std::span<double> x, std::span<const Rounded> start, double bound,
                             std::span<double> outflow, Watch& watch) {
    x_ = x;
    start_ = start;
    bound_ = bound;
    const auto ends = [&] { return watch.expired(); };
    const bool taken = for_watched(x.size(), ends,
                                   [&](std::size_t e) {
                                       const double w = std::min(weights_[e], bound);
                                       x[e] = std::clamp(x[e], -w, w);
                                   }) &&
                       for_watched(outflow.size(), ends, [&](std::size_t v) {
                           double sum = 0.0;
                           for (const auto [to, arc] : (*this)[static_cast<Vertex>(v)])
                               sum += flow(arc);
                           outflow[v] = sum;
                       });
    if (!taken) x_ = {};
    return taken;
}

template <class Value>
void UndirectedNetwork::give_back(int n_threads, const Value& value) {
    for_shards(x_.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t e = first; e < last; ++e) x_[e] = value(e);
    });
    x_ = {};
}

void UndirectedNetwork::hand_back(int n_threads) {
    give_back(n_threads, [&](std::size_t e) { return opened(e); });
}

void UndirectedNetwork::hand_back_start(int n_threads) {
    give_back(n_threads, [&](std::size_t e) { return recalled(e); });
}

UndirectedNetwork::Outflows UndirectedNetwork::outflows(Vertex v) const {
    CompensatedSum total, cut;
    for (const auto [to, arc] : (*this)[v]) {
        const double x = flow(arc);
        total.add(x);
        cut.add(is_closed(arc) ? x : 0.0);
    }
    return {total.value(), cut.value()};
}

double UndirectedNetwork::remembered_outflow(Vertex v) const {
    double sum = 0.0;
    for (const auto [to, arc] : (*this)[v])
        sum += is_closed(arc) ? flow(arc) : signed_by(arc, recalled(std::size_t{arc >> 1}));
    return sum;
}

void UndirectedNetwork::restore(Vertex v) {
    for (const auto [to, arc] : (*this)[v])
        if (to > v && !is_closed(arc)) x_[arc >> 1] = recalled(std::size_t{arc >> 1});
}

void UndirectedNetwork::calm(Vertex v) {
    for (const auto [to, arc] : (*this)[v])
        if (!is_closed(arc)) x_[arc >> 1] = 0.0;
}

std::size_t UndirectedNetwork::n_bytes() const {
    return first_.size() * sizeof(first_[0]) + out_.size() * sizeof(OutArc) +
           original_.size() * sizeof(Vertex);
}

}  // namespace graphtv
