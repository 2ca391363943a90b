#include "tv/forest_block.hpp"

#include <algorithm>

#include "parallel/watch.hpp"
#include "tv/flow.hpp"

namespace graphtv {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool has_paths_only(const EdgeList& forest) {
    std::vector<signed char> degree(at(forest.n_vertices));
    for (const auto [tail, head] : forest.edges)
        if (++degree[at(tail)] > 2 || ++degree[at(head)] > 2) return false;
    return true;
}

using Layout = std::variant<ChainForest, LatticeForest, RootedForest>;

// Huber chains and weighted vertices take the way of the trees.
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

void solve_panel(const ChainPanel& panel, std::size_t lanes, bool has_solution,
                 WarmChainWorkspace& workspace) {
    if (lanes == 1) {
        tv_chains_warm<1>(panel, has_solution, workspace);
    } else {
        tv_chains_warm<chain_lanes>(panel, has_solution, workspace);
    }
}

}  // namespace

ForestMemory::ForestMemory(const ForestBlock& forest) {
    if (!forest.is_linear()) return;
    jumps.resize(forest.n_jumps_);
    is_solved.resize(at(forest.n_shards()));
    for (const auto& strip : forest.strips_) forest.mark_ends(strip, jumps.data() + strip.memory);
}

std::size_t ForestMemory::n_bytes() const { return bytes(jumps) + bytes(is_solved); }

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
        total += worker.z.n_bytes() + worker.u.n_bytes() + worker.weights.n_bytes() +
                 worker.chain.n_bytes() + worker.tree.n_bytes() + worker.huber.n_bytes();
    return total;
}

ForestBlock::ForestBlock(const EdgeList& forest, std::span<const double> edge_weights, double delta,
                         std::span<const double> vertex_weights,
                         std::span<const Vertex> vertex_numbers, bool looks_weights_up)
    : delta_(delta),
      layout_(lay_out(forest, edge_weights, delta == 0.0 && vertex_weights.empty(),
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

// Neighbouring chains of one length go together: rows as many as there are lanes, columns eight at
// least to fill cache lines, and more while the cache holds them, since their vertices tend to fall
// into the same few sets of it.
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

// Lanes of about the same length, cut between chains. Where a chain is too long for that, all are
// one lane.
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

// What is beyond the end of a lane are chains of one vertex.
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

ChainWeights ForestBlock::chain_weights(Vertex chain, ForestWorkspace::Worker& worker) const {
    if (is_lattice()) return {lattice_weights(chain), largest_weight_[at(chain)]};
    const auto begin = at(tree_begin()[at(chain)]);
    const auto n_edges = at(tree_begin()[at(chain) + 1]) - begin - 1;
    if (!weight_.empty()) return ChainWeights::of({weight_.data() + begin, n_edges});
    for (std::size_t k = 0; k < n_edges; ++k) worker.weights[k] = weight_at(begin + k);
    return ChainWeights::of({worker.weights.data(), n_edges});
}

// The slots of a shard, of trees.
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

// edge(place, next place, number, weight, is_tail) along the chains, places being slots.
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

void ForestBlock::solve_bundle(const Bundle& bundle, std::int8_t* jumps, bool has_solution,
                               ForestWorkspace::Worker& worker) const {
    const auto begin = tree_begin();
    const auto first = at(bundle.first), width = at(bundle.last) - first;
    const auto length = at(begin[first + 1] - begin[first]), lanes = bundle.lanes;
    const double* weight = std::get<LatticeForest>(layout_).weight.data();
    for (std::size_t c = 0; c < width; c += lanes) {
        double *z = worker.z.data() + c * length, *w = worker.weights.data();
        for (std::size_t lane = width - c; lane < lanes; ++lane)  // chains that are not there
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

// Chain after chain in scratch memory.
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
    if (delta_ == 0.0) {
        tv_tree(trees, t, z, vertex_weights_, u, worker.tree);
    } else {
        huber_tree(trees, t, z, vertex_weights_, delta_, u, worker.huber);
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
            // The chains of a bundle side by side, in the order of memory.
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
            tv_tree_dual(trees, t, f_here, vertex_weights_, delta_, u_here, p_here);
        for (std::size_t i = 0; i < n_slots_; ++i)
            if (trees.parent[i] != RootedForest::no_parent)
                p[at(trees.edge[i])] = trees.is_tail[i] ? p_here[i] : -p_here[i];
    }
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
