#include "tv/forest_block.hpp"

#include <algorithm>

namespace graphtv {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool has_paths_only(const EdgeList& forest) {
    std::vector<signed char> degree(at(forest.n_vertices));
    for (const auto [tail, head] : forest.edges)
        if (++degree[at(tail)] > 2 || ++degree[at(head)] > 2) return false;
    return true;
}

// Huber chains and weighted vertices take the way of the trees.
std::variant<ChainForest, RootedForest> lay_out(const EdgeList& forest,
                                                std::span<const double> edge_weights,
                                                bool is_plain) {
    if (is_plain && has_paths_only(forest)) return ChainForest(forest, edge_weights);
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
    const auto begin = forest.tree_begin();
    piece_ends.resize(at(begin.back()));
    piece_counts.resize(begin.size() - 1);
}

std::size_t ForestMemory::n_bytes() const { return bytes(piece_ends) + bytes(piece_counts); }

void ForestWorkspace::reserve(const ForestBlock& forest, int n_workers) {
    if (workers_.size() < at(n_workers)) workers_.resize(at(n_workers));
    if (!forest.is_linear()) {
        z_.reserve(forest.n_slots());
        u_.reserve(forest.n_slots());
    }
    for (auto& worker : std::span(workers_).first(at(n_workers))) {
        if (forest.is_linear()) {
            worker.z.reserve(forest.largest_bundle_);
            worker.u.reserve(forest.largest_bundle_);
            worker.chain.reserve(forest.largest_tree_);
        } else if (forest.delta_ == 0.0) {
            worker.tree.reserve(forest.largest_tree_);
        } else {
            worker.huber.reserve(forest.largest_tree_);
        }
    }
}

std::size_t ForestWorkspace::n_bytes() const {
    std::size_t total = z_.n_bytes() + u_.n_bytes();
    for (const auto& worker : workers_)
        total += worker.z.n_bytes() + worker.u.n_bytes() + worker.chain.n_bytes() +
                 worker.tree.n_bytes() + worker.huber.n_bytes();
    return total;
}

ForestBlock::ForestBlock(const EdgeList& forest, std::span<const double> edge_weights, double delta,
                         std::span<const double> vertex_weights,
                         std::span<const Vertex> vertex_numbers)
    : delta_(delta),
      layout_(lay_out(forest, edge_weights, delta == 0.0 && vertex_weights.empty())) {
    const auto begin = tree_begin();
    n_slots_ = vertices().size();
    for (std::size_t t = 0; t + 1 < begin.size(); ++t)
        largest_tree_ = std::max(largest_tree_, at(begin[t + 1] - begin[t]));
    if (!vertex_numbers.empty())
        std::visit(
            [&](auto& layout) {
                for (Vertex& v : layout.vertex) v = vertex_numbers[at(v)];
            },
            layout_);
    if (!vertex_weights.empty()) {
        vertex_weights_.reserve(n_slots_);
        for (const Vertex v : vertices()) vertex_weights_.push_back(vertex_weights[at(v)]);
    }
    if (auto* chains = std::get_if<ChainForest>(&layout_)) {
        auto& weight = chains->weight;
        largest_weight_.resize(begin.size() - 1);
        for (std::size_t c = 0; c + 1 < begin.size(); ++c)
            largest_weight_[c] =
                *std::max_element(weight.begin() + begin[c], weight.begin() + begin[c + 1]);
        if (vertex_numbers.empty()) recognize_lattice(forest.n_vertices);
    }
    make_shards();
}

void ForestBlock::rename_edges(std::span<const EdgeIndex> numbers) {
    std::visit(
        [&](auto& layout) {
            for (EdgeIndex& e : layout.edge) e = numbers[at(e)];
        },
        layout_);
}

std::span<const Vertex> ForestBlock::tree_begin() const {
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) return chains->chain_begin;
    return std::get<RootedForest>(layout_).tree_begin;
}

std::span<const Vertex> ForestBlock::vertices() const {
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) return chains->vertex;
    return std::get<RootedForest>(layout_).vertex;
}

void ForestBlock::recognize_lattice(Vertex n_vertices) {
    auto& chains = std::get<ChainForest>(layout_);
    auto& vertex = chains.vertex;
    const auto& begin = chains.chain_begin;
    // Slots for all vertices pay only if most of them have an edge.
    if (vertex.empty() || vertex.size() < at(n_vertices) / 2) return;
    const Vertex stride = vertex[1] - vertex[0];
    if (stride <= 0) return;
    for (std::size_t c = 0; c + 1 < begin.size(); ++c)
        for (auto i = at(begin[c]) + 1; i < at(begin[c + 1]); ++i)
            if (vertex[i] - vertex[i - 1] != stride) return;
    stride_ = stride;
    n_slots_ = at(n_vertices);
    chain_start_.reserve(begin.size() - 1);
    for (std::size_t c = 0; c + 1 < begin.size(); ++c) chain_start_.push_back(vertex[at(begin[c])]);
    vertex = {};
    make_bundles();
}

