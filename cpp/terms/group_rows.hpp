// Vectorised loops over runs of groups: consecutive groups whose edges are consecutive, too, and join
// consecutive vertices, as along the lines of a grid. A group has a few entries: its edges in one
// channel or in several. All arrays have one number per group.
#pragma once

#include <cstddef>

#include "terms/tally.hpp"

namespace graphtv {

// One entry of all groups of a run: p, and x = ω (tail - head).
struct GroupEntries {
    const double *p, *weights, *tails, *heads;
};

// Sums over the entries of groups.
struct GroupSums {
    TallyRow::Numbers squares_of_p;         // Σ p²
    TallyRow::Numbers squares_of_x, sizes;  // Σ x² and Σ |x|
    TallyRow::Numbers norms, inverse;       // ‖x‖ and 1 / max(‖x‖, δ)
    TallyRow::Numbers distance;             // ‖p - x / max(‖x‖, δ)‖²
};

void clear(GroupSums& sums, std::size_t length);
void add_squares(const GroupEntries& entries, std::size_t length, GroupSums& sums);

// Computes the norms. Returns false if some norm would be inaccurate, because its square
// underflows or overflows, or if some p is not certainly in its ball. `size` is the number of entries.
bool set_norms(std::size_t size, double delta, std::size_t length, GroupSums& sums);
void add_distance(const GroupEntries& entries, std::size_t length, GroupSums& sums);

// Fills a row from the index `first` on. Returns false if rounding errors of 1 - ‖p‖² are relevant.
bool fill_row(const GroupSums& sums, std::size_t size, double delta, std::size_t first,
              std::size_t length, TallyRow& row);

// Σ p² += p².
void add_squares(const double* p, std::size_t length, double* squares);

// The factors that project p onto balls, given Σ p² of groups with `size` entries. Returns false if
// some are NaN: rounding errors matter there.
bool set_factors(const double* squares, std::size_t size, std::size_t length, double* factors);
void scale(double* p, std::size_t length, const double* factors);

}  // namespace graphtv
