#include "tv/forest_block.hpp"

#include <algorithm>

#include "parallel/watch.hpp"
#include "tv/forest_sweep.hpp"

namespace graphtv {

namespace {

bool has_paths_only(const EdgeList& forest) {
    std::vector<signed char> degree(at(forest.n_vertices));
    for (const auto [tail, head] : forest.edges)
        if (++degree[at(tail)] > 2 || ++degree[at(head)] > 2) return false;
    return true;
}

using Layout = std::variant<ChainForest, LatticeForest, RootedForest>;

// Huber chains and chains with vertex weights use the tree solver.
Layout lay_out(const EdgeList& forest, std::span<const double> edge_weights, bool is_plain,
               bool is_renumbered) {
    if (!is_plain) return RootedForest(forest, edge_weights);
    if (!is_renumbered)
        if (auto lattice = LatticeForest::recognize(forest, edge_weights))
            return *std::move(lattice);
    if (has_paths_only(forest)) return ChainForest(forest);
    return RootedForest(forest, edge_weights);
}

template <class T>
std::size_t bytes(const std::vector<T>& values) {
    return values.capacity() * sizeof(T);
}
std::size_t bytes(const std::vector<bool>& values) { return values.capacity() / 8; }

}  // namespace

ForestMemory::ForestMemory(const ForestBlock& forest) {
    if (!forest.is_linear()) return;
    jumps.resize(forest.n_jumps_);
    is_solved.resize(at(forest.n_shards()));
    for (const auto& strip : forest.strips_) forest.mark_ends(strip, jumps.data() + strip.memory);
}

std::size_t ForestMemory::n_bytes() const { return bytes(jumps) + bytes(is_solved); }

ForestBlock::ForestBlock(const EdgeList& forest, std::span<const double> edge_weights,
                         EdgePenalty penalty, std::span<const double> vertex_weights,
                         std::span<const Vertex> vertex_numbers, bool looks_weights_up)
    : penalty_(penalty),
      layout_(lay_out(forest, edge_weights, !penalty.is_huber() && vertex_weights.empty(),
                      !vertex_numbers.empty())) {
    const auto begin = tree_begin();
    const auto n_trees = static_cast<Vertex>(begin.size() - 1);
    for (std::size_t t = 0; t < at(n_trees); ++t)
        largest_tree_ = std::max(largest_tree_, at(begin[t + 1] - begin[t]));
    n_slots_ = at(is_lattice() ? forest.n_vertices : begin.back());
    if (auto* chains = std::get_if<ChainForest>(&layout_)) {
        edge_weights_ = edge_weights;
        if (!looks_weights_up) {
            weight_.reserve(chains->edge.size());
            for (const EdgeIndex e : chains->edge)
                weight_.push_back(look_up(e, edge_weights.data()));
        }
        if (!vertex_numbers.empty())
            for (Vertex& v : chains->vertex) v = vertex_numbers[at(v)];
    } else if (auto* trees = std::get_if<RootedForest>(&layout_)) {
        if (!vertex_numbers.empty())
            for (Vertex& v : trees->vertex) v = vertex_numbers[at(v)];
        if (!vertex_weights.empty())
            for (const Vertex v : trees->vertex) vertex_weights_.push_back(vertex_weights[at(v)]);
    }
    Watched::look();
    if (is_lattice()) {
        largest_weight_.reserve(at(n_trees));
        for (Vertex c = 0; c < n_trees; ++c)
            largest_weight_.push_back(std::ranges::max(lattice_weights(c)));
        make_bundles();
    }
    make_shards();
    if (is_linear() && !is_lattice()) make_strips();
}

void ForestBlock::rename_edges(std::span<const EdgeIndex> numbers,
                               std::span<const double> weights) {
    if (!edge_weights_.empty()) edge_weights_ = weights;
    std::visit(
        [&](auto& layout) {
            for (EdgeIndex& e : layout.edge)
                if (e != LatticeForest::no_edge) e = numbers[at(e)];
        },
        layout_);
}

std::span<const Vertex> ForestBlock::tree_begin() const {
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) return chains->chain_begin;
    if (const auto* lattice = std::get_if<LatticeForest>(&layout_)) return lattice->chain_begin;
    return std::get<RootedForest>(layout_).tree_begin;
}

std::span<const Vertex> ForestBlock::vertices() const {
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) return chains->vertex;
    if (const auto* trees = std::get_if<RootedForest>(&layout_)) return trees->vertex;
    return {};
}