// Neighbouring chains of one length go together, eight at least to fill cache lines, and as many as
// fit into a shard.
void ForestBlock::make_bundles() {
    const auto begin = tree_begin();
    const auto n_chains = static_cast<Vertex>(begin.size() - 1);
    const auto length = [&](Vertex c) { return begin[at(c) + 1] - begin[at(c)]; };
    const auto start = [&](Vertex c) { return chain_start_[at(c)]; };
    for (Vertex first = 0, c = 0; c < n_chains; ++c) {
        const Vertex most = std::max(Vertex{8}, vertices_per_shard / length(first));
        const bool goes_on = c + 1 < n_chains && start(c + 1) == start(c) + 1 &&
                             length(c + 1) == length(first) && c + 1 - first < most;
        if (goes_on) continue;
        bundles_.push_back({first, c + 1});
        largest_bundle_ =
            std::max(largest_bundle_, at(c + 1 - first) * (at(length(first)) + bundle_padding));
        first = c + 1;
    }
}

void ForestBlock::make_shards() {
    const auto begin = tree_begin();
    const auto n = static_cast<Vertex>(is_lattice() ? bundles_.size() : begin.size() - 1);
    const auto position = [&](Vertex number) {  // first of a tree, or of a bundle
        if (!is_lattice()) return begin[at(number)];
        return at(number) < bundles_.size() ? begin[at(bundles_[at(number)].first)] : begin.back();
    };
    for (Vertex first = 0, t = 0; t < n; ++t) {
        const Vertex size = position(t + 1) - position(first);
        if (size < vertices_per_shard && t + 1 < n) continue;
        shards_.push_back({first, t + 1});
        if (!is_lattice()) largest_bundle_ = std::max(largest_bundle_, at(size));
        first = t + 1;
    }
}

ChainWeights ForestBlock::chain_weights(Vertex chain) const {
    const auto& chains = std::get<ChainForest>(layout_);
    const auto begin = at(chains.chain_begin[at(chain)]);
    const auto length = at(chains.chain_begin[at(chain) + 1]) - begin;
    return {{chains.weight.data() + begin, length - 1}, largest_weight_[at(chain)]};
}

void ForestBlock::solve_chain(Vertex chain, std::span<const double> z, std::span<double> u,
                              ForestMemory* memory, WarmChainWorkspace& workspace) const {
    if (memory) {
        const auto begin = at(tree_begin()[at(chain)]);
        tv_chain_warm(
            z, chain_weights(chain), u,
            {{memory->piece_ends.data() + begin, z.size()}, memory->piece_counts[at(chain)]},
            workspace);
    } else {
        tv_chain(z, chain_weights(chain), u, workspace.cold());
    }
}

void ForestBlock::solve_tree(Vertex t, std::span<const double> z, std::span<double> u,
                             ForestWorkspace::Worker& worker) const {
    const auto& trees = std::get<RootedForest>(layout_);
    if (delta_ == 0.0) {
        tv_tree(trees, t, z, vertex_weights_, u, worker.tree);
    } else {
        huber_tree(trees, t, z, vertex_weights_, delta_, u, worker.huber);
    }
}

void ForestBlock::adjoint(std::span<const double> p, std::span<double> q) const {
    std::fill(q.begin(), q.end(), 0.0);
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        for (std::size_t c = 0; c + 1 < chains->chain_begin.size(); ++c) {
            const auto begin = at(chains->chain_begin[c]), end = at(chains->chain_begin[c + 1]);
            const auto slot = [&](std::size_t i) {
                return is_lattice() ? at(chain_start_[c]) + (i - begin) * at(stride_) : i;
            };
            for (auto i = begin; i + 1 < end; ++i) {
                const double along = chains->weight[i] * p[at(chains->edge[i])];
                const double flow = chains->is_tail[i] ? along : -along;
                q[slot(i)] += flow;
                q[slot(i + 1)] -= flow;
            }
        }
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        for (std::size_t i = 0; i < n_slots_; ++i) {
            if (trees.parent[i] == RootedForest::no_parent) continue;
            const double along = trees.weight[i] * p[at(trees.edge[i])];
            const double flow = trees.is_tail[i] ? along : -along;
            q[i] += flow;
            q[at(trees.parent[i])] -= flow;
        }
    }
}

