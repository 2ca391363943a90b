// Places of the vertices of a grid in memory: row-major, but within a line along the last axis the
// columns 0, k, 2k, … come first, then 1, k + 1, … (k phases). So the vertices of every k-th column
// are contiguous, and so are their neighbours along any axis.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "graph/edge_run.hpp"
#include "graph/types.hpp"
#include "terms/sum.hpp"

namespace graphtv {

class LatticeLayout {
  public:
    // Edges from consecutive vertices of a line to their neighbours along an axis.
    struct Run {
        std::size_t edge, size;          // the first one, and how many
        std::size_t axis, line, column;  // of the first lower end
        double sign;                     // 1 if edges point upwards, -1 if downwards
    };

    LatticeLayout(std::span<const Vertex> shape, std::size_t n_phases)
        : width_(at(shape.back())), n_phases_(n_phases) {
        std::size_t stride = 1;
        for (auto length = shape.rbegin(); length != shape.rend(); ++length) {
            lengths_.push_back(at(*length));
            strides_.push_back(stride);
            stride *= at(*length);
        }
        n_vertices_ = stride;
        offsets_.push_back(0);
        for (std::size_t phase = 0; phase < n_phases; ++phase)
            offsets_.push_back(offsets_.back() + (width_ + n_phases - 1 - phase) / n_phases);
    }

    std::size_t n_vertices() const { return n_vertices_; }
    std::size_t n_axes() const { return strides_.size(); }
    std::size_t width() const { return width_; }  // of the last axis
    std::size_t n_phases() const { return n_phases_; }
    // Of the axes, the last one first.
    std::size_t stride(std::size_t axis) const { return strides_[axis]; }
    std::size_t length(std::size_t axis) const { return lengths_[axis]; }
    // Of the first column of a phase within its line. There is one more than there are phases.
    std::size_t offset(std::size_t phase) const { return offsets_[phase]; }
    const std::size_t* offsets() const { return offsets_.data(); }

    // The place of a vertex, given the start of its line.
    std::size_t place(std::size_t line, std::size_t column) const {
        return line + offsets_[column % n_phases_] + column / n_phases_;
    }

    // Calls body(run) for all edges, in shards. Edges join neighbours of the grid. A run ends at the
    // end of its line.
    template <class Body>
    void for_each_run(std::span<const Edge> edges, int n_threads, const Body& body) const {
        for_shards(edges.size(), n_threads, [&](std::size_t first, std::size_t last) {
            std::size_t axis = 0, line = 0;  // of the last edge; usually also of the next one
            for (std::size_t e = first; e < last;) {
                const auto [tail, head] = edges[e];
                const std::size_t lower = at(std::min(tail, head));
                const std::size_t step = at(std::abs(head - tail));
                while (strides_[axis] != step) axis = (axis + 1) % strides_.size();
                if (lower < line || lower - line >= width_) line = lower - lower % width_;
                const std::size_t most = std::min(last - e, line + width_ - lower);
                const std::size_t size = length_of_run(edges.subspan(e, most));
                body(Run{e, size, axis, line, lower - line, tail < head ? 1.0 : -1.0});
                e += size;
            }
        });
    }

    // Calls body(k, place of the vertex in column + k), phase by phase, in loops that vectorise.
    template <class Body>
    void for_each_place(std::size_t line, std::size_t column, std::size_t size,
                        const Body& body) const {
        for (std::size_t first = 0; first < std::min(size, n_phases_); ++first) {
            std::size_t at_place = place(line, column + first);
            for (std::size_t k = first; k < size; k += n_phases_) body(k, at_place++);
        }
    }

  private:
    std::size_t width_, n_phases_, n_vertices_;
    std::vector<std::size_t> strides_, lengths_, offsets_;
};

}  // namespace graphtv
