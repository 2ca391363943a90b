#include "solver/router.hpp"

#include "solver/components.hpp"

namespace graphtv {

// Waves help where paths turn out long, and hurt where they are short: so the paths have a budget of
// arcs, and when it is spent, waves of lesser yield than at first are tried.
AugmentingPaths::End Router::run(FlowState& state, const Component& component,
                                 Travellers travellers, Pulse& pulse) {
    using End = AugmentingPaths::End;
    constexpr double yield_at_first = 1.0, yield_later = 0.1;
    constexpr std::int64_t arcs_per_vertex = 32, growth = 4;
    auto budget = arcs_per_vertex * static_cast<std::int64_t>(component.size());
    if (!tree_push(state, component, travellers, pulse)) return End::expired;
    if (!waves_.run(state, component, yield_at_first, travellers, pulse)) return End::expired;
    for (;; budget *= growth) {
        const End end = paths_.run(state, component, budget, pulse);
        if (end != End::exhausted) return end;
        if (!waves_.run(state, component, yield_later, travellers, pulse)) return End::expired;
    }
}

}  // namespace graphtv
