#include "cut/excess_push.hpp"

#include <algorithm>

#include "cut/stencil_network.hpp"

namespace graphtv {

template <class Network>
ExcessPush<Network>::ExcessPush(Network& network, std::span<Capacity> excess)
    : network_(network), excess_(excess), level_(excess.size()) {}

template <class Network>
void ExcessPush<Network>::run(double threshold) {
    for (bool going = true; going;) {
        const bool pushed = pass<1>(threshold);
        const bool pulled = pass<-1>(threshold);
        going = pushed || pulled;
    }
}

template <class Network>
template <int sign>
bool ExcessPush<Network>::pass(double threshold) {
    constexpr Capacity zero{0};
    // If fewer vertices are left, no distance would make a pass worthwhile.
    constexpr std::size_t longest_path = 512;
    std::size_t missing = 0;
    queue_.clear();
    for (std::size_t v = 0; v < excess_.size(); ++v) {
        const Capacity e = burden<sign>(v);
        missing += e > zero;
        level_[v] = e < zero ? 0 : unreached;
        if (e < zero) queue_.push_back(static_cast<std::uint32_t>(v));
    }
    if (queue_.empty() || missing * longest_path <= excess_.size()) return false;
    double total = 0.0;
    for (std::size_t i = 0; i < queue_.size() && missing > 0; ++i) {
        if (i % between_looks == 0) Watched::look();
        const std::size_t v = queue_[i];
        const std::uint32_t depth = level_[v] + 1;
        for (std::uint32_t a = network_.begin(v); a != network_.end(v); ++a) {
            if (!(sign > 0 ? network_.is_reverse_open(a) : network_.is_open(a))) continue;
            const std::size_t w = network_.head(v, a);
            if (level_[w] != unreached) continue;
            level_[w] = depth;
            queue_.push_back(static_cast<std::uint32_t>(w));
            if (!(burden<sign>(w) > zero)) continue;
            --missing;
            total += depth;
        }
    }
    if (total < threshold * static_cast<double>(excess_.size())) return false;
    for (std::size_t i = queue_.size(); i-- > 0;) {
        if (i % between_looks == 0) Watched::look();
        const std::size_t v = queue_[i];
        Capacity e = burden<sign>(v);
        if (!(e > zero)) continue;
        const std::uint32_t below = level_[v] - 1;
        for (std::uint32_t a = network_.begin(v); a != network_.end(v) && e > zero; ++a) {
            if (!(sign > 0 ? network_.is_open(a) : network_.is_reverse_open(a))) continue;
            const std::size_t w = network_.head(v, a);
            if (level_[w] != below) continue;
            const std::uint32_t along = sign > 0 ? a : network_.reverse(v, a);
            const Capacity amount = std::min(e, network_.residual(along));
            network_.push(sign > 0 ? v : w, along, amount);
            excess_[w] += static_cast<Capacity>(sign * amount);
            e -= amount;
        }
        excess_[v] = sign > 0 ? e : -e;
    }
    return true;
}

template class ExcessPush<StencilNetwork>;
template class ExcessPush<ResidualNetwork<std::int32_t>>;
template class ExcessPush<ResidualNetwork<std::int64_t>>;
template class ExcessPush<ResidualNetwork<double>>;

}  // namespace graphtv
