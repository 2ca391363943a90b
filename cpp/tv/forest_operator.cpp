// K_l of a forest: its adjoint, and the recovery of p from q = K_lᵀp.
#include <algorithm>

#include "parallel/watch.hpp"
#include "tv/flow.hpp"
#include "tv/forest_sweep.hpp"

namespace graphtv {

// The slots of a shard of trees.
std::pair<std::size_t, std::size_t> ForestBlock::slots_of(int shard) const {
    const auto [first, last] = shards_[at(shard)];
    return {at(tree_begin()[at(first)]), at(tree_begin()[at(last)])};
}

ForestBlock::Shard ForestBlock::trees_of(int shard) const {
    const auto [first, last] = shards_[at(shard)];
    return is_lattice() ? Shard{bundles_[at(first)].first, bundles_[at(last) - 1].last}
                        : Shard{first, last};
}

template <class Body>
void ForestBlock::for_each_shard(int n_threads, const Body& body) const {
    parallel_for(n_shards(), n_threads, [&](int shard, int) {
        Watched::look();
        body(shard);
    });
}

// Calls edge(place, next place, number, weight, is_tail) along the chains; places are slots.
template <class Body>
void ForestBlock::for_each_chain_edge(Shard chains_here, const Body& body) const {
    const auto begin = tree_begin();
    for (Vertex c = chains_here.first; c < chains_here.last; ++c) {
        const auto first = at(begin[at(c)]), length = at(begin[at(c) + 1]) - first;
        if (const auto* lattice = std::get_if<LatticeForest>(&layout_)) {
            const ChainWeights weights{lattice_weights(c), largest_weight_[at(c)]};
            auto v = at(lattice->chain_start[at(c)]);
            for (std::size_t k = 0; k + 1 < length; ++k, v += at(lattice->stride))
                body(k, v, v + at(lattice->stride), lattice->edge[v], weights[k],
                     lattice->is_tail[v]);
        } else {
            const auto& chains = std::get<ChainForest>(layout_);
            for (std::size_t k = 0; k + 1 < length; ++k)
                body(k, first + k, first + k + 1, chains.edge[first + k], weight_at(first + k),
                     chains.is_tail[first + k]);
        }
    }
}

void ForestBlock::adjoint(std::span<const double> p, std::span<double> q, int n_threads) const {
    std::fill(q.begin(), q.end(), 0.0);
    for_each_shard(n_threads, [&](int shard) {
        if (is_linear()) {
            for_each_chain_edge(trees_of(shard),
                                [&](std::size_t, std::size_t here, std::size_t next, EdgeIndex e,
                                    double weight, bool is_tail) {
                                    const double along = weight * p[at(e)];
                                    const double flow = is_tail ? along : -along;
                                    q[here] += flow;
                                    q[next] -= flow;
                                });
            return;
        }
        const auto& trees = std::get<RootedForest>(layout_);
        const auto [from, to] = slots_of(shard);
        for (std::size_t i = from; i < to; ++i) {
            if (trees.parent[i] == RootedForest::no_parent) continue;
            const double along = trees.weight[i] * p[at(trees.edge[i])];
            const double flow = trees.is_tail[i] ? along : -along;
            q[i] += flow;
            q[at(trees.parent[i])] -= flow;
        }
    });
}

template <class Put>
void ForestBlock::recover_each(std::span<double> q, int n_threads, const Put& put) const {
    const auto dual = [](double flow, double weight, bool is_tail) {
        const double along = weight > 0.0 ? std::clamp(flow / weight, -1.0, 1.0) : 0.0;
        return is_tail ? along : -along;
    };
    const auto* lattice = std::get_if<LatticeForest>(&layout_);
    for_each_shard(n_threads, [&](int shard) {
        if (lattice != nullptr && lattice->weight.size() == 1) {
            // Processes the chains of a bundle together, in memory order.
            const double weight = lattice->weight[0];
            const std::size_t step = at(lattice->stride);
            const auto joins = [&](std::size_t v) {
                return lattice->edge[v] != LatticeForest::no_edge;
            };
            const auto visit = [&](std::size_t, std::size_t v) {
                if (!joins(v)) return;
                const double before = v >= step && joins(v - step) ? q[v - step] : 0.0;
                q[v] = std::clamp(before + q[v], -weight, weight);
                put(at(lattice->edge[v]), dual(q[v], weight, lattice->is_tail[v]));
            };
            for (Vertex b = shards_[at(shard)].first; b < shards_[at(shard)].last; ++b)
                visit_bundle(bundles_[at(b)], bundles_[at(b)].lanes, visit);
        } else if (is_linear()) {
            double flow = 0.0;
            for_each_chain_edge(trees_of(shard), [&](std::size_t k, std::size_t here, std::size_t,
                                                     EdgeIndex e, double weight, bool is_tail) {
                flow = std::clamp((k == 0 ? 0.0 : flow) + q[here], -weight, weight);
                put(at(e), dual(flow, weight, is_tail));
            });
        } else {
            const auto& trees = std::get<RootedForest>(layout_);
            const auto [from, to] = slots_of(shard);
            for (std::size_t i = from; i < to; ++i) {
                if (trees.parent[i] == RootedForest::no_parent) continue;
                const double flow = std::clamp(q[i], -trees.weight[i], trees.weight[i]);
                q[at(trees.parent[i])] += flow;
                put(at(trees.edge[i]), dual(flow, trees.weight[i], trees.is_tail[i]));
            }
        }
    });
}

void ForestBlock::recover(std::span<double> q, std::span<double> p, int n_threads) const {
    recover_each(q, n_threads, [=](std::size_t e, double value) { p[e] = value; });
}
void ForestBlock::recover(std::span<double> q, std::span<Rounded> p, int n_threads) const {
    recover_each(q, n_threads, [=](std::size_t e, double value) { p[e] = rounded(value); });
}

void ForestBlock::refine(std::span<const double> f, std::span<double> u) const {
    if (is_linear() || penalty_.is_huber()) return;  // these are already accurate
    const auto& trees = std::get<RootedForest>(layout_);
    std::vector<double> f_here(n_slots_), u_here(n_slots_);
    for (std::size_t i = 0; i < n_slots_; ++i) {
        f_here[i] = f[at(trees.vertex[i])];
        u_here[i] = u[at(trees.vertex[i])];
    }
    TreeRefinement refinement(largest_tree_);
    for (Vertex t = 0; t < trees.n_trees(); ++t)
        refinement(trees, t, f_here, vertex_weights_, u_here);
    for (std::size_t i = 0; i < n_slots_; ++i) u[at(trees.vertex[i])] = u_here[i];
}

void ForestBlock::dual(std::span<const double> f, std::span<const double> u,
                       std::span<double> p) const {
    if (is_linear()) {
        const auto vertex = vertices();
        const auto vertex_at = [&](std::size_t slot) {
            return is_lattice() ? slot : at(vertex[slot]);
        };
        double flow = 0.0;
        const Shard all{0, static_cast<Vertex>(tree_begin().size() - 1)};
        for_each_chain_edge(all, [&](std::size_t k, std::size_t here, std::size_t next, EdgeIndex e,
                                     double weight, bool is_tail) {
            const auto i = vertex_at(here), j = vertex_at(next);
            flow = bounded_flow((k == 0 ? 0.0 : flow) + (f[i] - u[i]), weight, u[i], u[j]);
            const double along = weight > 0.0 ? std::clamp(flow / weight, -1.0, 1.0) : 0.0;
            p[at(e)] = is_tail ? along : -along;
        });
    } else {
        const auto& trees = std::get<RootedForest>(layout_);
        std::vector<double> f_here(n_slots_), u_here(n_slots_), p_here(n_slots_);
        for (std::size_t i = 0; i < n_slots_; ++i) {
            f_here[i] = f[at(trees.vertex[i])];
            u_here[i] = u[at(trees.vertex[i])];
        }
        for (Vertex t = 0; t < trees.n_trees(); ++t)
            tv_tree_dual(trees, t, f_here, vertex_weights_, penalty_, u_here, p_here);
        for (std::size_t i = 0; i < n_slots_; ++i)
            if (trees.parent[i] != RootedForest::no_parent)
                p[at(trees.edge[i])] = trees.is_tail[i] ? p_here[i] : -p_here[i];
    }
}

}  // namespace graphtv
