#include "solver/descent/lattice_pyramid.hpp"

#include <algorithm>

namespace graphtv {

namespace {

// The shortest axis of a grid that is coarsened.
constexpr std::size_t shortest = 8;

// The iteration on a coarse grid ends at this relative gap or after this many iterations.
constexpr double coarse_gap = 4e-3;
constexpr int most_iterations = 32;

std::vector<Vertex> coarse_shape(const Lattice& fine) {
    std::vector<Vertex> shape;
    for (auto axis = fine.axes().rbegin(); axis != fine.axes().rend(); ++axis)
        shape.push_back(static_cast<Vertex>((axis->length + 1) / 2));
    return shape;
}

bool is_even(const Lattice& lattice) {
    return std::ranges::all_of(lattice.axes(), [](auto& axis) { return axis.length % 2 == 0; });
}

bool can_be_coarsened(const Lattice& lattice) {
    return std::ranges::all_of(lattice.axes(), [](auto& axis) { return axis.length >= shortest; });
}

// Calls body(start of the fine line, start of its coarse line) for every line along the last axis.
template <class Body>
void for_each_line(const Lattice& fine, const Lattice& coarse, const Body& body) {
    for (std::size_t line = 0; line < fine.n_vertices(); line += fine.width()) {
        std::size_t coarse_line = 0;
        for (std::size_t a = 1; a < fine.axes().size(); ++a) {
            const auto& [stride, length, x, y, capacity] = fine.axes()[a];
            coarse_line += line / stride % length / 2 * coarse.axes()[a].stride;
        }
        body(line, coarse_line);
    }
}

// Calls body(axis, place of the lower end, place of its block) for every edge that joins two
// blocks.
template <class Body>
void for_each_edge_across(const Lattice& fine, const Lattice& coarse, const Body& body) {
    for_each_line(fine, coarse, [&](std::size_t line, std::size_t coarse_line) {
        for (std::size_t column = 1; column + 1 < fine.width(); column += 2)
            body(0, fine.place(line, column), coarse.place(coarse_line, column / 2));
        for (std::size_t a = 1; a < fine.axes().size(); ++a) {
            const auto& axis = fine.axes()[a];
            const std::size_t coordinate = line / axis.stride % axis.length;
            if (coordinate % 2 == 0 || coordinate + 1 == axis.length) continue;
            for (std::size_t column = 0; column < fine.width(); ++column)
                body(a, fine.place(line, column), coarse.place(coarse_line, column / 2));
        }
    });
}

}  // namespace

Lattice coarsened(const Lattice& fine) {
    // If all blocks have the same weight, the weight is set to 1 and flows are scaled accordingly.
    const bool is_plain = !fine.is_weighted() && is_even(fine);
    const float block = static_cast<float>(std::size_t{1} << fine.axes().size());
    const float unit = is_plain ? block : 1.0F;
    Lattice coarse(coarse_shape(fine), !is_plain);

    std::vector<float> weight(coarse.n_vertices());
    for_each_line(fine, coarse, [&](std::size_t line, std::size_t coarse_line) {
        for (std::size_t column = 0; column < fine.width(); ++column) {
            const std::size_t i = fine.place(line, column);
            const std::size_t k = coarse.place(coarse_line, column / 2);
            const float c = fine.weight(i);
            weight[k] += c;
            coarse.g()[k] += c * fine.g()[i];
        }
    });
    for (std::size_t k = 0; k < weight.size(); ++k) {
        coarse.g()[k] /= weight[k];
        if (!is_plain) coarse.inverse()[k] = 1.0F / weight[k];
    }
    for_each_edge_across(fine, coarse, [&](std::size_t a, std::size_t lower, std::size_t k) {
        coarse.axes()[a].capacity[k] += fine.axes()[a].capacity[lower] / unit;
    });
    return coarse;
}

void prolong(const Lattice& coarse, Lattice& fine) {
    for (auto& axis : fine.axes()) std::ranges::fill(axis.x, 0.0F);
    for_each_edge_across(fine, coarse, [&](std::size_t a, std::size_t lower, std::size_t k) {
        const auto& wide = coarse.axes()[a];
        auto& narrow = fine.axes()[a];
        if (wide.capacity[k] > 0.0F)
            narrow.x[lower] = narrow.capacity[lower] * (wide.x[k] / wide.capacity[k]);
    });
}

bool start_from_coarse(Lattice& fine, Watch& watch, int n_threads) {
    std::vector<Lattice> levels;
    for (const Lattice* last = &fine; can_be_coarsened(*last); last = &levels.back()) {
        if (watch.expired()) return false;
        levels.push_back(coarsened(*last));
    }
    while (!levels.empty()) {
        Lattice& level = levels.back();
        level.restart(n_threads);
        bool is_good = false;
        for (int done = 0; done < most_iterations && !is_good; done += 2 * Lattice::longest_step) {
            for (int twice = 0; twice < 2; ++twice)
                if (level.step(watch, n_threads, Lattice::longest_step) == 0) return false;
            const double dual = level.dual_value(n_threads);
            is_good = level.primal_value(n_threads) - dual <= coarse_gap * dual;
        }
        prolong(level, levels.size() > 1 ? levels[levels.size() - 2] : fine);
        levels.pop_back();
    }
    fine.restart(n_threads);
    return true;
}

}  // namespace graphtv
