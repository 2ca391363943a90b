#include "cut/incremental_search.hpp"

#include <algorithm>
#include <limits>

#include "cut/stencil_network.hpp"

namespace graphtv {

template <class Network>
IncrementalSearch<Network>::IncrementalSearch(Network& network, std::span<Capacity> excess)
    : network_(network), excess_(excess), nodes_(excess.size()), listed_(64, no_vertex) {
    for (std::size_t v = 0; v < nodes_.size(); ++v) {
        if (excess_[v] == Capacity{0}) continue;
        const Tree tree = excess_[v] > Capacity{0} ? sources : sinks;
        nodes_[v].level = tree == sources ? 1 : -1;
        nodes_[v].parent = root;
        frontier_[tree].push_back(static_cast<std::uint32_t>(v));
        ++n_roots_[tree];
    }
}

template <class Network>
CutEnd IncrementalSearch<Network>::run(std::uint64_t most_looks, Watch& watch) {
    while (!is_over() && !frontier_[sources].empty() && !frontier_[sinks].empty()) {
        const bool is_sources = frontier_[sources].size() <= frontier_[sinks].size();
        const CutEnd end =
            is_sources ? grow<sources>(most_looks, watch) : grow<sinks>(most_looks, watch);
        if (end != CutEnd::finished) return end;
    }
    return CutEnd::finished;
}

template <class Network>
bool IncrementalSearch<Network>::is_source_side(std::size_t v) const {
    if (n_roots_[sources] == 0) return false;
    if (n_roots_[sinks] == 0) return true;
    return frontier_[sources].empty() ? nodes_[v].level > 0 : nodes_[v].level >= 0;
}

// Grows a tree by one level.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
CutEnd IncrementalSearch<Network>::grow(std::uint64_t most_looks, Watch& watch) {
    next_.clear();
    allowed_[tree] = deepest_[tree] + 1;
    std::uint64_t next_look = n_looks + between_looks;
    // The list may grow: orphans that find a new place at this level join it.
    for (std::size_t i = 0; i < frontier_[tree].size(); ++i) {
        const std::size_t v = frontier_[tree][i];
        if (depth<tree>(v) != deepest_[tree]) continue;
        scan<tree>(v);
        if (is_over()) return CutEnd::finished;
        if (n_looks > most_looks) return CutEnd::exhausted;
        if (n_looks < next_look) continue;
        next_look = n_looks + between_looks;
        if (watch.expired()) return CutEnd::expired;
    }
    frontier_[tree].swap(next_);
    deepest_[tree] = allowed_[tree];
    return CutEnd::finished;
}

template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::scan(std::size_t v) {
    const std::uint32_t end = network_.end(v);
    n_looks += end - network_.begin(v);
    for (std::uint32_t a = network_.begin(v); a != end;) {
        if (!leads_away<tree>(a)) {
            ++a;
            continue;
        }
        const std::size_t w = network_.head(v, a);
        const Level there = depth<tree>(w);
        if (there > 0) {
            ++a;
        } else if (there == 0) {
            set_depth<tree>(w, deepest_[tree] + 1);
            nodes_[w].parent = network_.reverse(v, a);
            next_.push_back(static_cast<std::uint32_t>(w));
            ++a;
        } else {
            if (tree == sources)
                augment(v, a, w);
            else
                augment(w, network_.reverse(v, a), v);
            if (is_over() || depth<tree>(v) != deepest_[tree]) return;
        }
    }
}

// Augments from the root above v over the bridge to the root above w.
template <class Network>
void IncrementalSearch<Network>::augment(std::size_t v, std::uint32_t bridge, std::size_t w) {
    ++n_paths;
    std::size_t source = v, sink = w;
    Capacity amount = network_.residual(bridge);
    amount = bottleneck<sources>(source, amount);
    amount = bottleneck<sinks>(sink, amount);
    amount = std::min({amount, excess_[source], -excess_[sink]});
    network_.push(v, bridge, amount);
    excess_[source] -= amount;
    excess_[sink] += amount;
    send<sources>(v, amount);
    if (excess_[source] == Capacity{0}) {
        --n_roots_[sources];
        orphan<sources>(source);
    }
    adopt_orphans<sources>();
    send<sinks>(w, amount);
    if (excess_[sink] == Capacity{0}) {
        --n_roots_[sinks];
        orphan<sinks>(sink);
    }
    adopt_orphans<sinks>();
}

// Walks from v to its root. Returns the bottleneck of the path.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
auto IncrementalSearch<Network>::bottleneck(std::size_t& v, Capacity amount) const -> Capacity {
    for (std::uint32_t up; (up = nodes_[v].parent) != root; v = network_.head(v, up)) {
        const std::uint32_t a = tree == sources ? network_.reverse(v, up) : up;
        amount = std::min(amount, network_.residual(a));
    }
    return amount;
}

template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::send(std::size_t v, Capacity amount) {
    for (std::uint32_t up; (up = nodes_[v].parent) != root;) {
        ++n_looks;
        const std::size_t parent = network_.head(v, up);
        const bool is_full = tree == sources
                                 ? network_.push(parent, network_.reverse(v, up), amount)
                                 : network_.push(v, up, amount);
        if (is_full) orphan<tree>(v);
        v = parent;
    }
}

// Adds v to the list of a level.
template <class Network>
void IncrementalSearch<Network>::enlist(std::size_t v, Level level) {
    if (at(level) >= listed_.size()) listed_.resize(2 * at(level), no_vertex);
    nodes_[v].next = listed_[at(level)];
    listed_[at(level)] = static_cast<std::uint32_t>(v);
    first_listed_ = std::min(first_listed_, level);
    last_listed_ = std::max(last_listed_, level);
}

// Removes a vertex from the list of a level.
template <class Network>
std::uint32_t IncrementalSearch<Network>::unlist(Level level) {
    const std::uint32_t v = listed_[at(level)];
    if (v != no_vertex) listed_[at(level)] = nodes_[v].next;
    return v;
}

template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::orphan(std::size_t v) {
    nodes_[v].parent = no_arc;
    enlist(v, depth<tree>(v));
}

// Orphans that find no parent at the same distance leave the tree together with their children, the
// nearest to a root first. Then the vertices that have left return at their new smallest distance
// to a root, unless it is too large.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::adopt_orphans() {
    if (first_listed_ > last_listed_) return;
    lost_.clear();
    for (Level level = first_listed_; level <= last_listed_; ++level)
        for (std::uint32_t v; (v = unlist(level)) != no_vertex;) adopt<tree>(v);
    first_listed_ = std::numeric_limits<Level>::max();
    last_listed_ = 0;
    for (const std::uint32_t v : lost_) find_place<tree>(v);
    if (first_listed_ > last_listed_) return;
    std::size_t next = 0;
    lost_.clear();  // reused for vertices that have returned
    for (Level level = first_listed_; level <= last_listed_ || next < lost_.size(); ++level) {
        if (level <= last_listed_) {
            for (std::uint32_t v; (v = unlist(level)) != no_vertex;)
                if (nodes_[v].level == 0) settle<tree>(v, nodes_[v].parent, level);
        }
        for (const std::size_t end = lost_.size(); next < end; ++next)
            if (level < allowed_[tree]) invite<tree>(lost_[next]);
    }
    first_listed_ = std::numeric_limits<Level>::max();
    last_listed_ = 0;
}

