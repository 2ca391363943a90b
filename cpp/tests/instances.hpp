// Seeded instances for the tests of the core: graphs, trees of shapes that are hard for tree
// solvers, and signals and weights from ordinary to extreme.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/types.hpp"

namespace graphtv::tests {

using Random = std::mt19937_64;

// In [low, high]. The distributions of the standard library differ between implementations; these
// do not.
inline std::int64_t integer(Random& random, std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
inline double uniform(Random& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;  // in [0, 1)
}
inline double noise(Random& random) {  // of variance 1, nearly normal
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform(random);
    return sum;
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
    for (auto i = values.size(); i > 1; --i)
        std::swap(values[i - 1],
                  values[static_cast<std::size_t>(integer(random, 0, std::int64_t(i) - 1))]);
}

inline std::vector<Vertex> permutation(Vertex n, Random& random) {
    std::vector<Vertex> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Vertex{0});
    shuffle(order, random);
    return order;
}

// A graph that owns its edges.
struct Instance {
    Vertex n_vertices = 0;
    std::vector<Edge> edges;

    EdgeList view() const { return {n_vertices, edges}; }
};

// The same graph with vertices, edges and orientations in random order.
inline Instance scrambled(Instance graph, Random& random) {
    const auto name = permutation(graph.n_vertices, random);
    for (auto& [tail, head] : graph.edges) {
        tail = name[static_cast<std::size_t>(tail)];
        head = name[static_cast<std::size_t>(head)];
        if (random() % 2 == 0) std::swap(tail, head);
    }
    shuffle(graph.edges, random);
    return graph;
}

// A simple graph with up to n_edges edges.
inline Instance random_graph(Vertex n, int n_edges, Random& random) {
    Instance graph{n, {}};
    std::set<std::pair<Vertex, Vertex>> taken;
    for (int i = 0; i < n_edges && n > 1; ++i) {
        const auto a = static_cast<Vertex>(integer(random, 0, n - 1));
        const auto b = static_cast<Vertex>(integer(random, 0, n - 1));
        if (a != b && taken.insert(std::minmax(a, b)).second) graph.edges.push_back({a, b});
    }
    return graph;
}

enum class Shape { path, star, caterpillar, broom, binary, spider, recursive, deep, forest };
inline constexpr std::array all_shapes{Shape::path,      Shape::star,   Shape::caterpillar,
                                       Shape::broom,     Shape::binary, Shape::spider,
                                       Shape::recursive, Shape::deep,   Shape::forest};

// The parent of vertex i is an earlier vertex.
inline Instance tree(Shape shape, Vertex n, Random& random) {
    Instance tree{n, {}};
    const auto legs = static_cast<Vertex>(std::sqrt(static_cast<double>(n))) + 1;
    for (Vertex i = 1; i < n; ++i) {
        Vertex parent = 0;
        switch (shape) {
            case Shape::path:
                parent = i - 1;
                break;
            case Shape::star:
                break;
            case Shape::caterpillar:  // even: the spine
                parent = i % 2 == 0 ? i - 2 : i - 1;
                break;
            case Shape::broom:  // half a path, half a star at its end
                parent = std::min(i - 1, n / 2);
                break;
            case Shape::binary:
                parent = (i - 1) / 2;
                break;
            case Shape::spider:
                parent = std::max(0, i - legs);
                break;
            case Shape::deep:
                parent = static_cast<Vertex>(integer(random, std::max(0, i - 3), i - 1));
                break;
            case Shape::forest:
                if (random() % 5 == 0) continue;
                [[fallthrough]];
            case Shape::recursive:
                parent = static_cast<Vertex>(integer(random, 0, i - 1));
                break;
        }
        tree.edges.push_back({parent, i});
    }
    return scrambled(std::move(tree), random);
}

enum class Signal { noise, constant, ties, ramp, steps, sine, mixed };
inline constexpr std::array all_signals{Signal::noise, Signal::constant, Signal::ties, Signal::ramp,
                                        Signal::steps, Signal::sine,     Signal::mixed};

inline std::vector<double> signal(Signal kind, std::size_t n, Random& random) {
    std::vector<double> f(n);
    const double offset = 4.0 * noise(random), slope = noise(random);
    const auto period = integer(random, 1, 40);
    for (std::size_t i = 0; i < n; ++i) {
        const auto t = static_cast<double>(i);
        switch (kind) {
            case Signal::noise:
                f[i] = noise(random);
                break;
            case Signal::constant:
                f[i] = offset;
                break;
            case Signal::ties:
                f[i] = static_cast<double>(integer(random, -2, 2));
                break;
            case Signal::ramp:
                f[i] = offset + slope * t;
                break;
            case Signal::steps:
                f[i] = std::floor(t / static_cast<double>(period)) * slope + 0.1 * noise(random);
                break;
            case Signal::sine:
                f[i] = std::sin(t / static_cast<double>(period));
                break;
            case Signal::mixed:  // alternately smooth and noisy
                f[i] = std::sin(t / 50.0) +
                       (static_cast<std::int64_t>(i) / period % 2 == 0 ? noise(random) : 0.0);
                break;
        }
    }
    return f;
}

enum class Weights { equal, uniform, zeros, integers, wide, absurd, heavy };
inline constexpr std::array all_weights{Weights::equal,    Weights::uniform, Weights::zeros,
                                        Weights::integers, Weights::wide,    Weights::absurd,
                                        Weights::heavy};

inline std::vector<double> weights(Weights kind, std::size_t m, Random& random) {
    std::vector<double> w(m);
    const double common = std::pow(10.0, 4.0 * uniform(random) - 2.0);
    for (double& value : w) {
        switch (kind) {
            case Weights::equal:
                value = common;
                break;
            case Weights::uniform:
                value = common * uniform(random);
                break;
            case Weights::zeros:
                value = random() % 3 == 0 ? 0.0 : uniform(random);
                break;
            case Weights::integers:
                value = static_cast<double>(integer(random, 0, 3));
                break;
            case Weights::wide:
                value = std::pow(10.0, 12.0 * uniform(random) - 6.0);
                break;
            case Weights::absurd:
                value = std::array{1e300, 1e-300, 1.0}[random() % 3];
                break;
            case Weights::heavy:
                value = random() % 4 == 0 ? uniform(random) : 1e6 * uniform(random);
                break;
        }
    }
    return w;
}

inline std::vector<double> scaled(std::vector<double> values, double scale) {
    for (double& value : values) value = std::min(value * scale, 1e300);
    return values;
}

template <class... Parts>
std::string describe(const Parts&... parts) {
    std::string text;
    ((text += std::to_string(parts) + " "), ...);
    return text;
}

}  // namespace graphtv::tests
