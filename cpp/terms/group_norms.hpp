// Isotropic and coupled total variation: F(x) = Σ_g h(‖x_g‖) with the Euclidean norm of each group.
//
// h is |·| or Huber's function of width δ (tv/edge_penalty.hpp). A group holds some edges, in one
// channel or in all of them. F*(p) = δ/2 ‖p‖² if every ‖p_g‖ ≤ 1, and infinite otherwise. This
// condition is checked in twice the precision.
//
// With x̂ = x_g / ‖x_g‖, the excess of a group (terms/tally.hpp) is a sum of nonnegative terms:
//
//     ‖x_g - δ p_g‖² / 2δ                                            where ‖x_g‖ < δ
//     ½ ‖x_g‖ ‖p_g - x̂‖² + ½ (‖x_g‖ - δ) (1 - ‖p_g‖²)                elsewhere
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "terms/penalty.hpp"

namespace graphtv {

class GroupNorms final : public Penalty {
  public:
    // The group of every edge, numbers from 0 without gaps; empty if every edge is a group.
    // `couples` means that a group contains all channels of its edges.
    GroupNorms(std::size_t n_edges, std::vector<std::int32_t> edge_groups, bool couples,
               double delta);

    double value(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                 int n_threads) const override;
    double conjugate(std::span<const double> p, int n_threads) const override;
    double conjugate(std::span<const Rounded> p, int n_threads) const override;
    Tally tally(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                std::span<const double> p, int n_threads) const override;
    Tally tally(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                std::span<const Rounded> p, int n_threads) const override;
    void project(std::span<double> p, int n_threads) const override;
    void prox_conjugate(std::span<const double> v, std::span<const double> steps,
                        std::span<double> out, int n_threads) const override;
    std::span<const std::int32_t> edge_groups() const override { return edge_groups_; }

    // The places of a group's entries in p.
    struct Group {
        const EdgeIndex* edges;  // null for the single edge `first`
        std::size_t first, n_edges, n_channels, n_all_edges;

        std::size_t size() const { return n_edges * n_channels; }
        template <class Body>  // body(edge, channel, place)
        void for_each(const Body& body) const;
    };

    std::size_t n_groups() const { return starts_.empty() ? n_edges_ : starts_.size() - 1; }
    Group group(std::size_t g, std::size_t channel, std::size_t n_channels) const;
    // Calls body(first channel, number of channels) once, or for each channel by itself.
    template <class Body>
    void for_each_part(std::size_t n_channels, const Body& body) const;

    bool couples() const { return couples_; }
    double width() const { return h_.delta; }
    std::size_t largest_group() const { return largest_; }  // edges of it

  private:
    static constexpr std::size_t most_edges = 3;  // of the groups of a run

    // Groups whose edges are consecutive (group_rows.hpp).
    struct Run {
        std::size_t first, length, n_edges;
        std::array<std::size_t, most_edges> edges;  // of the first group
    };
    struct Channels {
        std::size_t first, count;
    };

    void find_runs();
    Run run_of(std::size_t first, std::size_t most) const;
    static std::size_t length_along(const EdgeList& graph, const Run& run);
    template <class Real>
    bool fill_run(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                  std::span<const Real> p, const Channels& channels, const Run& run, bool is_line,
                  std::size_t at_row, TallyRow& row) const;
    static void project_group(const Group& here, std::span<double> p);
    template <class Body>
    void for_each_group(std::size_t size, int n_threads, const Body& body) const;
    template <class Real>
    double conjugate_of(std::span<const Real> p, int n_threads) const;
    template <class Real>
    Tally tally_of_groups(const EdgeList& graph, std::span<const double> weights,
                          std::span<const double> u, std::span<const Real> p, int n_threads) const;

    std::size_t n_edges_;
    std::vector<std::int32_t> edge_groups_;
    std::vector<EdgeIndex> edges_;   // group after group
    std::vector<EdgeIndex> starts_;  // of the groups there; empty if every edge is one
    std::vector<Run> runs_;  // of all groups; empty if every edge is one, or if runs are short
    std::size_t largest_ = 1;
    bool couples_;
    EdgePenalty h_;
};

template <class Body>
void GroupNorms::Group::for_each(const Body& body) const {
    for (std::size_t c = 0; c < n_channels; ++c) {
        if (edges == nullptr) {
            body(first % n_all_edges, c, first + c * n_all_edges);
        } else {
            for (std::size_t k = 0; k < n_edges; ++k)
                body(at(edges[k]), c, first + at(edges[k]) + c * n_all_edges);
        }
    }
}

template <class Body>
void GroupNorms::for_each_part(std::size_t n_channels, const Body& body) const {
    if (couples_) {
        body(std::size_t{0}, n_channels);
    } else {
        for (std::size_t c = 0; c < n_channels; ++c) body(c, std::size_t{1});
    }
}

}  // namespace graphtv
