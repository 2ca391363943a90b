// The residual capacities of a network, stored by vertex for searches that scan all arcs of a
// vertex.
//
// Each of the two arcs of an edge stores the position of the other, and whether the other one has
// residual capacity. A search against the direction of the flow therefore touches no other memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/scratch.hpp"
#include "graph/types.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

// A flow from excess to deficits, in the caller's arrays. Value is int64 or double.
template <class Value>
struct FlowProblem {
    EdgeList graph;
    std::span<const Value> forward, backward;  // capacities by edge, from tail to head and back
    std::span<Value> flow;    // by edge, from tail to head: the start, replaced by the result
    std::span<Value> excess;  // by vertex, negative for deficits; updated like the flow
};

template <class Capacity>
class ResidualArc {
  public:
    ResidualArc() = default;
    ResidualArc(Vertex head, std::uint32_t reverse, Capacity residual, bool is_reverse_open)
        : head_(static_cast<std::uint32_t>(head) | (is_reverse_open ? flag : 0U)),
          reverse_(reverse),
          residual_(residual) {}

    std::size_t head() const { return head_ & ~flag; }
    std::uint32_t reverse() const { return reverse_; }
    Capacity residual() const { return residual_; }
    bool is_open() const { return residual_ > Capacity{0}; }
    bool is_reverse_open() const { return (head_ & flag) != 0; }

    void add(Capacity amount) { residual_ += amount; }
    void open_reverse() { head_ |= flag; }
    void close_reverse() { head_ &= ~flag; }

  private:
    static constexpr std::uint32_t flag = std::uint32_t{1} << 31;
    std::uint32_t head_, reverse_;
    Capacity residual_;
};

// Capacity is int32 if all capacities and excesses are small enough, which halves the memory to
// search.
template <class Capacity>
class ResidualNetwork {
  public:
    using Amount = Capacity;

    // Throws Expired when the watch of the thread expires.
    template <class Value>
    explicit ResidualNetwork(const FlowProblem<Value>& problem);

    // The arcs that leave a vertex are numbered from begin to end.
    std::uint32_t begin(std::size_t v) const { return first_[v]; }
    std::uint32_t end(std::size_t v) const { return first_[v + 1]; }
    std::uint32_t n_arcs() const { return first_.back(); }

    // For an arc that leaves v.
    std::size_t head(std::size_t, std::uint32_t a) const { return arcs_[a].head(); }
    std::uint32_t reverse(std::size_t, std::uint32_t a) const { return arcs_[a].reverse(); }
    Capacity residual(std::uint32_t a) const { return arcs_[a].residual(); }
    bool is_open(std::uint32_t a) const { return arcs_[a].is_open(); }
    bool is_reverse_open(std::uint32_t a) const { return arcs_[a].is_reverse_open(); }

    // Sends an amount from v along an arc with enough residual capacity. Returns whether the arc is
    // now saturated.
    bool push(std::size_t, std::uint32_t a, Capacity amount) {
        Arc& there = arcs_[a];
        Arc& back = arcs_[there.reverse()];
        there.add(-amount);
        back.add(amount);
        there.open_reverse();
        if (there.is_open()) return false;
        back.close_reverse();
        return true;
    }

    // Writes the flow back to the problem from which the network was built.
    template <class Value>
    void hand_back(const FlowProblem<Value>& problem) const;

  private:
    using Arc = ResidualArc<Capacity>;

    std::vector<std::uint32_t> first_;  // by vertex
    Scratch<std::uint32_t> of_edge_;    // the arc from its tail to its head
    Scratch<Arc> arcs_;                 // by vertex
};

}  // namespace graphtv
