#include "solver/block_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace graphtv {

namespace {
constexpr std::size_t vertices_per_task = 16384;
}

BlockDescent::BlockDescent(Forests& forests, std::span<const double> signal,
                           std::span<const double> vertex_weights)
    : forests_(forests),
      f_(signal),
      c_(vertex_weights),
      u_(signal.begin(), signal.end()),
      r_(u_),
      partial_energy_((signal.size() + vertices_per_task - 1) / vertices_per_task) {
    centre_ = std::accumulate(f_.begin(), f_.end(), 0.0) / static_cast<double>(f_.size() + 1);
    blocks_.reserve(forests.size());
    for (std::size_t l = 0; l < forests.size(); ++l) {
        const auto& forest = forests[l];
        blocks_.push_back({std::vector<double>(forest.n_slots()),
                           std::vector<double>(forest.n_slots()), ForestMemory(forest),
                           std::vector<Progress>(static_cast<std::size_t>(forest.n_shards()))});
    }
    recompute();
}

void BlockDescent::start_from(std::span<const double> p) {
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        auto& q = blocks_[l].q;
        forests_[l].adjoint(p, q);
        if (!c_.empty())
            forests_[l].for_each_slot(
                1, [&](std::size_t slot, std::size_t vertex) { q[slot] /= c_[vertex]; });
    }
    recompute();
}

// u from the q_l, without momentum.
void BlockDescent::recompute() {
    std::copy(f_.begin(), f_.end(), u_.begin());
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        auto& [q, y, memory, progress] = blocks_[l];
        std::copy(q.begin(), q.end(), y.begin());
        forests_[l].for_each_slot(
            1, [&](std::size_t slot, std::size_t vertex) { u_[vertex] -= q[slot]; });
    }
    std::copy(u_.begin(), u_.end(), r_.begin());
    energy_ = 0.0;
    for (std::size_t i = 0; i < u_.size(); ++i)
        energy_ += 0.5 * weight(i) * (u_[i] - centre_) * (u_[i] - centre_);
    t_ = 1.0;
}

bool BlockDescent::step(Watch& watch, int n_threads) {
    const double t_next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t_ * t_));
    beta_ = (t_ - 1.0) / t_next;
    Progress total;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        auto& [q, y, memory, progress] = blocks_[l];
        const bool finished = forests_[l].sweep(
            &memory, forests_.workspace(), n_threads, &watch, std::span(progress),
            [&](std::size_t slot, std::size_t vertex) { return r_[vertex] + y[slot]; },
            [&](std::size_t slot, std::size_t vertex, double z, double v, Progress& partial) {
                const double q_new = z - v, change = q_new - q[slot];
                partial.uphill += weight(vertex) * (y[slot] - q_new) * change;
                y[slot] = q_new + beta_ * change;
                q[slot] = q_new;
                r_[vertex] = v;
            });
        if (!finished) {
            recompute();
            return false;
        }
        for (const auto& partial : progress) total.uphill += partial.uphill;
    }

    // r is the new u now. Since Σ (q - q of the last iteration) is u's own change, f - Σ y follows
    // from u alone.
    const auto extrapolate = [&](int task, int) {
        const auto from = static_cast<std::size_t>(task) * vertices_per_task;
        const auto to = std::min(from + vertices_per_task, u_.size());
        double energy = 0.0;
        for (auto i = from; i < to; ++i) {
            const double u = r_[i], centred = u - centre_;
            energy += weight(i) * centred * centred;
            r_[i] = u + beta_ * (u - u_[i]);
            u_[i] = u;
        }
        partial_energy_[static_cast<std::size_t>(task)] = 0.5 * energy;
    };
    parallel_for(static_cast<int>(partial_energy_.size()), n_threads, std::cref(extrapolate));
    const double energy = std::accumulate(partial_energy_.begin(), partial_energy_.end(), 0.0);

    restarted_ = total.uphill > 0.0 || energy > energy_ * (1.0 + 1e-14);
    energy_ = energy;
    t_ = t_next;
    if (restarted_) forget_momentum(n_threads);
    return true;
}

void BlockDescent::forget_momentum(int n_threads) {
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        auto& [q, y, memory, progress] = blocks_[l];
        forests_[l].for_each_slot(n_threads,
                                  [&](std::size_t slot, std::size_t) { y[slot] = q[slot]; });
    }
    std::copy(u_.begin(), u_.end(), r_.begin());
    t_ = 1.0;
}

double BlockDescent::dual_value() const {
    // (f² - u²)/2 = (f - u)(f + u)/2: no cancellation where u is near f.
    double sum = 0.0;
    for (std::size_t i = 0; i < u_.size(); ++i)
        sum += 0.5 * weight(i) * (f_[i] - u_[i]) * (f_[i] + u_[i]);
    return sum;
}

void BlockDescent::dual(std::span<double> p) const {
    std::vector<double> q;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        q = blocks_[l].q;
        if (!c_.empty())
            forests_[l].for_each_slot(
                1, [&](std::size_t slot, std::size_t vertex) { q[slot] *= c_[vertex]; });
        forests_[l].recover(q, p);
    }
}

std::size_t BlockDescent::n_bytes() const {
    std::size_t total = (u_.size() + r_.size()) * sizeof(double);
    for (const auto& block : blocks_)
        total += (block.q.size() + block.y.size()) * sizeof(double) + block.memory.n_bytes();
    return total;
}

}  // namespace graphtv