void ForestBlock::recover(std::span<double> q, std::span<double> p) const {
    const auto dual = [](double flow, double weight, bool is_tail) {
        const double along = weight > 0.0 ? std::clamp(flow / weight, -1.0, 1.0) : 0.0;
        return is_tail ? along : -along;
    };
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        for (std::size_t c = 0; c + 1 < chains->chain_begin.size(); ++c) {
            const auto begin = at(chains->chain_begin[c]), end = at(chains->chain_begin[c + 1]);
            double flow = 0.0;
            for (auto i = begin; i + 1 < end; ++i) {
                flow += q[is_lattice() ? at(chain_start_[c]) + (i - begin) * at(stride_) : i];
                flow = std::clamp(flow, -chains->weight[i], chains->weight[i]);
                p[at(chains->edge[i])] = dual(flow, chains->weight[i], chains->is_tail[i]);
            }
        }
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        for (std::size_t i = 0; i < n_slots_; ++i) {
            if (trees.parent[i] == RootedForest::no_parent) continue;
            const double flow = std::clamp(q[i], -trees.weight[i], trees.weight[i]);
            q[at(trees.parent[i])] += flow;
            p[at(trees.edge[i])] = dual(flow, trees.weight[i], trees.is_tail[i]);
        }
    }
}

void ForestBlock::refine(std::span<const double> f, std::span<double> u) const {
    if (is_linear() || delta_ > 0.0) return;  // these are as good as it gets already
    const auto& trees = std::get<RootedForest>(layout_);
    std::vector<double> f_here(n_slots_), u_here(n_slots_);
    for (std::size_t i = 0; i < n_slots_; ++i) {
        f_here[i] = f[at(trees.vertex[i])];
        u_here[i] = u[at(trees.vertex[i])];
    }
    TreeRefinement refinement(largest_tree_);
    for (Vertex t = 0; t < trees.n_trees(); ++t) refinement(trees, t, f_here, u_here);
    for (std::size_t i = 0; i < n_slots_; ++i) u[at(trees.vertex[i])] = u_here[i];
}

void ForestBlock::dual(std::span<const double> f, std::span<const double> u,
                       std::span<double> p) const {
    const auto begin = tree_begin();
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        std::vector<double> f_here(largest_tree_), u_here(largest_tree_), p_here(largest_tree_);
        for (std::size_t c = 0; c + 1 < begin.size(); ++c) {
            const auto first = at(begin[c]), length = at(begin[c + 1]) - first;
            for (std::size_t k = 0; k < length; ++k) {
                const auto v = is_lattice() ? at(chain_start_[c]) + k * at(stride_)
                                            : at(chains->vertex[first + k]);
                f_here[k] = f[v];
                u_here[k] = u[v];
            }
            tv_chain_dual({f_here.data(), length}, chain_weights(static_cast<Vertex>(c)),
                          {u_here.data(), length}, p_here);
            for (std::size_t k = 0; k + 1 < length; ++k) {
                const auto i = first + k;
                p[at(chains->edge[i])] = chains->is_tail[i] ? p_here[k] : -p_here[k];
            }
        }
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        std::vector<double> f_here(n_slots_), u_here(n_slots_), p_here(n_slots_);
        for (std::size_t i = 0; i < n_slots_; ++i) {
            f_here[i] = f[at(trees.vertex[i])];
            u_here[i] = u[at(trees.vertex[i])];
        }
        for (Vertex t = 0; t < trees.n_trees(); ++t)
            tv_tree_dual(trees, t, f_here, vertex_weights_, delta_, u_here, p_here);
        for (std::size_t i = 0; i < n_slots_; ++i)
            if (trees.parent[i] != RootedForest::no_parent)
                p[at(trees.edge[i])] = trees.is_tail[i] ? p_here[i] : -p_here[i];
    }
}

std::size_t ForestBlock::n_bytes() const {
    std::size_t total = bytes(vertex_weights_) + bytes(largest_weight_) + bytes(chain_start_) +
                        bytes(bundles_) + bytes(shards_);
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        total += bytes(chains->vertex) + bytes(chains->weight) + bytes(chains->edge) +
                 bytes(chains->is_tail) + bytes(chains->chain_begin);
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        total += bytes(trees.vertex) + bytes(trees.parent) + bytes(trees.edge) +
                 bytes(trees.weight) + bytes(trees.is_tail) + bytes(trees.n_children) +
                 bytes(trees.entry) + bytes(trees.tree_begin);
    }
    return total;
}

}  // namespace graphtv
