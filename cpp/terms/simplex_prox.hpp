// The points of the unit simplex that minimise ε Σ_c u_c log u_c + ⟨ρ, u⟩ + ‖u - v‖²/(2τ).
//
// With a = 1/(τε) and y = a u the optimality conditions read
//
//     y_c + log y_c = d_c + ν,    Σ_c y_c = a,
//
// with d_c = a (v_c - τρ_c) less its greatest value. One vertex from anywhere, or a group of them, in
// vector instructions, from a good guess: the last iteration's points.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace graphtv {

// u = y/a, from d and a. Starts from nothing and always arrives.
void simplex_prox(std::span<const double> d, double a, std::span<double> u);

// The same for neighbouring vertices. Class after class, each with a row of the vertices.
//
// A round linearises all conditions at once, which gives ν and with it the y_c to second order; puts
// these right, ν being given, by a step of fourth order; and moves ν once more, to first order, such
// that Σ y = a. From relative errors w that leaves less than w⁴, for one logarithm a class.
class SimplexGroup {
  public:
    static constexpr std::size_t width = 8;
    using Row = std::array<double, width>;

    explicit SimplexGroup(std::size_t n_classes)
        : d(n_classes), y(n_classes), inverse_(n_classes), lag_(n_classes) {}

    Row a;
    std::vector<Row> d, y;  // y: the guess

    // Makes y the points u. False if the guess was too bad for some vertex: y is of no use then.
    bool solve();

  private:
    double improve();
    bool normalise();

    std::vector<Row> inverse_, lag_;
};

}  // namespace graphtv
