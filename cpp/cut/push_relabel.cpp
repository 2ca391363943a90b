#include "cut/push_relabel.hpp"

#include <algorithm>

#include "cut/stencil_network.hpp"

namespace graphtv {

template <class Network>
PushRelabel<Network>::PushRelabel(Network& network, std::span<Capacity> excess)
    : network_(network),
      excess_(excess),
      lost_(static_cast<std::uint32_t>(excess.size()) + 1),
      nodes_(excess.size()),
      layers_(excess.size() + 2) {
    queue_.reserve(excess.size());
}

template <class Network>
void PushRelabel<Network>::run() {
    // Labels are recomputed after about as much work as this costs.
    const std::uint64_t between = 12 * std::uint64_t{excess_.size()} + network_.n_arcs();
    relabel_all();
    while (highest_active_ > 0) {
        const std::uint32_t v = layers_[highest_active_].active;
        if (v == none) {
            --highest_active_;
            continue;
        }
        layers_[highest_active_].active = nodes_[v].next;
        discharge(v);
        if (work_ > between) relabel_all();
    }
    relabel_all();
}

template <class Network>
void PushRelabel<Network>::enter_active(std::size_t v) {
    Layer& layer = layers_[nodes_[v].label];
    nodes_[v].next = layer.active;
    layer.active = static_cast<std::uint32_t>(v);
    highest_active_ = std::max(highest_active_, nodes_[v].label);
    highest_ = std::max(highest_, nodes_[v].label);
}

template <class Network>
void PushRelabel<Network>::enter_idle(std::size_t v) {
    Layer& layer = layers_[nodes_[v].label];
    nodes_[v].next = layer.idle;
    nodes_[v].previous = none;
    if (layer.idle != none) nodes_[layer.idle].previous = static_cast<std::uint32_t>(v);
    layer.idle = static_cast<std::uint32_t>(v);
    highest_ = std::max(highest_, nodes_[v].label);
}

template <class Network>
void PushRelabel<Network>::leave_idle(std::size_t v) {
    const Node& node = nodes_[v];
    if (node.next != none) nodes_[node.next].previous = node.previous;
    if (node.previous != none)
        nodes_[node.previous].next = node.next;
    else
        layers_[node.label].idle = node.next;
}

// Sets all labels to the distance to the nearest deficit plus one.
template <class Network>
void PushRelabel<Network>::relabel_all() {
    constexpr Capacity zero{0};
    work_ = 0;
    std::fill_n(layers_.begin(), std::size_t{highest_} + 1, Layer{});
    highest_ = highest_active_ = 0;
    queue_.clear();
    for (std::size_t v = 0; v < nodes_.size(); ++v) {
        nodes_[v].label = lost_;
        if (!(excess_[v] < zero)) continue;
        nodes_[v].label = 1;
        queue_.push_back(static_cast<std::uint32_t>(v));
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        if (i % between_looks == 0) Watched::look();
        const std::size_t v = queue_[i];
        nodes_[v].arc = network_.begin(v);
        if (excess_[v] > zero)
            enter_active(v);
        else
            enter_idle(v);
        const std::uint32_t above = nodes_[v].label + 1;
        for (std::uint32_t a = network_.begin(v); a != network_.end(v); ++a) {
            if (!network_.is_reverse_open(a)) continue;
            const std::size_t w = network_.head(v, a);
            if (nodes_[w].label != lost_) continue;
            nodes_[w].label = above;
            queue_.push_back(static_cast<std::uint32_t>(w));
        }
    }
}

// Sends the excess of v to neighbours one label below, and raises the label of v as needed.
template <class Network>
void PushRelabel<Network>::discharge(std::size_t v) {
    constexpr Capacity zero{0};
    Node& node = nodes_[v];
    Capacity e = excess_[v];
    while (true) {
        const std::uint32_t below = node.label - 1, end = network_.end(v);
        for (; node.arc != end; ++node.arc) {
            const std::uint32_t a = node.arc;
            if (!network_.is_open(a)) continue;
            const std::size_t w = network_.head(v, a);
            if (nodes_[w].label != below) continue;
            const Capacity amount = std::min(e, network_.residual(a));
            network_.push(v, a, amount);
            e -= amount;
            const bool was_idle = !(excess_[w] > zero);
            excess_[w] += amount;
            if (was_idle && excess_[w] > zero) {
                leave_idle(w);
                enter_active(w);
            }
            if (!(e > zero)) break;
        }
        if (!(e > zero)) break;
        const std::uint32_t label = node.label;
        if (layers_[label].active == none && layers_[label].idle == none) {
            lose_above(label);
            node.label = lost_;
            break;
        }
        node.label = lowest_neighbour(v);
        if (node.label >= lost_) break;
    }
    excess_[v] = e;
    if (node.label < lost_) enter_idle(v);
}

// Returns the lowest possible label of v, and makes the arc to a neighbour below it the current one.
template <class Network>
std::uint32_t PushRelabel<Network>::lowest_neighbour(std::size_t v) {
    std::uint32_t lowest = lost_ - 1;
    const std::uint32_t begin = network_.begin(v), end = network_.end(v);
    work_ += 12 + end - begin;
    nodes_[v].arc = end;
    for (std::uint32_t a = begin; a != end; ++a) {
        if (!network_.is_open(a)) continue;
        const std::uint32_t there = nodes_[network_.head(v, a)].label;
        if (there >= lowest) continue;
        lowest = there;
        nodes_[v].arc = a;
    }
    return lowest + 1;
}

// No vertex has a label: the vertices above reach no deficit.
template <class Network>
void PushRelabel<Network>::lose_above(std::uint32_t label) {
    for (std::uint32_t above = label + 1; above <= highest_; ++above) {
        for (std::uint32_t first : {layers_[above].active, layers_[above].idle})
            for (std::uint32_t v = first; v != none; v = nodes_[v].next) nodes_[v].label = lost_;
        layers_[above] = {};
    }
    highest_ = label;
    highest_active_ = std::min(highest_active_, label);
}

template class PushRelabel<StencilNetwork>;
template class PushRelabel<ResidualNetwork<std::int32_t>>;
template class PushRelabel<ResidualNetwork<std::int64_t>>;
template class PushRelabel<ResidualNetwork<double>>;

}  // namespace graphtv