// Finds a parent for v one level above. If there is none, v leaves the tree and its children become
// orphans.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::adopt(std::size_t v) {
    const Level wanted = depth<tree>(v) - 1;
    const std::uint32_t begin = network_.begin(v), end = network_.end(v);
    n_looks += end - begin;
    if (wanted > 0) {
        for (std::uint32_t a = begin; a != end; ++a) {
            if (!leads_here<tree>(a) || depth<tree>(network_.head(v, a)) != wanted) continue;
            nodes_[v].parent = a;
            return;
        }
    }
    for (std::uint32_t a = begin; a != end; ++a) {
        if (!leads_away<tree>(a)) continue;
        const std::size_t w = network_.head(v, a);
        if (nodes_[w].parent == network_.reverse(v, a)) orphan<tree>(w);
    }
    nodes_[v].level = 0;
    lost_.push_back(static_cast<std::uint32_t>(v));
}

// Adds v to the list one level below its nearest neighbour that is still in the tree.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::find_place(std::size_t v) {
    Level least = allowed_[tree];
    const std::uint32_t begin = network_.begin(v), end = network_.end(v);
    n_looks += end - begin;
    for (std::uint32_t a = begin; a != end; ++a) {
        if (!leads_here<tree>(a)) continue;
        const Level there = depth<tree>(network_.head(v, a));
        if (there <= 0 || there >= least) continue;
        least = there;
        nodes_[v].parent = a;
    }
    if (least < allowed_[tree]) enlist(v, least + 1);
}

// Puts v into the tree.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::settle(std::size_t v, std::uint32_t parent, Level level) {
    set_depth<tree>(v, level);
    nodes_[v].parent = parent;
    lost_.push_back(static_cast<std::uint32_t>(v));
    if (level == deepest_[tree]) frontier_[tree].push_back(static_cast<std::uint32_t>(v));
    if (level > deepest_[tree]) next_.push_back(static_cast<std::uint32_t>(v));
}

// Puts the neighbours of v that are in no tree below v.
template <class Network>
template <typename IncrementalSearch<Network>::Tree tree>
void IncrementalSearch<Network>::invite(std::size_t v) {
    const Level level = depth<tree>(v) + 1;
    const std::uint32_t begin = network_.begin(v), end = network_.end(v);
    n_looks += end - begin;
    for (std::uint32_t a = begin; a != end; ++a) {
        if (!leads_away<tree>(a)) continue;
        const std::size_t w = network_.head(v, a);
        if (nodes_[w].level == 0) settle<tree>(w, network_.reverse(v, a), level);
    }
}

template class IncrementalSearch<StencilNetwork>;
template class IncrementalSearch<ResidualNetwork<std::int32_t>>;
template class IncrementalSearch<ResidualNetwork<std::int64_t>>;
template class IncrementalSearch<ResidualNetwork<double>>;

}  // namespace graphtv
