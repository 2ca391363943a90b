// Dual flows recovered from a solution.
#pragma once

#include <algorithm>
#include <cmath>

namespace graphtv {

// The flow from a vertex with value u to a neighbour with value v over an edge of weight w, where
// conservation demands a given flow. It is ±w where u jumps. A jump of the size of rounding whose
// sign contradicts conservation is treated as a tie.
inline double bounded_flow(double conserved, double w, double u, double v) {
    const double drop = u - v, saturated = std::copysign(w, drop);
    const bool jumps = std::abs(drop) > 1e-14 * (std::abs(u) + std::abs(v) + w) ||
                       (drop != 0.0 && std::abs(conserved - saturated) <= 1e-6 * w);
    return jumps ? saturated : std::clamp(conserved, -w, w);
}

}  // namespace graphtv
