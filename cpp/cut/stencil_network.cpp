#include "cut/stencil_network.hpp"

#include <algorithm>
#include <limits>

namespace graphtv {

bool Stencil::add(std::int32_t offset) {
    if (n_directions_ == most_directions) return false;
    for (const std::int32_t signed_offset : {offset, -offset}) {
        const auto direction = static_cast<std::uint8_t>(n_directions_++);
        offsets_[direction] = signed_offset;
        std::size_t i = place(signed_offset);
        while (table_[i] != most_directions) i = (i + 1) % size;
        table_[i] = direction;
    }
    return true;
}

std::optional<Stencil> Stencil::of(const EdgeList& graph) {
    constexpr std::uint64_t places_per_arc = 2;
    Stencil stencil;
    stencil.table_.fill(most_directions);
    std::int32_t last = 0;
    for (const auto [tail, head] : graph.edges) {
        const std::int32_t offset = head - tail;
        if (offset == last) continue;
        last = offset;
        std::size_t i = place(offset);
        while (stencil.table_[i] != most_directions &&
               stencil.offsets_[stencil.table_[i]] != offset)
            i = (i + 1) % size;
        if (stencil.table_[i] == most_directions && !stencil.add(offset)) return std::nullopt;
    }
    const std::uint64_t places = std::uint64_t{stencil.n_directions_} * at(graph.n_vertices);
    const bool is_dense = places <= places_per_arc * 2 * graph.edges.size();
    if (!is_dense || places > std::numeric_limits<std::uint32_t>::max() / 2) return std::nullopt;
    return stencil;
}

StencilNetwork::StencilNetwork(const Stencil& stencil, const FlowProblem<std::int64_t>& problem)
    : stencil_(stencil),
      degree_(stencil.n_directions()),
      words_(at(problem.graph.n_vertices) * stencil.n_directions()) {
    const auto edges = problem.graph.edges;
    for_watched(edges.size(), [&](std::size_t e) {
        const auto [tail, head] = edges[e];
        const std::uint32_t direction = stencil_.direction(edges[e]);
        const std::int64_t x = problem.flow[e];
        const std::int64_t room = problem.forward[e] - x, room_back = problem.backward[e] + x;
        words_[begin(at(tail)) + direction] = word(room, room_back);
        words_[begin(at(head)) + (direction ^ 1U)] = word(room_back, room);
    });
}

void StencilNetwork::hand_back(const FlowProblem<std::int64_t>& problem) const {
    const auto edges = problem.graph.edges;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const std::uint32_t a = begin(at(edges[e].tail)) + stencil_.direction(edges[e]);
        problem.flow[e] = problem.forward[e] - residual(a);
    }
}

}  // namespace graphtv