// Bundles neighbouring chains of equal length. Rows: as many chains as there are lanes. Columns: at
// least eight chains, to fill cache lines, and more as long as the cache holds them, since their
// vertices tend to map to the same few cache sets.
void ForestBlock::make_bundles() {
    const auto begin = tree_begin();
    const auto n_chains = static_cast<Vertex>(begin.size() - 1);
    const auto length = [&](Vertex c) { return begin[at(c) + 1] - begin[at(c)]; };
    const auto& starts = std::get<LatticeForest>(layout_).chain_start;
    const auto start = [&](Vertex c) { return starts[at(c)]; };
    for (Vertex first = 0, c = 0; c < n_chains; ++c) {
        const Vertex pitch = first + 1 < n_chains ? start(first + 1) - start(first) : 0;
        const Vertex most = pitch == 1 ? std::max(8, 2 * vertices_per_shard / length(first) / 8 * 8)
                                       : Vertex{chain_lanes};
        const bool goes_on = c + 1 < n_chains && start(c + 1) == start(c) + pitch &&
                             length(c + 1) == length(first) && c + 1 - first < most;
        if (goes_on) continue;
        const auto width = at(c + 1 - first);
        const auto lanes = width == 1 ? 1 : chain_lanes;
        bundles_.push_back({first, c + 1, width == 1 ? 0 : pitch, n_jumps_, lanes});
        for (std::size_t i = 0; i < width; i += lanes) add_panel(at(length(first)), lanes);
        largest_bundle_ = std::max(largest_bundle_, n_jumps_ - bundles_.back().memory);
        first = c + 1;
    }
}

void ForestBlock::add_panel(std::size_t length, std::size_t lanes) {
    n_jumps_ += lanes * length;
    auto& longest = lanes == 1 ? longest_lane_ : longest_panel_;
    longest = std::max(longest, length);
}

// Lanes of similar length, cut between chains. If a chain is too long for that, the strip has a
// single lane.
void ForestBlock::make_strips() {
    const auto begin = tree_begin();
    strips_.reserve(shards_.size());
    for (const Shard& shard : shards_) {
        const Vertex from = begin[at(shard.first)], to = begin[at(shard.last)];
        Strip strip{{}, 0, n_jumps_, chain_lanes};
        Vertex chain = shard.first;
        for (std::size_t l = 0; l <= chain_lanes; ++l) {
            const Vertex goal = from + (to - from) * static_cast<Vertex>(l) / Vertex{chain_lanes};
            while (begin[at(chain)] < goal) ++chain;
            strip.begin[l] = begin[at(chain)];
            if (l > 0)
                strip.length = std::max(strip.length, at(strip.begin[l] - strip.begin[l - 1]));
        }
        if (chain_lanes * strip.length > at(to - from) * 3 / 2) {
            strip.lanes = 1;
            strip.length = at(to - from);
        }
        add_panel(strip.length, strip.lanes);
        largest_bundle_ = std::max(largest_bundle_, strip.lanes * strip.length);
        strips_.push_back(strip);
    }
}

// Padding beyond the end of a lane consists of chains of one vertex.
void ForestBlock::mark_ends(const Strip& strip, std::int8_t* jumps) const {
    std::fill_n(jumps, strip.lanes * strip.length, std::int8_t{1});
    visit_strip(strip, strip.lanes,
                [&](std::size_t place, std::size_t i) { jumps[place] = weight_at(i) == 0.0; });
}

void ForestBlock::make_shards() {
    const auto begin = tree_begin();
    const auto n = static_cast<Vertex>(is_lattice() ? bundles_.size() : begin.size() - 1);
    const auto position = [&](Vertex number) {  // first of a tree, or of a bundle
        if (!is_lattice()) return begin[at(number)];
        return at(number) < bundles_.size() ? begin[at(bundles_[at(number)].first)] : begin.back();
    };
    for (Vertex first = 0, t = 0; t < n; ++t) {
        if (position(t + 1) - position(first) < vertices_per_shard && t + 1 < n) continue;
        shards_.push_back({first, t + 1});
        first = t + 1;
    }
}

std::span<const double> ForestBlock::lattice_weights(Vertex chain) const {
    const auto begin = at(tree_begin()[at(chain)]);
    const auto n_edges = at(tree_begin()[at(chain) + 1]) - begin - 1;
    const auto& weight = std::get<LatticeForest>(layout_).weight;
    if (weight.size() == 1) return weight;
    return {weight.data() + begin, n_edges};
}

std::size_t ForestBlock::n_bytes() const {
    std::size_t total = bytes(vertex_weights_) + bytes(weight_) + bytes(largest_weight_) +
                        bytes(bundles_) + bytes(strips_) + bytes(shards_);
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        total += bytes(chains->vertex) + bytes(chains->edge) + bytes(chains->is_tail) +
                 bytes(chains->chain_begin);
    } else if (const auto* lattice = std::get_if<LatticeForest>(&layout_)) {
        total += bytes(lattice->weight) + bytes(lattice->edge) + bytes(lattice->is_tail) +
                 bytes(lattice->chain_start) + bytes(lattice->chain_begin);
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        total += bytes(trees.vertex) + bytes(trees.parent) + bytes(trees.weight) +
                 bytes(trees.edge) + bytes(trees.is_tail) + bytes(trees.n_children) +
                 bytes(trees.entry) + bytes(trees.tree_begin);
    }
    return total;
}

}  // namespace graphtv
