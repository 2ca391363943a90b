// A residual network in which all vertices have their neighbours at the same few offsets: grids of
// any dimension and neighbourhood, with vertices in row-major order.
//
// Every vertex has a slot for each direction. Arcs then need neither heads nor a list: 4 bytes per
// arc instead of 12. Missing edges, such as those across the border, are closed in both directions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cut/residual_network.hpp"

namespace graphtv {

// The offsets between the ends of edges, and the direction of each: 2k for an offset, 2k + 1 back.
class Stencil {
  public:
    // Returns nothing if there are too many offsets, or so few edges that most slots would be
    // unused.
    static std::optional<Stencil> of(const EdgeList& graph);

    std::uint32_t n_directions() const { return n_directions_; }
    std::int32_t offset(std::uint32_t direction) const { return offsets_[direction]; }
    // The direction of an edge that has one of the offsets.
    std::uint32_t direction(Edge edge) const {
        const std::int32_t offset = edge.head - edge.tail;
        std::size_t i = place(offset);
        while (offsets_[table_[i]] != offset) i = (i + 1) % size;
        return table_[i];
    }

  private:
    static constexpr std::uint32_t most_directions = 26;
    static constexpr std::size_t size = 128;
    static std::size_t place(std::int32_t offset) {
        return (static_cast<std::uint32_t>(offset) * 2654435769U) >> 25;
    }
    bool add(std::int32_t offset);

    std::uint32_t n_directions_ = 0;
    std::array<std::int32_t, most_directions + 1> offsets_{};  // the last is 0, no offset
    std::array<std::uint8_t, size> table_{};                   // directions, by offset
};

class StencilNetwork {
  public:
    using Amount = std::int32_t;

    // Throws Expired when the watch of the thread expires.
    StencilNetwork(const Stencil& stencil, const FlowProblem<std::int64_t>& problem);

    std::uint32_t begin(std::size_t v) const { return static_cast<std::uint32_t>(v) * degree_; }
    std::uint32_t end(std::size_t v) const { return begin(v) + degree_; }
    std::uint32_t n_arcs() const { return static_cast<std::uint32_t>(words_.size()); }

    // For an existing arc that leaves v.
    std::size_t head(std::size_t v, std::uint32_t a) const {
        return v + static_cast<std::size_t>(std::ptrdiff_t{stencil_.offset(a - begin(v))});
    }
    std::uint32_t reverse(std::size_t v, std::uint32_t a) const {
        return begin(head(v, a)) + ((a - begin(v)) ^ 1U);
    }
    std::int32_t residual(std::uint32_t a) const {
        return static_cast<std::int32_t>(words_[a] & ~flag);
    }
    bool is_open(std::uint32_t a) const { return (words_[a] & ~flag) != 0; }
    bool is_reverse_open(std::uint32_t a) const { return (words_[a] & flag) != 0; }

    // Sends an amount from v along an arc with enough residual capacity. Returns whether the arc is
    // now saturated.
    bool push(std::size_t v, std::uint32_t a, std::int32_t amount) {
        const auto moved = static_cast<std::uint32_t>(amount);
        std::uint32_t& there = words_[a];
        std::uint32_t& back = words_[reverse(v, a)];
        there = (there - moved) | flag;
        back += moved;
        if (is_open(a)) return false;
        back &= ~flag;
        return true;
    }

    void hand_back(const FlowProblem<std::int64_t>& problem) const;

  private:
    static constexpr std::uint32_t flag = std::uint32_t{1} << 31;

    static std::uint32_t word(std::int64_t room, std::int64_t room_back) {
        return static_cast<std::uint32_t>(room) | (room_back > 0 ? flag : 0U);
    }

    Stencil stencil_;
    std::uint32_t degree_;
    std::vector<std::uint32_t>
        words_;  // by vertex and direction: residual, and whether back is open
};

}  // namespace graphtv
