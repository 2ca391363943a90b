#include "tv/forest_sweep.hpp"

#include "parallel/watch.hpp"

namespace graphtv {

namespace {

void solve_panel(const ChainPanel& panel, std::size_t lanes, bool has_solution,
                 WarmChainWorkspace& workspace) {
    if (lanes == 1) {
        tv_chains_warm<1>(panel, has_solution, workspace);
    } else {
        tv_chains_warm<chain_lanes>(panel, has_solution, workspace);
    }
}

}  // namespace

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
            if (!forest.is_lattice())
                worker.weights.reserve(forest.largest_bundle_);
            else if (!forest.has_one_weight())
                worker.weights.reserve(chain_lanes * forest.longest_panel_);
            worker.chain.reserve(forest.longest_lane_, 1);
            worker.chain.reserve(forest.longest_panel_, chain_lanes);
        } else if (!forest.penalty_.is_huber()) {
            worker.tree.reserve(forest.largest_tree_);
        } else {
            worker.huber.reserve(forest.largest_tree_);
        }
    }
}

std::size_t ForestWorkspace::n_bytes() const {
    std::size_t total = z_.n_bytes() + u_.n_bytes();
    for (const auto& worker : workers_)
        total += worker.z.n_bytes() + worker.u.n_bytes() + worker.weights.n_bytes() +
                 worker.chain.n_bytes() + worker.tree.n_bytes() + worker.huber.n_bytes();
    return total;
}

ChainWeights ForestBlock::chain_weights(Vertex chain, ForestWorkspace::Worker& worker) const {
    if (is_lattice()) return {lattice_weights(chain), largest_weight_[at(chain)]};
    const auto begin = at(tree_begin()[at(chain)]);
    const auto n_edges = at(tree_begin()[at(chain) + 1]) - begin - 1;
    if (!weight_.empty()) return ChainWeights::of({weight_.data() + begin, n_edges});
    for (std::size_t k = 0; k < n_edges; ++k) worker.weights[k] = weight_at(begin + k);
    return ChainWeights::of({worker.weights.data(), n_edges});
}

void ForestBlock::solve_bundle(const Bundle& bundle, std::int8_t* jumps, bool has_solution,
                               ForestWorkspace::Worker& worker) const {
    const auto begin = tree_begin();
    const auto first = at(bundle.first), width = at(bundle.last) - first;
    const auto length = at(begin[first + 1] - begin[first]), lanes = bundle.lanes;
    const double* weight = std::get<LatticeForest>(layout_).weight.data();
    for (std::size_t c = 0; c < width; c += lanes) {
        double *z = worker.z.data() + c * length, *w = worker.weights.data();
        for (std::size_t lane = width - c; lane < lanes; ++lane)  // padding
            for (std::size_t k = 0; k < length; ++k) z[k * lanes + lane] = 0.0;
        for (std::size_t lane = 0; lane < lanes && lanes > 1 && !has_one_weight(); ++lane)
            for (std::size_t k = 0; k < length; ++k)
                w[k * lanes + lane] =
                    lane < width - c ? weight[at(begin[first + c + lane]) + k] : 0.0;
        const double* panel_weights = has_one_weight() ? weight
                                      : lanes == 1     ? weight + begin[first]
                                                       : w;
        solve_panel({length, z, panel_weights, has_one_weight(), worker.u.data() + c * length,
                     jumps + c * length},
                    lanes, has_solution, worker.chain);
    }
}

void ForestBlock::solve_strip(const Strip& strip, std::int8_t* jumps, bool has_solution,
                              ForestWorkspace::Worker& worker) const {
    double *z = worker.z.data(), *w = worker.weights.data();
    for (std::size_t l = 0; strip.lanes > 1 && l < strip.lanes; ++l)
        for (auto k = at(strip.begin[l + 1] - strip.begin[l]); k < strip.length; ++k)
            z[k * strip.lanes + l] = w[k * strip.lanes + l] = 0.0;
    const double* weight = weight_.empty() ? edge_weights_.data() : weight_.data();
    const double* panel_weights = w;
    if (weight_.empty()) {
        const EdgeIndex* edge = std::get<ChainForest>(layout_).edge.data();
        visit_strip(strip, strip.lanes,
                    [=](std::size_t place, std::size_t i) { w[place] = look_up(edge[i], weight); });
    } else if (strip.lanes > 1) {
        visit_strip(strip, strip.lanes,
                    [&](std::size_t place, std::size_t i) { w[place] = weight[i]; });
    } else {
        panel_weights = weight + strip.begin[0];
    }
    solve_panel({strip.length, z, panel_weights, false, worker.u.data(), jumps}, strip.lanes,
                has_solution, worker.chain);
}

// Stores the chains one after another in scratch memory.
void ForestBlock::solve_cold(Vertex first, Vertex last, ForestWorkspace::Worker& worker) const {
    const auto begin = tree_begin();
    for (Vertex t = first; t < last; ++t) {
        const auto i = at(begin[at(t)] - begin[at(first)]);
        const auto length = at(begin[at(t) + 1] - begin[at(t)]);
        tv_chain({worker.z.data() + i, length}, chain_weights(t, worker),
                 {worker.u.data() + i, length}, worker.chain.cold());
    }
}

void ForestBlock::solve_tree(Vertex t, std::span<const double> z, std::span<double> u,
                             ForestWorkspace::Worker& worker) const {
    const auto& trees = std::get<RootedForest>(layout_);
    if (penalty_.is_huber()) {
        huber_tree(trees, t, z, vertex_weights_, penalty_.delta, u, worker.huber);
    } else {
        tv_tree(trees, t, z, vertex_weights_, u, worker.tree);
    }
}

}  // namespace graphtv
