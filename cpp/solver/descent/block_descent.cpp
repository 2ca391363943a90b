#include "solver/descent/block_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "terms/sum.hpp"
#include "tv/forest_sweep.hpp"

namespace graphtv {

namespace {
constexpr std::size_t vertices_per_task = 16384;
}

BlockDescent::Scheme BlockDescent::scheme_of(const Forests& forests,
                                             std::span<const double> signal) {
    bool is_grid = true, is_covered = true;
    for (std::size_t l = 0; l < forests.size(); ++l) {
        is_grid = is_grid && forests[l].is_lattice();
        is_covered = is_covered && forests[l].covers(signal.size());
    }
    if (is_grid) return forests.size() == 2 && is_covered ? Scheme::pair : Scheme::full;
    // Single precision must represent the changes of q, which the weights and the signal bound.
    // Changes that matter must be normal numbers.
    constexpr double large = 0x1p60, small = 0x1p-60;
    double largest = 0.0;
    for (const double f : signal) largest = std::max(largest, std::abs(f));
    const bool is_moderate = largest < large && (largest == 0.0 || largest > small);
    // Huber's penalty with a small width has a large curvature, which needs q in full precision.
    const bool may_round = is_moderate && forests.largest_weight() < large && !forests.is_huber();
    return may_round ? Scheme::compact : Scheme::full;
}

BlockDescent::BlockDescent(Forests& forests, std::span<const double> signal,
                           std::span<const double> vertex_weights)
    : forests_(forests),
      f_(signal),
      c_(vertex_weights),
      scheme_(scheme_of(forests, signal)),
      u_(signal.begin(), signal.end()),
      momentum_(signal) {
    if (!eliminates_first())
        partial_progress_.resize((signal.size() + vertices_per_task - 1) / vertices_per_task);
    blocks_.resize(forests.size());
    for (std::size_t l = 0; l < forests.size(); ++l) {
        if (l > 0 || !eliminates_first()) blocks_[l].q.resize(forests[l].n_slots());
        blocks_[l].progress.resize(static_cast<std::size_t>(forests[l].n_shards()));
    }
    wake();
}

// Allocates the memory that rest() released. Starts without momentum.
void BlockDescent::wake() {
    if (!eliminates_first()) r_ = u_;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        Block& block = blocks_[l];
        block.memory = ForestMemory(forests_[l]);
        if (scheme_ == Scheme::compact)
            block.gain.assign(block.q.size(), 0.0F);
        else
            block.y = block.q;
    }
    is_resting_ = false;
}

void BlockDescent::rest() {
    settle();
    momentum_.start();
    const auto give_back = [](auto& values) { std::exchange(values, {}); };
    give_back(r_);
    for (Block& block : blocks_) {
        give_back(block.y);
        give_back(block.gain);
        give_back(block.memory);
    }
    forests_.workspace().release();
    is_resting_ = true;
}

void BlockDescent::start_from(std::span<const double> p, int n_threads) {
    if (is_resting_) wake();
    for (std::size_t l = eliminates_first() ? 1 : 0; l < blocks_.size(); ++l) {
        auto& q = blocks_[l].q;
        forests_[l].adjoint(p, q, n_threads);
        if (!c_.empty())
            forests_[l].for_each_slot(
                n_threads, [&](std::size_t slot, std::size_t vertex) { q[slot] /= c_[vertex]; });
    }
    recompute(n_threads);
}

// Computes u from the q_l and resets the momentum.
void BlockDescent::recompute(int n_threads) {
    if (eliminates_first()) {
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
    }
    forget_momentum(n_threads);
    const double centre = momentum_.centre();
    double energy = 0.0;
    for (std::size_t i = 0; i < u_.size(); ++i)
        energy += 0.5 * weight(i) * (u_[i] - centre) * (u_[i] - centre);
    momentum_.start(energy);
    torn_by_ = 0;
}

bool BlockDescent::step(Watch& watch, int n_threads) {
    settle();
    if (is_resting_) wake();
    momentum_.advance();
    Progress total;
    const bool finished = scheme_ == Scheme::pair   ? sweep_pair(watch, n_threads, total)
                          : scheme_ == Scheme::full ? sweep_all(watch, n_threads, total)
                                                    : sweep_compactly(watch, n_threads, total);
    if (!finished) {
        torn_by_ = std::max(n_threads, 1);
        return false;
    }
    if (!eliminates_first()) extrapolate(n_threads, total);
    // The error of the energy that rounding the changes of q may cause.
    constexpr double precision = 1e-7;
    const double slack =
        scheme_ == Scheme::compact ? precision * std::sqrt(total.energy * total.movement) : 0.0;
    if (momentum_.restarts(total.uphill, total.energy, slack)) forget_momentum(n_threads);
    return true;
}

