#include "solver/block_descent.hpp"

#include <algorithm>

#include "terms/sum.hpp"

namespace graphtv {

namespace {
constexpr std::size_t vertices_per_task = 16384;
}

BlockDescent::BlockDescent(Forests& forests, std::span<const double> signal,
                           std::span<const double> vertex_weights)
    : forests_(forests),
      f_(signal),
      c_(vertex_weights),
      eliminates_first_(forests.size() == 2 && forests[0].is_lattice() && forests[1].is_lattice() &&
                        forests[0].covers(signal.size()) && forests[1].covers(signal.size())),
      u_(signal.begin(), signal.end()),
      momentum_(signal) {
    if (!eliminates_first_) {
        r_ = u_;
        partial_energy_.resize((signal.size() + vertices_per_task - 1) / vertices_per_task);
    }
    blocks_.reserve(forests.size());
    for (std::size_t l = 0; l < forests.size(); ++l) {
        const auto& forest = forests[l];
        const std::size_t n_slots = eliminates_first_ && l == 0 ? 0 : forest.n_slots();
        blocks_.push_back(
            {std::vector<double>(n_slots), std::vector<double>(n_slots), ForestMemory(forest),
             std::vector<PartialProgress>(static_cast<std::size_t>(forest.n_shards()))});
    }
}

void BlockDescent::start_from(std::span<const double> p, int n_threads) {
    for (std::size_t l = eliminates_first_ ? 1 : 0; l < blocks_.size(); ++l) {
        auto& q = blocks_[l].q;
        forests_[l].adjoint(p, q, n_threads);
        if (!c_.empty())
            forests_[l].for_each_slot(
                n_threads, [&](std::size_t slot, std::size_t vertex) { q[slot] /= c_[vertex]; });
    }
    recompute(n_threads);
}

// u from the q_l, without momentum.
void BlockDescent::recompute(int n_threads) {
    for (auto& block : blocks_) std::copy(block.q.begin(), block.q.end(), block.y.begin());
    if (eliminates_first_) {
        const auto& q = blocks_[1].q;
        forests_[0].sweep(
            &blocks_[0].memory, forests_.workspace(), n_threads, nullptr,
            std::span(blocks_[0].progress),
            [&](std::size_t, std::size_t vertex) { return f_[vertex] - q[vertex]; },
            [&](std::size_t, std::size_t vertex, double, double v, PartialProgress&) {
                u_[vertex] = v;
            });
    } else {
        std::copy(f_.begin(), f_.end(), u_.begin());
        for (std::size_t l = 0; l < blocks_.size(); ++l)
            forests_[l].for_each_slot(n_threads, [&](std::size_t slot, std::size_t vertex) {
                u_[vertex] -= blocks_[l].q[slot];
            });
        std::copy(u_.begin(), u_.end(), r_.begin());
    }
    const double centre = momentum_.centre();
    double energy = 0.0;
    for (std::size_t i = 0; i < u_.size(); ++i)
        energy += 0.5 * weight(i) * (u_[i] - centre) * (u_[i] - centre);
    momentum_.start(energy);
    torn_by_ = 0;
}

bool BlockDescent::step(Watch& watch, int n_threads) {
    settle();
    momentum_.advance();
    Progress total;
    const bool finished = eliminates_first_ ? sweep_pair(watch, n_threads, total)
                                            : sweep_all(watch, n_threads, total);
    if (!finished) {
        torn_by_ = std::max(n_threads, 1);
        return false;
    }
    if (!eliminates_first_) extrapolate(n_threads, total);
    if (momentum_.restarts(total.uphill, total.energy)) forget_momentum(n_threads);
    return true;
}

bool BlockDescent::sweep_all(Watch& watch, int n_threads, Progress& total) {
    const double beta = momentum_.beta();
    double* r = r_.data();
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        auto& [qs, ys, memory, progress] = blocks_[l];
        double *q = qs.data(), *y = ys.data();
        const bool finished = forests_[l].sweep(
            &memory, forests_.workspace(), n_threads, &watch, std::span(progress),
            [=]<std::size_t n>(Neighbours<n>, std::size_t slot, std::size_t vertex) {
                return Pack<n>::load(r + vertex) + Pack<n>::load(y + slot);
            },
            [=, this]<std::size_t n>(Neighbours<n>, std::size_t slot, std::size_t vertex, Pack<n> z,
                                     Pack<n> v, PartialProgress& partial) {
                const Pack<n> q_new = z - v, change = q_new - Pack<n>::load(q + slot);
                const Pack<n> ahead = Pack<n>::load(y + slot) - q_new;
                partial.uphill.add(weights<Pack<n>>(vertex) * ahead * change);
                (q_new + Pack<n>(beta) * change).store(y + slot);
                q_new.store(q + slot);
                v.store(r + vertex);
            });
        if (!finished) return false;
        // y of the first block cancels in its own z: it takes no part in the momentum.
        if (l > 0)
            for (const auto& partial : progress) total.uphill += partial.uphill.total();
    }
    return true;
}

