// Accelerated block descent over the forests, for the squared loss G(u) = ½ Σ c_i (u_i - f_i)².
//
// With q_l = K_lᵀp_l the dual problem is (up to its sign and a constant)
//
//     min ½ Σ_i c_i u_i²,   u = f - C⁻¹ Σ_l q_l,   q_l ∈ {K_lᵀp_l : |p_l| ≤ 1},
//
// a projection onto a sum of L sets. Each block has an exact minimiser given the others: with
// z = f - C⁻¹ Σ_{k≠l} q_k it is q_l = C (z - v), v = prox of TV_l at z in the metric C, and u becomes
// v. One iteration sweeps all blocks once, starting from points y_l extrapolated as Nesterov does:
//
//     y_l = q_l + β (q_l - q_l of the last iteration),   β = (t - 1) / t',  t' = (1 + √(1 + 4t²)) / 2.
//
// For L = 2 this is accelerated alternating minimisation, that is, FISTA on the problem from which
// the first block has been eliminated (Beck & Teboulle 2009; Chambolle, Tan & Vaiter 2017). For L >
// 2 there is no proof of convergence with momentum. The momentum restarts when it points uphill
// (O'Donoghue & Candès 2015) or when the dual objective decreases. A sweep without momentum never
// decreases the dual objective.
//
// On a grid with two axes the first block is eliminated explicitly: it starts from z = f - y_2, so
// that q_1, y_1 and the previous u need not be stored. This halves the memory traffic.
//
// On other graphs the slots dominate the memory. Instead of y_l, they store the last change of q_l
// in single precision. The change is rounded before it is added to q_l. So q_l is feasible up to
// the rounding of its last change to single precision, and u = f - C⁻¹ Σ q_l holds to full
// precision.
//
// Departure: the PDHG of the paper updates all blocks at once from the same ū.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/watch.hpp"
#include "solver/descent/momentum.hpp"
#include "solver/forests.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

class BlockDescent {
  public:
    // f and the vertex weights c > 0 (empty: ones) are indexed by vertex. The arrays and the
    // forests are borrowed and must outlive this object. The forests must have been built with the
    // same c.
    BlockDescent(Forests& forests, std::span<const double> signal,
                 std::span<const double> vertex_weights);

    // Starts from a dual point by edge, |p| ≤ 1. The default start is p = 0.
    void start_from(std::span<const double> p, int n_threads = 1);

    // One iteration. Returns false if the watch expired; the point is then feasible, and u is
    // recomputed on demand.
    bool step(Watch& watch, int n_threads);

    // u = f - C⁻¹ Σ q_l, to rounding.
    std::span<const double> u() {
        settle();
        return u_;
    }

    // Σ_i c_i (f_i² - u_i²) / 2: the dual objective without the conjugate of a Huber penalty.
    double dual_value() { return squared_dual_value(f_, u(), c_); }

    // p by edge, |p| ≤ 1.
    void dual(std::span<double> p, int n_threads = 1);
    void rounded_dual(std::span<Rounded> p, int n_threads = 1);

    // Releases the memory that only the next step needs. That step then starts without momentum.
    void rest();

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }
    std::size_t n_bytes() const;

  private:
    struct Progress {
        double uphill = 0.0;    // ⟨y - q, q - q of the last iteration⟩ in the metric C⁻¹
        double energy = 0.0;    // ½ Σ c_i (u_i - centre)²
        double movement = 0.0;  // ½ Σ c_i (u_i - u_i of the last iteration)²
    };
    struct PartialProgress {
        PackSum uphill, energy;
    };
    // q and y are divided by c, so they have the units of u. The eliminated block has neither. A
    // block has either y or `gain`, the difference between q and q of the last iteration.
    struct Block {
        std::vector<double> q, y;
        std::vector<float> gain;
        ForestMemory memory;
        std::vector<PartialProgress> progress;
    };
    enum class Scheme : std::uint8_t { pair, full, compact };
    static Scheme scheme_of(const Forests& forests, std::span<const double> signal);
    double weight(std::size_t i) const { return c_.empty() ? 1.0 : c_[i]; }
    template <class Values>
    Values weights(std::size_t i) const {
        return c_.empty() ? Values(1.0) : Values::load(c_.data() + i);
    }
    bool eliminates_first() const { return scheme_ == Scheme::pair; }
    void wake();
    bool sweep_pair(Watch& watch, int n_threads, Progress& total);
    bool sweep_all(Watch& watch, int n_threads, Progress& total);
    bool sweep_compactly(Watch& watch, int n_threads, Progress& total);
    void add_uphill(std::size_t block, Progress& total) const;
    void extrapolate(int n_threads, Progress& total);
    void forget_momentum(int n_threads);
    void recompute(int n_threads);
    template <class Real>
    void recover(std::span<Real> p, int n_threads);
    void settle() {
        if (torn_by_ > 0) recompute(torn_by_);
    }

    Forests& forests_;
    std::span<const double> f_, c_;
    Scheme scheme_;
    std::vector<double> u_;  // f - Σ q
    std::vector<double> r_;  // f - Σ y; intermediate values during a sweep; unused by a pair
    std::vector<Block> blocks_;
    std::vector<Progress> partial_progress_;  // of passes over vertices
    Momentum momentum_;
    double last_beta_ = 0.0;
    bool is_resting_ = false;
    int torn_by_ = 0;  // number of threads of a step that the watch ended: u is inconsistent with q
};

}  // namespace graphtv
