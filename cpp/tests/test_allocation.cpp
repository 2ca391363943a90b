// ForestTV::solve allocates no memory after its first call, for any forest and signal. The replaced
// global operator new counts allocations.

#include "check.hpp"
#include "counting_new.hpp"
#include "instances.hpp"
#include "tv/forest.hpp"

namespace graphtv::tests {
namespace {

void solve_takes_no_memory(Shape shape, double delta, int n_threads) {
    Random random(1);
    auto graph = tree(shape, 20'000, random);
    std::erase_if(graph.edges, [&](Edge) { return random() % 100 == 0; });
    const auto w = weights(Weights::uniform, graph.edges.size(), random);
    ForestTV forest(graph.view(), w, {delta});
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    std::vector<double> f = signal(Signal::constant, n, random), u(n);
    forest.solve(f, u, true, n_threads);
    for (int iteration = 0; iteration < 2; ++iteration) {
        f = signal(all_signals[random() % all_signals.size()], n, random);
        for (const bool warm : {true, false, true}) {
            for (double& value : f) value += 0.01 * noise(random);
            const int before = n_allocations;
            forest.solve(f, u, warm, n_threads);
            check(n_allocations == before,
                  describe(int(shape), delta, n_threads, n_allocations - before));
        }
    }
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    for (const int n_threads : {1, 4})
        for (const Shape shape : {Shape::path, Shape::recursive, Shape::caterpillar})
            for (const double delta : {0.0, 0.1}) solve_takes_no_memory(shape, delta, n_threads);
    return verdict();
}
