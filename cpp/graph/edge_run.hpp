// Runs of edges: consecutive edges (i, j), (i + 1, j + 1), (i + 2, j + 2), …, as along the lines of
// a grid. Loops over a run vectorise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "graph/types.hpp"

namespace graphtv {

inline constexpr std::size_t longest_run = 256;

// The length of the run at the start of `edges`, which must not be empty.
inline std::size_t length_of_run(std::span<const Edge> edges) {
    // Both ends in one number: that of the k-th edge of a run is larger by k steps.
    const auto ends = [&](std::size_t k) {
        std::uint64_t found;
        static_assert(sizeof(found) == sizeof(Edge));
        std::memcpy(&found, &edges[k], sizeof(found));
        return found;
    };
    constexpr std::uint64_t step = (std::uint64_t{1} << 32) + 1;
    const std::uint64_t first = ends(0);
    const auto goes_on = [&](std::size_t k) { return ends(k) == first + k * step; };
    const std::size_t most = edges.size() < longest_run ? edges.size() : longest_run;
    if (most < 2 || !goes_on(1)) return 1;  // fast exit for graphs without runs
    constexpr std::size_t block = 16;       // edges compared without branches
    std::size_t length = 2;
    for (bool all = true; all && length + block <= most; length += all ? block : 0) {
        std::uint64_t different = 0;
        for (std::size_t k = length; k < length + block; ++k)
            different |= ends(k) ^ (first + k * step);
        all = different == 0;
    }
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