bool BlockDescent::sweep_pair(Watch& watch, int n_threads, Progress& total) {
    auto& [qs, ys, memory, progress] = blocks_[1];
    const double beta = momentum_.beta(), centre = momentum_.centre();
    const double* f = f_.data();
    double *q = qs.data(), *y = ys.data(), *u = u_.data();
    const bool finished =
        forests_[0].sweep(
            &blocks_[0].memory, forests_.workspace(), n_threads, &watch,
            std::span(blocks_[0].progress),
            [=]<std::size_t n>(Neighbours<n>, std::size_t, std::size_t vertex) {
                return Pack<n>::load(f + vertex) - Pack<n>::load(y + vertex);
            },
            [=]<std::size_t n>(Neighbours<n>, std::size_t, std::size_t vertex, Pack<n>, Pack<n> v,
                               PartialProgress&) { v.store(u + vertex); }) &&
        forests_[1].sweep(
            &memory, forests_.workspace(), n_threads, &watch, std::span(progress),
            [=]<std::size_t n>(Neighbours<n>, std::size_t, std::size_t vertex) {
                return Pack<n>::load(u + vertex) + Pack<n>::load(y + vertex);
            },
            [=]<std::size_t n>(Neighbours<n>, std::size_t, std::size_t vertex, Pack<n> z, Pack<n> v,
                               PartialProgress& partial) {
                const Pack<n> q_new = z - v, change = q_new - Pack<n>::load(q + vertex);
                const Pack<n> centred = v - Pack<n>(centre);
                partial.uphill.add((Pack<n>::load(y + vertex) - q_new) * change);
                partial.energy.add(Pack<n>(0.5) * centred * centred);
                (q_new + Pack<n>(beta) * change).store(y + vertex);
                q_new.store(q + vertex);
                v.store(u + vertex);
            });
    for (const auto& partial : progress) {
        total.uphill += partial.uphill.total();
        total.energy += partial.energy.total();
    }
    return finished;
}

// After a sweep r is the new u. Since Σ (q - q of the last iteration) is u's own change, f - Σ y
// follows from u alone.
void BlockDescent::extrapolate(int n_threads, Progress& total) {
    const double beta = momentum_.beta(), centre = momentum_.centre();
    const auto extrapolate_part = [&](int task, int) {
        const auto from = static_cast<std::size_t>(task) * vertices_per_task;
        const auto to = std::min(from + vertices_per_task, u_.size());
        double energy = 0.0;
        for (auto i = from; i < to; ++i) {
            const double u = r_[i], centred = u - centre;
            energy += weight(i) * centred * centred;
            r_[i] = u + beta * (u - u_[i]);
            u_[i] = u;
        }
        partial_energy_[static_cast<std::size_t>(task)] = 0.5 * energy;
    };
    parallel_for(static_cast<int>(partial_energy_.size()), n_threads, std::cref(extrapolate_part));
    for (const double energy : partial_energy_) total.energy += energy;
}

// y = q.
void BlockDescent::forget_momentum(int n_threads) {
    for (std::size_t l = eliminates_first_ ? 1 : 0; l < blocks_.size(); ++l) {
        auto& [q, y, memory, progress] = blocks_[l];
        forests_[l].for_each_slot(n_threads,
                                  [&](std::size_t slot, std::size_t) { y[slot] = q[slot]; });
    }
    if (!eliminates_first_) std::copy(u_.begin(), u_.end(), r_.begin());
}

void BlockDescent::dual(std::span<double> p, int n_threads) {
    settle();
    std::vector<double> q;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        if (eliminates_first_ && l == 0) {  // what the other block leaves
            q.resize(u_.size());
            for_shards(q.size(), n_threads, [&](std::size_t first, std::size_t last) {
                for (auto i = first; i < last; ++i) q[i] = f_[i] - u_[i] - blocks_[1].q[i];
            });
        } else {
            q = blocks_[l].q;
        }
        if (!c_.empty())
            forests_[l].for_each_slot(
                n_threads, [&](std::size_t slot, std::size_t vertex) { q[slot] *= c_[vertex]; });
        forests_[l].recover(q, p, n_threads);
    }
}

std::size_t BlockDescent::n_bytes() const {
    std::size_t total = (u_.size() + r_.size()) * sizeof(double);
    for (const auto& block : blocks_)
        total += (block.q.size() + block.y.size()) * sizeof(double) + block.memory.n_bytes();
    return total;
}

}  // namespace graphtv