// y of the first block cancels in its own z, so it does not contribute to the momentum.
void BlockDescent::add_uphill(std::size_t block, Progress& total) const {
    if (block == 0) return;
    for (const auto& partial : blocks_[block].progress) total.uphill += partial.uphill.total();
}

bool BlockDescent::sweep_compactly(Watch& watch, int n_threads, Progress& total) {
    const double ahead = last_beta_;
    double* r = r_.data();
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        Block& block = blocks_[l];
        double* q = block.q.data();
        float* gain = block.gain.data();
        const bool finished = forests_[l].sweep(
            &block.memory, forests_.workspace(), n_threads, &watch, std::span(block.progress),
            [=](std::size_t slot, std::size_t vertex) {
                return r[vertex] + (q[slot] + ahead * double{gain[slot]});
            },
            [=, this](std::size_t slot, std::size_t vertex, double z, double v,
                      PartialProgress& partial) {
                const double q_old = q[slot], y = q_old + ahead * double{gain[slot]};
                const auto change = static_cast<float>(z - v - q_old);
                const double q_new = q_old + double{change};
                partial.uphill.add(Pack<1>(weight(vertex) * (y - q_new) * double{change}));
                gain[slot] = change;
                q[slot] = q_new;
                r[vertex] = z - q_new;
            });
        if (!finished) return false;
        add_uphill(l, total);
    }
    last_beta_ = momentum_.beta();
    return true;
}

bool BlockDescent::sweep_all(Watch& watch, int n_threads, Progress& total) {
    const double beta = momentum_.beta();
    double* r = r_.data();
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        Block& block = blocks_[l];
        double *q = block.q.data(), *y = block.y.data();
        const bool finished = forests_[l].sweep(
            &block.memory, forests_.workspace(), n_threads, &watch, std::span(block.progress),
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
        add_uphill(l, total);
    }
    return true;
}

bool BlockDescent::sweep_pair(Watch& watch, int n_threads, Progress& total) {
    Block& block = blocks_[1];
    const double beta = momentum_.beta(), centre = momentum_.centre();
    const double* f = f_.data();
    double *q = block.q.data(), *y = block.y.data(), *u = u_.data();
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
            &block.memory, forests_.workspace(), n_threads, &watch, std::span(block.progress),
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
    for (const auto& partial : block.progress) {
        total.uphill += partial.uphill.total();
        total.energy += partial.energy.total();
    }
    return finished;
}

// After a sweep r is the new u. Since Σ (q - q of the last iteration) is the negative change of u,
// f - Σ y follows from u alone.
void BlockDescent::extrapolate(int n_threads, Progress& total) {
    const double beta = momentum_.beta(), centre = momentum_.centre();
    const auto extrapolate_part = [&](int task, int) {
        const auto from = static_cast<std::size_t>(task) * vertices_per_task;
        const auto to = std::min(from + vertices_per_task, u_.size());
        double energy = 0.0, movement = 0.0;
        for (auto i = from; i < to; ++i) {
            const double u = r_[i], centred = u - centre, change = u - u_[i];
            energy += weight(i) * centred * centred;
            movement += weight(i) * change * change;
            r_[i] = u + beta * change;
            u_[i] = u;
        }
        partial_progress_[static_cast<std::size_t>(task)] = {0.0, 0.5 * energy, 0.5 * movement};
    };
    parallel_for(static_cast<int>(partial_progress_.size()), n_threads,
                 std::cref(extrapolate_part));
    for (const Progress& partial : partial_progress_) {
        total.energy += partial.energy;
        total.movement += partial.movement;
    }
}

// y = q.
void BlockDescent::forget_momentum(int n_threads) {
    if (is_resting_) return;
    last_beta_ = 0.0;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        Block& block = blocks_[l];
        if (!block.y.empty())
            forests_[l].for_each_slot(
                n_threads, [&](std::size_t slot, std::size_t) { block.y[slot] = block.q[slot]; });
    }
    if (!eliminates_first()) std::copy(u_.begin(), u_.end(), r_.begin());
}

template <class Real>
void BlockDescent::recover(std::span<Real> p, int n_threads) {
    settle();
    std::vector<double> q;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
        if (forests_[l].recovery_keeps_q()) {
            forests_[l].recover(blocks_[l].q, p, n_threads);
            continue;
        }
        if (eliminates_first() && l == 0) {  // eliminated: f - u - q_2
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

void BlockDescent::dual(std::span<double> p, int n_threads) { recover(p, n_threads); }
void BlockDescent::rounded_dual(std::span<Rounded> p, int n_threads) { recover(p, n_threads); }

std::size_t BlockDescent::n_bytes() const {
    std::size_t total = (u_.size() + r_.size()) * sizeof(double);
    for (const auto& block : blocks_)
        total += (block.q.size() + block.y.size()) * sizeof(double) +
                 block.gain.size() * sizeof(float) + block.memory.n_bytes();
    return total;
}

}  // namespace graphtv
