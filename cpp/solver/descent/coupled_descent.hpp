// Accelerated coordinate descent over single edges for coupled total variation with the squared loss,
// on any graph: edge descent (edge_descent.hpp) with a ball over the channels in place of an interval.
//
//     max_x  -½ ‖f - C⁻¹∇ᵀx‖²_C,   ‖x_e‖ ≤ ω_e
//
// The vertex weights c are the same in all channels. So the dual objective is, as a function of the
// flow of one edge, a paraboloid with circular level sets, and its maximum over the ball is the
// projection of its maximum. One iteration updates the edges in a fixed order, from an extrapolated
// flow y. All is computed in units of the range of the data. In single precision, the primal point is
// a smoothed mean of the iterates (smooth_mean.hpp).
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/coupled_edges.hpp"
#include "solver/descent/momentum.hpp"
#include "solver/descent/smooth_mean.hpp"

namespace graphtv {

template <class Real>
class CoupledDescent {
  public:
    // The graph is borrowed. The signal has one channel after another. Vertex weights
    // are positive, or empty for ones. Starts from p = 0.
    CoupledDescent(const EdgeList& graph, std::span<const double> weights,
                   std::span<const double> signal, std::span<const double> vertex_weights);

    // Starts from a feasible dual point.
    void start_from(std::span<const double> p);

    // One iteration. Returns 0 if the watch expired; the point is then feasible.
    int step(Watch& watch, int n_threads, int at_most);

    // u = f - C⁻¹Kᵀp; in single precision the point of the last primal value, until the next step.
    void u(std::span<double> out);

    // p by edge, feasible to rounding.
    void dual(std::span<double> p, int n_threads = 1) const;

    // The primal and the dual objective, to rounding.
    double primal_value();
    double dual_value();

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    using Values = std::vector<Real>;

    CoupledEdges<Real> edges();
    bool sweep(Watch& watch, double& uphill);
    void apply(const Values& flow, Values& out) const;
    template <class Body>
    void for_blocks(const Body& body) const;
    double objective(const Values& u);
    void diffuse(Values& u, Real width);
    void restart();
    void settle();
    void forget_momentum();
    double weight(std::size_t i) const {
        return inverse_.empty() ? 1.0 : 1.0 / static_cast<double>(inverse_[i]);
    }

    EdgeList graph_;
    std::size_t n_channels_, width_;  // see CoupledEdges
    Values capacity_;                 // ω over the range
    Values inverse_;                  // 1/c, or empty for ones
    Values g_;                        // f = mean + range g
    std::vector<double> means_;       // of the channels of f
    double range_ = 0.0;
    Values x_, y_;  // the flow and its extrapolation
    Values u_, r_;  // g - C⁻¹∇ᵀx and g - C⁻¹∇ᵀy
    SmoothMean<Values> mean_;
    double total_capacity_ = 0.0;  // Σ ω over the range
    Momentum momentum_;
    int drift_ = 0;         // iterations since u and r were recomputed
    bool is_torn_ = false;  // the watch ended a step: u and r are inconsistent with x
};

}  // namespace graphtv
