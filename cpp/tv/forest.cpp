#include "tv/forest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "parallel/parallel_for.hpp"

namespace graphtv {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool is_linear(const EdgeList& forest) {
    std::vector<signed char> degree(at(forest.n_vertices));
    for (const auto [tail, head] : forest.edges)
        if (++degree[at(tail)] > 2 || ++degree[at(head)] > 2) return false;
    return true;
}

// Huber chains take the way of the trees.
std::variant<ChainForest, RootedForest> lay_out(const EdgeList& forest,
                                                std::span<const double> edge_weights,
                                                double delta) {
    if (delta == 0.0 && is_linear(forest)) return ChainForest(forest, edge_weights);
    return RootedForest(forest, edge_weights);
}

template <class T>
std::size_t bytes(const std::vector<T>& values) {
    return values.capacity() * sizeof(T);
}
std::size_t bytes(const std::vector<bool>& values) { return values.capacity() / 8; }

}  // namespace

ForestTV::ForestTV(const EdgeList& forest, std::span<const double> edge_weights, double delta)
    : delta_(delta), layout_(lay_out(forest, edge_weights, delta)) {
    constexpr Vertex vertices_per_shard = 8192;
    const auto begin = tree_begin();
    const auto n_trees = static_cast<Vertex>(begin.size() - 1);
    for (Vertex first = 0, t = 0; t < n_trees; ++t) {
        largest_tree_ = std::max(largest_tree_, at(begin[at(t + 1)] - begin[at(t)]));
        if (begin[at(t + 1)] - begin[at(first)] < vertices_per_shard && t + 1 < n_trees) continue;
        shards_.push_back({first, t + 1});
        first = t + 1;
    }
    f_.resize(vertices().size());
    u_.resize(f_.size());
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        piece_ends_.resize(f_.size());
        piece_counts_.resize(at(n_trees));
        largest_weight_.resize(at(n_trees));
        for (Vertex c = 0; c < n_trees; ++c)
            largest_weight_[at(c)] = *std::max_element(chains->weight.begin() + begin[at(c)],
                                                       chains->weight.begin() + begin[at(c + 1)]);
    }
}

std::span<const Vertex> ForestTV::tree_begin() const {
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) return chains->chain_begin;
    return std::get<RootedForest>(layout_).tree_begin;
}

std::span<const Vertex> ForestTV::vertices() const {
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) return chains->vertex;
    return std::get<RootedForest>(layout_).vertex;
}

void ForestTV::gather(std::span<const double> from, std::vector<double>& to) const {
    const auto vertex = vertices();
    for (std::size_t i = 0; i < vertex.size(); ++i) to[i] = from[at(vertex[i])];
}

void ForestTV::scatter(const std::vector<double>& from, std::span<double> to) const {
    const auto vertex = vertices();
    for (std::size_t i = 0; i < vertex.size(); ++i) to[at(vertex[i])] = from[i];
}

void ForestTV::solve(std::span<const double> f, std::span<double> u, bool warm, int n_threads) {
    const int n_shards = static_cast<int>(shards_.size());
    const auto n_workers = at(std::max(1, std::min(n_threads, n_shards)));
    if (is_linear()) {
        while (chain_workspaces_.size() < n_workers) chain_workspaces_.emplace_back(largest_tree_);
    } else if (delta_ == 0.0) {
        while (tree_workspaces_.size() < n_workers) tree_workspaces_.emplace_back(largest_tree_);
    } else {
        while (huber_workspaces_.size() < n_workers) huber_workspaces_.emplace_back(largest_tree_);
    }
    const auto vertex = vertices();
    const auto begin = tree_begin();
    if (u.data() != f.data()) std::copy(f.begin(), f.end(), u.begin());
    const auto solve_shard = [&](int task, int worker) {
        const auto [first, last] = shards_[at(task)];
        const auto from = at(begin[at(first)]), to = at(begin[at(last)]);
        for (auto i = from; i < to; ++i) f_[i] = f[at(vertex[i])];
        for (Vertex t = first; t < last; ++t) {
            if (is_linear()) {
                solve_chain(t, warm, worker);
            } else if (delta_ == 0.0) {
                tv_tree(std::get<RootedForest>(layout_), t, f_, {}, u_,
                        tree_workspaces_[at(worker)]);
            } else {
                huber_tree(std::get<RootedForest>(layout_), t, f_, {}, delta_, u_,
                           huber_workspaces_[at(worker)]);
            }
        }
        for (auto i = from; i < to; ++i) u[at(vertex[i])] = u_[i];
    };
    parallel_for(n_shards, n_threads, std::cref(solve_shard));  // a copy would take memory
}

