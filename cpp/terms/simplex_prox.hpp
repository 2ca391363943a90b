// The points of the unit simplex that minimise ε Σ_c u_c log u_c + ⟨ρ, u⟩ + ‖u - v‖²/(2τ).
//
// With a = 1/(τε) and y = a u the optimality conditions read
//
//     y_c + log y_c = d_c + ν,    Σ_c y_c = a,
//
// with d_c = a (v_c - τρ_c) minus its largest value. There are two solvers: one for a single vertex
// from any start, and a vectorised one for a group of vertices from a good guess, such as the
// points of the last iteration.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace graphtv {

// u = y/a, from d and a. Needs no guess and always converges.
void simplex_prox(std::span<const double> d, double a, std::span<double> u);

// The same for neighbouring vertices. Arrays hold one class after another, each with a row of the
// vertices.
//
// A round has three steps. It linearises all conditions at once, which gives ν, and with it the y_c
// to second order. It corrects the y_c for this ν by a step of fourth order. It moves ν once more,
// to first order, such that Σ y = a. Relative errors w become smaller than w⁴, for one logarithm
// per class.
class SimplexGroup {
  public:
    static constexpr std::size_t width = 8;
    using Row = std::array<double, width>;

    explicit SimplexGroup(std::size_t n_classes)
        : d(n_classes), y(n_classes), inverse_(n_classes), lag_(n_classes) {}

    Row a;
    std::vector<Row> d, y;  // y: the guess

    // Replaces y by the points u. Returns false if the guess was too bad for some vertex; y is then
    // invalid.
    bool solve();

  private:
    double improve();
    bool normalise();

    std::vector<Row> inverse_, lag_;
};

}  // namespace graphtv
