// The data terms under the sanitizers: sizes that fill several shards, steps of every size, results
// that must not depend on the number of threads, and the polish of arbitrary points.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "instances.hpp"
#include "solver/objective.hpp"
#include "solver/polish.hpp"
#include "terms/elementary.hpp"
#include "terms/entropic_simplex.hpp"
#include "terms/huber.hpp"
#include "terms/linear_box.hpp"
#include "terms/logistic.hpp"
#include "terms/penalty.hpp"
#include "terms/poisson.hpp"
#include "terms/quantile.hpp"
#include "terms/squared.hpp"

namespace graphtv::tests {
namespace {

using Values = std::vector<double>;

Values random_values(std::size_t n, double low, double high, Random& random) {
    Values values(n);
    for (double& x : values) x = low + (high - low) * uniform(random);
    return values;
}

// Fenchel's inequality is an equality at u = prox(v), s = (v - u)/τ.
void prox_and_conjugate_agree(const DataTerm& term, const char* name, Random& random) {
    const std::size_t n = term.n_vertices(), size = term.shape().size();
    for (int round = 0; round < 4; ++round) {
        const double scale = std::pow(10.0, 6.0 * uniform(random) - 3.0);
        const Values v = random_values(size, -scale, scale, random);
        Values steps = random_values(round % 2 == 0 ? n : 1, -3.0, 3.0, random);
        for (double& step : steps) step = std::pow(10.0, step);
        Values u(size), threaded = v, s(size);
        term.prox(v, steps, u, 1);
        term.prox(threaded, steps, threaded, 3);
        check(u == threaded, name);
        double inner = 0.0, total = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            s[i] = (v[i] - u[i]) / steps[steps.size() == 1 ? 0 : i % n];
            inner += u[i] * s[i];
            total += std::abs(u[i] * s[i]);
        }
        const double value = term.value(u, 1), conjugate = term.conjugate(s, 1);
        total += std::abs(value) + std::abs(conjugate);
        check(std::abs(value + conjugate - inner) <= 1e-10 * total, name);
        check(term.value(u, 3) == value && term.conjugate(s, 3) == conjugate, name);
    }
}

// The polish ends for every p. If the pattern is a single component, the result is constant.
void polish_ends(const SeparableTerm& term, const char* name, Random& random) {
    const auto n = static_cast<Vertex>(term.n_vertices());
    std::vector<Edge> edges;
    for (Vertex v = 1; v < n; ++v)
        edges.push_back({static_cast<Vertex>(integer(random, 0, v - 1)), v});
    const EdgeList graph{n, edges};
    const Values w = random_values(edges.size(), 0.1, 1.0, random);
    const std::size_t size = term.shape().size(), n_duals = edges.size() * term.n_channels();
    Values p = random_values(n_duals, -1.5, 1.5, random), u(size), pull(size);
    for (double& x : p) x = Interval{-1.0, 1.0}.clip(x);
    Watch watch;
    Polish polish(term, graph, w);
    check(polish.run(std::span<const double>(p), 1e-9, u, watch), name);
    check(std::isfinite(EdgewisePenalty().value(graph, w, u, 2)), name);
    adjoint(graph, w, p, -1.0, pull, 2);
    check(std::isfinite(term.conjugate(pull, 2)), name);
    p.assign(n_duals, 0.0);
    check(polish.run(std::span<const double>(p), 1e-9, u, watch) &&
              EdgewisePenalty().value(graph, w, u, 1) == 0.0,
          name);
    check(std::isinf(EdgewisePenalty().conjugate(std::span<const double>(Values{0.0, 1.5}), 1)),
          name);
}

void all_terms(TermShape shape, Random& random) {
    const std::size_t size = shape.size();
    const Values f = random_values(size, -2.0, 2.0, random);
    Values counts = random_values(size, 0.0, 3.0, random), labels(size), upper(size);
    Values c = random_values(size, 0.1, 2.0, random);
    for (std::size_t i = 0; i < size; ++i) {
        if (random() % 4 == 0) c[i] = 0.0;
        if (random() % 4 == 0) counts[i] = 0.0;
        labels[i] = static_cast<double>(random() % 3) - 1.0;
        upper[i] = 1.0 + c[i];
    }
    const Values one{1.0}, zero{0.0};
    const SquaredTerm squared(shape, f, c), plain(shape, f, one);
    Values low = c;
    for (double& slope : low) slope *= 0.25;
    const QuantileTerm absolute(shape, f, c, c), quantile(shape, f, low, c);
    const HuberTerm huber(shape, f, c, 0.3);
    const LogisticTerm logistic(shape, labels, c, {-20.0, 30.0});
    const PoissonTerm poisson(shape, counts, c);
    const LinearBoxTerm box(shape, f, zero, upper);
    const EntropicSimplexTerm simplex(shape, f, 0.2);
    const std::pair<const SeparableTerm&, const char*> terms[] = {
        {squared, "squared"},   {plain, "plain"}, {absolute, "absolute"},
        {quantile, "quantile"}, {huber, "huber"}, {logistic, "logistic"},
        {poisson, "poisson"},   {box, "box"}};
    for (const auto& [term, name] : terms) {
        prox_and_conjugate_agree(term, name, random);
        polish_ends(term, name, random);
    }
    prox_and_conjugate_agree(simplex, "simplex", random);
}

void sums_keep_what_rounding_loses() {
    CompensatedSum sum;
    for (const double x : {1e16, 1.0, -1e16, 1.0}) sum.add(x);
    check(sum.value() == 2.0);
    sum.add(std::numeric_limits<double>::infinity());
    check(std::isinf(sum.value()));
    check(sum_of(0, 2, [](std::size_t) { return 1.0; }).value() == 0.0);
    check(sum_of(1'000'003, 2, [](std::size_t) { return 1.0; }).value() == 1'000'003.0);
}

void exponentials_and_logarithms_are_good_to_an_ulp(Random& random) {
    const auto is_near = [](double found, long double exact) {
        return std::abs(static_cast<double>(found - exact)) <=
               0x1p-52 * std::abs(static_cast<double>(exact));
    };
    for (int i = 0; i < 100'000; ++i) {
        const double scale = std::pow(10.0, 6.0 * uniform(random) - 3.0);
        const double x = std::min(scale, 700.0) * (2.0 * uniform(random) - 1.0), y = std::exp(x);
        check(is_near(quick_exp(x), std::exp(static_cast<long double>(x))), "quick_exp");
        check(is_near(quick_log(y), std::log(static_cast<long double>(y))), "quick_log");
    }
    check(quick_exp(0.0) == 1.0 && quick_log(1.0) == 0.0);
}

// Compares with long doubles over the whole range. Subnormal numbers have fewer digits.
void elementary_functions_serve_all_arguments(Random& random) {
    namespace own = elementary;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto is_near = [](double found, long double exact, double ulps) {
        const auto size = static_cast<double>(std::abs(exact));
        return static_cast<double>(std::abs(found - exact)) <= ulps * (0x1p-52 * size + 0x1p-1074);
    };
    for (int i = 0; i < 100'000; ++i) {
        const double x = std::pow(10.0, 620.0 * uniform(random) - 320.0);
        const double small = std::pow(10.0, 20.0 * uniform(random) - 18.0);
        const double sign = uniform(random) < 0.5 ? -1.0 : 1.0;
        const double far = sign * (700.0 + 45.0 * uniform(random));
        const double share = sign * std::min(small, 0.999);
        if (std::isfinite(x))
            check(is_near(own::log(x), std::log(static_cast<long double>(x)), 2.0), "log");
        check(is_near(own::log1p(share), std::log1p(static_cast<long double>(share)), 2.0),
              "log1p");
        check(is_near(own::expm1(sign * small), std::expm1(sign * static_cast<long double>(small)),
                      3.0),
              "expm1");
        if (far < 709.0)
            check(is_near(own::exp(far), std::exp(static_cast<long double>(far)), 4.0), "exp");
        const double y = 4.0 * uniform(random) - 2.0, b = std::pow(10.0, 40.0 * y);
        check(is_near(own::power(b, y), std::pow(static_cast<long double>(b), y),
                      4.0 + std::abs(y * std::log(b))),
              "power");
        check(is_near(own::hypot(small, x), std::hypot(static_cast<long double>(small), x), 3.0) ||
                  !std::isfinite(x),
              "hypot");
    }
    check(own::exp(710.0) == infinity && own::exp(infinity) == infinity);
    check(own::exp(-infinity) == 0.0 && own::exp(-746.0) == 0.0);
    check(own::log(0.0) == -infinity && own::log(infinity) == infinity);
    check(std::isnan(own::log(-1.0)) && std::isnan(own::exp(std::nan(""))));
    check(own::log1p(-1.0) == -infinity && own::log1p(infinity) == infinity);
    check(own::expm1(-infinity) == -1.0 && own::expm1(0.0) == 0.0);
    check(own::power(3.0, 1.0) == 3.0 && own::power(0.0, 0.0) == 1.0 &&
          own::power(0.0, 0.5) == 0.0);
    check(own::hypot(3.0, -4.0) == 5.0 && own::hypot(1e300, 0.0) == 1e300);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    Random random(1);
    sums_keep_what_rounding_loses();
    exponentials_and_logarithms_are_good_to_an_ulp(random);
    elementary_functions_serve_all_arguments(random);
    all_terms({10'000, 1}, random);
    all_terms({1'000, 7}, random);
    all_terms({2, 3}, random);
    return verdict();
}
