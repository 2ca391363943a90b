#include "solver/flow_network.hpp"

#include <algorithm>
#include <cstdlib>

#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr std::size_t between_looks = 1 << 15;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Whether the ends of the edges are, on average, so far apart that a search would miss the cache.
bool is_scattered(const EdgeList& graph) {
    constexpr Vertex small = 4096, nearness = 16;
    if (graph.n_vertices < small) return false;
    std::int64_t total = 0;
    for (const auto [tail, head] : graph.edges) total += std::abs(tail - head);
    return total / nearness > 0 &&
           total > static_cast<std::int64_t>(graph.n_vertices / nearness) * graph.size();
}

}  // namespace

FlowNetwork::FlowNetwork(const EdgeList& graph, std::span<const double> weights, Watch& watch)
    : weights_(weights),
      first_(at(graph.n_vertices) + 1),
      arcs_(2 * graph.edges.size()),
      memory_(2 * graph.edges.size()),
      arc_of_edge_(graph.edges.size()) {
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
            const Vertex v = original_[next];
            for (ArcIndex a = begin(v); a < end(v); ++a) {
                const Vertex w = arcs_[a].to;
                if (name[at(w)] >= 0) continue;
                name[at(w)] = static_cast<Vertex>(original_.size());
                original_.push_back(w);
            }
        }
    }
    build(graph, name, watch);
}

// A counting sort by vertex. `name` maps the caller's vertices to those of the network.
void FlowNetwork::build(const EdgeList& graph, std::span<const Vertex> name, Watch& watch) {
    const auto named = [&](Vertex v) { return at(name.empty() ? v : name[at(v)]); };
    std::fill(first_.begin(), first_.end(), 0);
    const std::size_t m = graph.edges.size();
    const auto ends = [&] { return watch.expired(); };
    const bool counted = for_watched(m, ends, [&](std::size_t e) {
        ++first_[named(graph.edges[e].tail)];
        ++first_[named(graph.edges[e].head)];
    });
    if (!counted) throw Expired{};
    ArcIndex end = 0;
    for (auto& first : first_) first = end += first;
    const bool sorted = for_watched(m, ends, [&](std::size_t i) {
        const std::size_t e = m - 1 - i;
        const auto tail = named(graph.edges[e].tail), head = named(graph.edges[e].head);
        const ArcIndex there = --first_[tail], back = --first_[head];
        arcs_[there] = {static_cast<Vertex>(head), back, 0.0};
        arcs_[back] = {static_cast<Vertex>(tail), there, 0.0};
        arc_of_edge_[e] = there;
    });
    if (!sorted) throw Expired{};
}

void FlowNetwork::open_all() {
    for (Arc& arc : arcs_) arc.residual = std::abs(arc.residual);
}

bool FlowNetwork::load(std::span<const double> x, double bound, std::span<double> outflow,
                       Watch& watch) {
    bound_ = bound;
    std::fill(outflow.begin(), outflow.end(), 0.0);
    const auto ends = [&] { return watch.expired(); };
    return for_watched(arc_of_edge_.size(), ends, [&](std::size_t e) {
        const double w = std::min(weights_[e], bound);
        const double flow = std::clamp(x[e], -w, w);
        Arc& there = arcs_[arc_of_edge_[e]];
        Arc& back = arcs_[there.reverse];
        there.residual = w - flow;
        back.residual = w + flow;
        outflow[at(back.to)] += flow;
        outflow[at(there.to)] -= flow;
        memory_[arc_of_edge_[e]] = static_cast<float>(flow);
        memory_[there.reverse] = static_cast<float>(-flow);
    });
}

void FlowNetwork::store(std::span<double> x, int n_threads) const {
    for_shards(arc_of_edge_.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t e = first; e < last; ++e) {
            const double w = std::min(weights_[e], bound_);
            const Arc& there = arcs_[arc_of_edge_[e]];
            const Arc& back = arcs_[there.reverse];
            if (there.closed())
                x[e] = there.residual == 0.0 ? w : -w;
            else
                x[e] = std::clamp(0.5 * (back.residual - there.residual), -w, w);
        }
    });
}

FlowNetwork::Outflows FlowNetwork::outflows(Vertex v) const {
    CompensatedSum total, cut;
    for (ArcIndex a = begin(v); a < end(v); ++a) {
        const double x = flow(arcs_[a]);
        total.add(x);
        if (arcs_[a].closed()) cut.add(x);
    }
    return {total.value(), cut.value()};
}

void FlowNetwork::remember(Vertex v) {
    for (ArcIndex a = begin(v); a < end(v); ++a) memory_[a] = static_cast<float>(flow(arcs_[a]));
}

double FlowNetwork::remembered_outflow(Vertex v) const {
    double sum = 0.0;
    for (ArcIndex a = begin(v); a < end(v); ++a)
        sum += arcs_[a].closed() ? flow(arcs_[a]) : static_cast<double>(memory_[a]);
    return sum;
}

void FlowNetwork::restore(Vertex v) {
    constexpr double nearly = 1.0 - 1e-6;  // what was saturated comes back so
    for (ArcIndex a = begin(v); a < end(v); ++a) {
        Arc& arc = arcs_[a];
        if (arc.closed() || arc.to < v) continue;
        Arc& back = arcs_[arc.reverse];
        const double w = 0.5 * (arc.residual + back.residual);
        const double x = static_cast<double>(memory_[a]);
        const double kept = std::abs(x) < nearly * w ? x : std::copysign(w, x);
        arc.residual = w - kept;
        back.residual = w + kept;
    }
}

void FlowNetwork::calm(Vertex v) {
    for (ArcIndex a = begin(v); a < end(v); ++a) {
        if (arcs_[a].closed()) continue;
        Arc& back = reverse(a);
        arcs_[a].residual = back.residual = 0.5 * (arcs_[a].residual + back.residual);
    }
}

std::size_t FlowNetwork::n_bytes() const {
    return first_.size() * sizeof(ArcIndex) + arcs_.size() * sizeof(Arc) +
           arc_of_edge_.size() * sizeof(ArcIndex) + memory_.size() * sizeof(float) +
           original_.size() * sizeof(Vertex);
}

}  // namespace graphtv