void ForestTV::solve_chain(Vertex chain, bool warm, int worker) {
    const auto& chains = std::get<ChainForest>(layout_);
    const auto begin = at(chains.chain_begin[at(chain)]);
    const auto length = at(chains.chain_begin[at(chain) + 1]) - begin;
    const ChainWeights weights{{chains.weight.data() + begin, length - 1},
                               largest_weight_[at(chain)]};
    const std::span<const double> f(f_.data() + begin, length);
    const std::span<double> u(u_.data() + begin, length);
    auto& count = piece_counts_[at(chain)];
    auto& workspace = chain_workspaces_[at(worker)];
    if (warm) {
        tv_chain_warm(f, weights, u, {{piece_ends_.data() + begin, length}, count}, workspace);
    } else {
        tv_chain(f, weights, u, workspace.cold());
        count = 0;
    }
}

void ForestTV::refine(std::span<const double> f, std::span<double> u) {
    if (is_linear() || delta_ > 0.0) return;  // these are as good as it gets already
    const auto& trees = std::get<RootedForest>(layout_);
    gather(f, f_);
    gather(u, u_);
    TreeRefinement refinement(largest_tree_);
    for (Vertex t = 0; t < trees.n_trees(); ++t) refinement(trees, t, f_, u_);
    scatter(u_, u);
}

void ForestTV::dual(std::span<const double> f, std::span<const double> u, std::span<double> p) {
    gather(f, f_);
    gather(u, u_);
    std::vector<double> flow(f_.size());
    const auto begin = tree_begin();
    for (std::size_t t = 0; t + 1 < begin.size(); ++t) {
        if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
            const auto first = at(begin[t]), length = at(begin[t + 1]) - first;
            tv_chain_dual({f_.data() + first, length},
                          {{chains->weight.data() + first, length - 1}, largest_weight_[t]},
                          {u_.data() + first, length}, {flow.data() + first, length - 1});
        } else {
            tv_tree_dual(std::get<RootedForest>(layout_), static_cast<Vertex>(t), f_, {}, delta_,
                         u_, flow);
        }
    }
    const auto assign = [&](const auto& layout, const auto& has_edge) {
        for (std::size_t i = 0; i < flow.size(); ++i)
            if (has_edge(i)) p[at(layout.edge[i])] = layout.is_tail[i] ? flow[i] : -flow[i];
    };
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        std::size_t t = 0;
        assign(*chains, [&](std::size_t i) {
            while (at(begin[t + 1]) <= i) ++t;
            return i + 1 < at(begin[t + 1]);
        });
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        assign(trees, [&](std::size_t i) { return trees.parent[i] != RootedForest::no_parent; });
    }
}

std::size_t ForestTV::n_bytes() const {
    std::size_t total = bytes(f_) + bytes(u_) + bytes(piece_ends_) + bytes(piece_counts_) +
                        bytes(largest_weight_) + bytes(shards_);
    if (const auto* chains = std::get_if<ChainForest>(&layout_)) {
        total += bytes(chains->vertex) + bytes(chains->weight) + bytes(chains->edge) +
                 bytes(chains->is_tail) + bytes(chains->chain_begin);
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        total += bytes(trees.vertex) + bytes(trees.parent) + bytes(trees.edge) +
                 bytes(trees.weight) + bytes(trees.is_tail) + bytes(trees.n_children) +
                 bytes(trees.entry) + bytes(trees.tree_begin);
    }
    for (const auto& workspace : chain_workspaces_) total += workspace.n_bytes();
    for (const auto& workspace : tree_workspaces_) total += workspace.n_bytes();
    for (const auto& workspace : huber_workspaces_) total += workspace.n_bytes();
    return total;
}

}  // namespace graphtv
