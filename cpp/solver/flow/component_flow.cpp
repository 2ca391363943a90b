#include "solver/flow/component_flow.hpp"

#include "solver/flow/components.hpp"

namespace graphtv {

// Level pushes help where paths are long and hurt where paths are short. So the paths may use a
// limited number of arcs. After that, level pushes are tried again, with a lower threshold.
AugmentingPaths::End ComponentFlow::run(FlowState& state, const Component& component,
                                        WorkBudget& budget) {
    using End = AugmentingPaths::End;
    constexpr double threshold_at_first = 1.0, threshold_later = 0.1;
    constexpr std::int64_t arcs_per_vertex = 32, growth = 4;
    auto most_arcs = arcs_per_vertex * static_cast<std::int64_t>(component.size());
    // Where room is everywhere, excess should not travel along a tree.
    if (component.level == Level::at && !tree_push(state, component, budget)) return End::expired;
    if (!level_push_.run(state, component, threshold_at_first, budget)) return End::expired;
    for (;; most_arcs *= growth) {
        const End end = paths_.run(state, component, most_arcs, budget);
        if (end != End::exhausted) return end;
        if (!level_push_.run(state, component, threshold_later, budget)) return End::expired;
    }
}

}  // namespace graphtv
