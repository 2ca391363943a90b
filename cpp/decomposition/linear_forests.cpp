#include "decomposition/linear_forests.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "graph/union_find.hpp"
#include "parallel/watch.hpp"

namespace graphtv {
namespace {

// The paths of all linear forests. Only their ends matter: (u, v) closes a cycle in forest l if and
// only if u and v are the two ends of one path of l.
//
// A vertex has an entry for each forest that has an edge at it: at most degree(v) entries, and half
// as many if the vertex is interior to all its paths. Forest numbers can be large, since the leaf
// of a star may lie in the last forest. Each vertex therefore keeps its entries in a hash table.
// All tables start in one array, with room for slightly more than degree(v) / 2 entries. A table
// that fills up moves to a new array.
class LinearPaths {
  public:
    explicit LinearPaths(const EdgeList& graph) {
        std::vector<std::uint32_t> degrees(static_cast<std::size_t>(graph.n_vertices));
        for_watched(graph.edges.size(), [&](std::size_t e) {
            ++degrees[static_cast<std::size_t>(graph.edges[e].tail)];
            ++degrees[static_cast<std::size_t>(graph.edges[e].head)];
        });
        const auto n_slots = [](std::uint32_t degree) {
            return slots_for(std::min(degree, degree / 2 + 2));
        };
        std::size_t end = 0;
        for (const std::uint32_t degree : degrees) end += n_slots(degree);
        constexpr std::size_t chunk = 1 << 20;
        entries_.reserve(end);
        while (entries_.size() < end) {
            Watched::look();
            entries_.resize(std::min(entries_.size() + chunk, end), {none, 0});
        }
        tables_.reserve(degrees.size());
        Entry* begin = entries_.data();
        for (const std::uint32_t degree : degrees) {
            tables_.push_back({begin, n_slots(degree), 0});
            begin += tables_.back().n_slots;
        }
    }

    // The first forest l' ≥ l that stays linear when the edge (u, v) is added.
    Forest first_fit(Vertex u, Vertex v, Forest l) {
        while (true) {
            const Forest open = next_open(v, next_open(u, l));
            if (open == l && !closes_cycle(u, v, l)) return l;
            l = open == l ? l + 1 : open;
        }
    }

    bool fits(Vertex u, Vertex v, Forest l) {
        return next_open(u, l) == l && next_open(v, l) == l && !closes_cycle(u, v, l);
    }

    // Adds the edge (u, v) to forest l. The forest must stay linear.
    void join(Vertex u, Vertex v, Forest l) {
        const Vertex end_u = other_end(u, l);
        const Vertex end_v = other_end(v, l);
        if (u != end_u) close(u, l);
        if (v != end_v) close(v, l);
        set(end_u, l, end_v);
        set(end_v, l, end_u);
    }

  private:
    static constexpr Forest none = -1;

    // At an end of a path: the other end of the path. At an interior vertex: -1 - l', where the
    // vertex is also interior in all forests from this one up to l' - 1.
    struct Entry {
        Forest forest;
        std::int32_t value;
    };
    struct Table {
        Entry* begin;
        std::uint32_t n_slots, n_entries;
    };

    // At most 4/5 full. At least one slot stays empty, which ends unsuccessful searches.
    static std::uint32_t slots_for(std::uint32_t n_entries) {
        return n_entries + n_entries / 4 + 1;
    }

    Table& table(Vertex v) { return tables_[static_cast<std::size_t>(v)]; }

    // The entry of (v, l), or the empty slot for it.
    Entry& entry(Vertex v, Forest l) {
        const auto [begin, n_slots, n_entries] = table(v);
        // Fibonacci hashing: the high bits of l times 2⁶⁴/φ spread any set of forest numbers.
        const auto hash = (static_cast<std::uint64_t>(l) * 0x9E3779B97F4A7C15u) >> 32;
        auto slot = static_cast<std::uint32_t>((hash * n_slots) >> 32);
        while (true) {
            Entry& candidate = begin[slot];
            if (candidate.forest == l || candidate.forest == none) return candidate;
            if (++slot == n_slots) slot = 0;
        }
    }

    void set(Vertex v, Forest l, std::int32_t value) {
        if (entry(v, l).forest == none) make_room(v);
        entry(v, l) = {l, value};
    }

    // Makes room for one more entry.
    void make_room(Vertex v) {
        Table& here = table(v);
        if (slots_for(++here.n_entries) <= here.n_slots) return;
        const std::span old(here.begin, here.n_slots);
        here.n_slots = slots_for(2 * here.n_entries);
        here.begin = take(here.n_slots);
        for (const Entry& e : old)
            if (e.forest != none) entry(v, e.forest) = e;
    }

