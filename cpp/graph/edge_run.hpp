// Runs of edges: consecutive edges (i, j), (i + 1, j + 1), (i + 2, j + 2), …, as along the lines of
// a grid. Loops over a run vectorise.
#pragma once

#include <cstddef>
#include <span>

#include "graph/types.hpp"

namespace graphtv {

inline constexpr std::size_t longest_run = 256;

// The length of the run at the start of `edges`, which must not be empty.
inline std::size_t length_of_run(std::span<const Edge> edges) {
    const auto [tail, head] = edges[0];
    const auto goes_on = [&](std::size_t k) {
        const auto step = static_cast<Vertex>(k);
        return (edges[k].tail - step == tail) & (edges[k].head - step == head);
    };
    const std::size_t most = edges.size() < longest_run ? edges.size() : longest_run;
    if (most < 2 || !goes_on(1)) return 1;  // fast exit for graphs without runs
    constexpr std::size_t block = 16;       // edges compared without branches
    std::size_t length = 2;
    for (bool all = true; all && length + block <= most; length += all ? block : 0)
        for (std::size_t k = length; k < length + block; ++k) all &= goes_on(k);
    while (length < most && goes_on(length)) ++length;
    return length;
}

// Splits the edges [first, last) into runs and calls body(first edge, length) for each of them.
template <class Body>
void for_each_run(std::span<const Edge> edges, std::size_t first, std::size_t last,
                  const Body& body) {
    while (first < last) {
        const std::size_t length = length_of_run(edges.subspan(first, last - first));
        body(first, length);
        first += length;
    }
}

}  // namespace graphtv