    // Reserves this many empty slots.
    Entry* take(std::size_t n_slots) {
        constexpr std::size_t chunk = 1 << 15;
        if (n_slots > spare_.size()) {
            more_.emplace_back(std::max(chunk, n_slots), Entry{none, 0});
            spare_ = more_.back();
        }
        Entry* const begin = spare_.data();
        spare_ = spare_.subspan(n_slots);
        return begin;
    }

    bool is_inside(const Entry& e) const { return e.forest != none && e.value < 0; }

    // The first forest l' ≥ l in which v has fewer than two edges (path halving).
    Forest next_open(Vertex v, Forest l) {
        while (true) {
            Entry& here = entry(v, l);
            if (!is_inside(here)) return l;
            l = -1 - here.value;
            const Entry& next = entry(v, l);
            if (is_inside(next)) here.value = next.value;
        }
    }

    // The other end of the path that ends at v; v itself if it has no edge.
    Vertex other_end(Vertex v, Forest l) {
        const Entry& e = entry(v, l);
        return e.forest == none ? v : e.value;
    }

    bool closes_cycle(Vertex u, Vertex v, Forest l) { return other_end(u, l) == v; }

    void close(Vertex v, Forest l) { entry(v, l) = {l, -1 - (l + 1)}; }

    std::vector<Table> tables_;
    std::vector<Entry> entries_;
    std::vector<std::vector<Entry>> more_;  // memory of tables that have moved
    std::span<Entry> spare_;                // the unused part of its last block
};

void place_by_first_fit(const EdgeList& graph, std::span<const EdgeIndex> order, Forest first,
                        LinearPaths& paths, std::vector<Forest>& labels,
                        const std::function<void()>& interrupt) {
    constexpr std::size_t between_calls = 1 << 14;
    std::size_t n_placed = 0;
    for (const EdgeIndex e : order) {
        if (n_placed++ % between_calls == 0) interrupt();
        const auto [tail, head] = graph.edges[static_cast<std::size_t>(e)];
        const Forest l = paths.first_fit(tail, head, first);
        paths.join(tail, head, l);
        labels[static_cast<std::size_t>(e)] = l;
    }
}

}  // namespace

std::vector<Forest> first_fit_linear_forests(const EdgeList& graph,
                                             std::span<const EdgeIndex> order,
                                             const std::function<void()>& interrupt) {
    std::vector<Forest> labels(graph.edges.size());
    interrupt();
    LinearPaths paths(graph);
    place_by_first_fit(graph, order, 0, paths, labels, interrupt);
    return labels;
}

std::vector<Forest> residual_linear_forests(const EdgeList& graph, std::span<const EdgeIndex> order,
                                            const std::function<void()>& interrupt) {
    std::vector<Forest> labels(graph.edges.size(), -1);
    std::vector<EdgeIndex> remaining(order.begin(), order.end());
    std::vector<EdgeIndex> spanning;
    std::vector<EdgeIndex> refused;
    std::vector<Vertex> degrees(static_cast<std::size_t>(graph.n_vertices));
    LinearPaths paths(graph);

    for (Forest l = 0; !remaining.empty(); ++l) {
        const auto ends = [&](EdgeIndex e) { return graph.edges[static_cast<std::size_t>(e)]; };
        const auto degree = [&](Vertex v) -> Vertex& {
            return degrees[static_cast<std::size_t>(v)];
        };
        const auto take = [&](EdgeIndex e) {
            paths.join(ends(e).tail, ends(e).head, l);
            labels[static_cast<std::size_t>(e)] = l;
        };

        interrupt();
        spanning.clear();
        UnionFind trees(graph.n_vertices);
        for (const EdgeIndex e : remaining) {
            if (!trees.unite(ends(e).tail, ends(e).head)) continue;
            spanning.push_back(e);
            ++degree(ends(e).tail);
            ++degree(ends(e).head);
        }
        for (const EdgeIndex e : spanning) {
            if (degree(ends(e).tail) <= 2 && degree(ends(e).head) <= 2) take(e);
        }
        for (const EdgeIndex e : spanning) degree(ends(e).tail) = degree(ends(e).head) = 0;

        interrupt();
        refused.clear();
        for (const EdgeIndex e : remaining) {
            if (labels[static_cast<std::size_t>(e)] == l) continue;
            if (paths.fits(ends(e).tail, ends(e).head, l)) {
                take(e);
            } else {
                refused.push_back(e);
            }
        }
        const auto taken = remaining.size() - refused.size();
        if (20 * taken < remaining.size()) {
            place_by_first_fit(graph, refused, l + 1, paths, labels, interrupt);
            break;
        }
        std::swap(remaining, refused);
    }
    return labels;
}

}  // namespace graphtv
