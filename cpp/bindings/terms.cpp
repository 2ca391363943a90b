// Binds the data terms, including terms that are implemented in Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "bindings/python_object.hpp"
#include "parallel/parallel_for.hpp"
#include "terms/divergence.hpp"
#include "terms/entropic_simplex.hpp"
#include "terms/huber.hpp"
#include "terms/linear_box.hpp"
#include "terms/logistic.hpp"
#include "terms/poisson.hpp"
#include "terms/quantile.hpp"
#include "terms/squared.hpp"
#include "terms/tilted.hpp"

namespace graphtv::bindings {

namespace {

// A term that is implemented in Python: `object` has value(u), conjugate(s) and prox(v, steps) of
// flat float64 arrays, as the adapter in graphtv.terms.custom provides. Every call takes the GIL.
// Python exceptions propagate through the solver to its caller.
template <class Base>
class PythonTermOf : public Base {
  public:
    PythonTermOf(TermShape shape, nb::object made, double strong_convexity, Interval domain)
        : Base(shape),
          object(std::move(made)),
          strong_convexity_(strong_convexity),
          domain_(domain) {}

    double value(std::span<const double> u, int) const override {
        const nb::gil_scoped_acquire gil;
        return nb::cast<double>(object.attr("value")(copied(u)));
    }
    double conjugate(std::span<const double> s, int) const override {
        const nb::gil_scoped_acquire gil;
        return nb::cast<double>(object.attr("conjugate")(copied(s)));
    }
    // The object does not provide the excess of single entries, so the excess is computed from the
    // total sums. If a conjugate is too small, it is negative. This proves nothing either, so its
    // absolute value is used.
    Tally tally(std::span<const double> u, std::span<const double> s, const Errors& errors,
                int n_threads) const override {
        CompensatedSum excess;
        Tally total;
        for (std::size_t i = 0; i < u.size(); ++i) {
            excess.add(-u[i] * s[i]);
            total.excess_rounding +=
                std::abs(u[i] * s[i]) * unit_roundoff + errors[i] * std::abs(u[i]);
        }
        const double primal = value(u, n_threads), dual = conjugate(s, n_threads);
        total.value.add(primal);
        total.conjugate.add(dual);
        excess.add(primal);
        excess.add(dual);
        total.excess = std::abs(excess.value());
        total.rounding = 16.0 * unit_roundoff * (std::abs(primal) + std::abs(dual));
        total.excess_rounding += total.rounding;
        return total;
    }
    void prox(std::span<const double> v, std::span<const double> steps, std::span<double> out,
              int) const override {
        const nb::gil_scoped_acquire gil;
        copy_result(object.attr("prox")(copied(v), copied(steps)), out);
    }
    double strong_convexity() const override { return strong_convexity_; }
    Interval domain() const override { return domain_; }

    nb::object object;

  private:
    double strong_convexity_;
    Interval domain_;
};

using PythonTerm = PythonTermOf<DataTerm>;

// A term that also has minimizer(vertices, channel, slope).
class PythonSeparableTerm final : public PythonTermOf<SeparableTerm> {
  public:
    using PythonTermOf::PythonTermOf;

    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override {
        const nb::gil_scoped_acquire gil;
        const auto vertices = to_numpy(std::vector<Vertex>(component.begin(), component.end()));
        return nb::cast<double>(object.attr("minimizer")(nb::cast(vertices), channel, slope));
    }
};

template <class Term, class Base>
void bind_python_term(nb::module_& m, const char* name) {
    nb::class_<Term, Base>(m, name, nb::type_slots(Collected<Term>::slots),
                           "A term that is implemented by a Python object.")
        .def(
            "__init__",
            [](Term* self, std::size_t n_vertices, std::size_t n_channels, nb::object term,
               double strong_convexity, double lower, double upper) {
                new (self) Term({n_vertices, n_channels}, std::move(term), strong_convexity,
                                {lower, upper});
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("term"),
            nb::arg("strong_convexity"), nb::arg("lower"), nb::arg("upper"));
}

TermShape shape_of(std::size_t n_vertices, std::size_t n_channels, const In<double>& per_entry) {
    const TermShape shape{n_vertices, n_channels};
    require_size(per_entry.size(), shape.size());
    return shape;
}

// The domain of a term, if it is not that of its data.
using Ends = std::optional<std::pair<double, double>>;

std::optional<Interval> domain_of(const Ends& ends) {
    if (!ends) return {};
    return Interval{ends->first, ends->second};
}

// One number per entry, or a single number for all entries.
std::span<const double> entries(const In<double>& values, TermShape shape) {
    if (values.size() != 1) require_size(values.size(), shape.size());
    return view(values);
}

// A loss with a linear and a quadratic term, for parts of larger problems.
template <class Loss>
void bind_tilted_term(nb::module_& m, const char* name) {
    using Term = TiltedTerm<Loss>;
    nb::class_<Term, SmoothTerm>(m, name).def(
        "__init__",
        [](Term* self, const Loss& loss, const In<double>& tilt, const In<double>& rho,
           const In<double>& anchor) {
            const TermShape shape = loss.shape();
            new (self)
                Term(loss, entries(tilt, shape), entries(rho, shape), entries(anchor, shape));
        },
        nb::arg("loss"), nb::arg("tilt").noconvert(), nb::arg("rho").noconvert(),
        nb::arg("anchor").noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
        nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
}

void bind_interface(nb::module_& m) {
    nb::class_<DataTerm>(m, "DataTerm", "A data term. Arrays hold one channel after another.")
        .def_prop_ro("n_vertices", &DataTerm::n_vertices)
        .def_prop_ro("n_channels", &DataTerm::n_channels)
        .def_prop_ro("strong_convexity", &DataTerm::strong_convexity)
        .def_prop_ro(
            "domain",
            [](const DataTerm& self) {
                const Interval domain = self.domain();
                return nb::make_tuple(domain.lower, domain.upper);
            },
            nb::sig("def domain(self) -> tuple[float, float]"),
            "An interval that contains every entry of some minimiser of G + TV.")
        .def(
            "value",
            [](const DataTerm& self, const In<double>& u, int n_threads) {
                const nb::gil_scoped_release no_gil;
                require_size(u.size(), self.shape().size());
                return self.value(view(u), resolve_threads(n_threads));
            },
            nb::arg("u").noconvert(), nb::arg("n_threads") = 1)
        .def(
            "conjugate",
            [](const DataTerm& self, const In<double>& s, int n_threads) {
                const nb::gil_scoped_release no_gil;
                require_size(s.size(), self.shape().size());
                return self.conjugate(view(s), resolve_threads(n_threads));
            },
            nb::arg("s").noconvert(), nb::arg("n_threads") = 1)
        .def(
            "prox",
            [](const DataTerm& self, const In<double>& v, const In<double>& steps,
               const InPlace& out, int n_threads) {
                const nb::gil_scoped_release no_gil;
                require_size(v.size(), self.shape().size());
                require_size(out.size(), v.size());
                if (steps.size() != 1) require_size(steps.size(), self.n_vertices());
                self.prox(view(v), view(steps), view(out), resolve_threads(n_threads));
            },
            nb::arg("v").noconvert(), nb::arg("steps").noconvert(), nb::arg("out").noconvert(),
            nb::arg("n_threads") = 1,
            "The proximal map of G. There is one step, or one step per vertex.")
        .def(
            "prox_near",
            [](const DataTerm& self, const In<double>& guess, const In<double>& v,
               const In<double>& steps, const InPlace& out, int n_threads) {
                const nb::gil_scoped_release no_gil;
                require_size(guess.size(), self.shape().size());
                require_size(v.size(), guess.size());
                require_size(out.size(), v.size());
                if (steps.size() != 1) require_size(steps.size(), self.n_vertices());
                self.prox_near(view(guess), view(v), view(steps), view(out),
                               resolve_threads(n_threads));
            },
            nb::arg("guess").noconvert(), nb::arg("v").noconvert(), nb::arg("steps").noconvert(),
            nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
            "The same, starting from a guess, which must not be `out`.");

    nb::class_<SeparableTerm, DataTerm>(m, "SeparableTerm",
                                        "A term that is a sum over single entries.")
        .def(
            "minimizer",
            [](const SeparableTerm& self, const In<Vertex>& component, std::size_t channel,
               double slope) {
                const nb::gil_scoped_release no_gil;
                for (const Vertex v : view(component))
                    if (v < 0 || static_cast<std::size_t>(v) >= self.n_vertices())
                        throw std::invalid_argument("a vertex is out of range");
                if (channel >= self.n_channels())
                    throw std::invalid_argument("the channel is out of range");
                return self.minimizer(view(component), channel, slope);
            },
            nb::arg("component").noconvert(), nb::arg("channel"), nb::arg("slope"),
            "The m of the domain that minimises the terms of a component plus slope · m.");

    nb::class_<SlopedTerm, SeparableTerm>(m, "SlopedTerm",
                                          "A separable term with known subdifferentials.")
        .def(
            "slopes",
            [](const SlopedTerm& self, std::size_t entry, double u) {
                if (entry >= self.shape().size())
                    throw std::invalid_argument("the entry is out of range");
                const Interval slopes = self.slopes(entry, u);
                return std::pair(slopes.lower, slopes.upper);
            },
            nb::arg("entry"), nb::arg("u"), "The left and the right derivative.");

    nb::class_<SmoothTerm, SlopedTerm>(m, "SmoothTerm", "A differentiable separable term.")
        .def(
            "derivative",
            [](const SmoothTerm& self, std::size_t entry, double u) {
                if (entry >= self.shape().size())
                    throw std::invalid_argument("the entry is out of range");
                return self.derivative(entry, u);
            },
            nb::arg("entry"), nb::arg("u"));
}

}  // namespace

void bind_terms(nb::module_& m) {
    bind_interface(m);

    nb::class_<SquaredTerm, SmoothTerm>(m, "SquaredTerm")
        .def(
            "__init__",
            [](SquaredTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& signal, const In<double>& weights, const Ends& domain) {
                const TermShape shape = shape_of(n_vertices, n_channels, signal);
                new (self)
                    SquaredTerm(shape, view(signal), entries(weights, shape), domain_of(domain));
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("signal").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("domain") = nb::none(), nb::keep_alive<1, 4>(),
            nb::keep_alive<1, 5>());

    nb::class_<QuantileTerm, SlopedTerm>(m, "QuantileTerm")
        .def(
            "__init__",
            [](QuantileTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& signal, const In<double>& below, const In<double>& above,
               const Ends& domain) {
                const TermShape shape = shape_of(n_vertices, n_channels, signal);
                new (self) QuantileTerm(shape, view(signal), entries(below, shape),
                                        entries(above, shape), domain_of(domain));
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("signal").noconvert(),
            nb::arg("below").noconvert(), nb::arg("above").noconvert(),
            nb::arg("domain") = nb::none(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
            nb::keep_alive<1, 6>());

    nb::class_<PoissonTerm, SmoothTerm>(m, "PoissonTerm")
        .def(
            "__init__",
            [](PoissonTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& counts, const In<double>& weights, double unit,
               const Ends& domain) {
                const TermShape shape = shape_of(n_vertices, n_channels, counts);
                new (self) PoissonTerm(shape, view(counts), entries(weights, shape), unit,
                                       domain_of(domain));
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("counts").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("unit") = 1.0, nb::arg("domain") = nb::none(),
            nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());

    nb::class_<HuberTerm, SmoothTerm>(m, "HuberTerm")
        .def(
            "__init__",
            [](HuberTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& signal, const In<double>& weights, double delta,
               const Ends& domain) {
                const TermShape shape = shape_of(n_vertices, n_channels, signal);
                new (self) HuberTerm(shape, view(signal), entries(weights, shape), delta,
                                     domain_of(domain));
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("signal").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("delta"), nb::arg("domain") = nb::none(),
            nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());

    nb::class_<LogisticTerm, SmoothTerm>(m, "LogisticTerm")
        .def(
            "__init__",
            [](LogisticTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& labels, const In<double>& weights, double lower, double upper) {
                const TermShape shape = shape_of(n_vertices, n_channels, labels);
                new (self)
                    LogisticTerm(shape, view(labels), entries(weights, shape), {lower, upper});
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("labels").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("lower"), nb::arg("upper"),
            nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());

    bind_tilted_term<HuberTerm>(m, "TiltedHuberTerm");
    bind_tilted_term<LogisticTerm>(m, "TiltedLogisticTerm");
    bind_tilted_term<PoissonTerm>(m, "TiltedPoissonTerm");

    nb::class_<LinearBoxTerm, SeparableTerm>(m, "LinearBoxTerm")
        .def(
            "__init__",
            [](LinearBoxTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& cost, const In<double>& lower, const In<double>& upper) {
                const TermShape shape = shape_of(n_vertices, n_channels, cost);
                new (self)
                    LinearBoxTerm(shape, view(cost), entries(lower, shape), entries(upper, shape));
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("cost").noconvert(),
            nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::keep_alive<1, 4>(),
            nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>());

    nb::class_<EntropicSimplexTerm, DataTerm>(m, "EntropicSimplexTerm")
        .def(
            "__init__",
            [](EntropicSimplexTerm* self, std::size_t n_vertices, std::size_t n_channels,
               const In<double>& cost, double epsilon) {
                const TermShape shape = shape_of(n_vertices, n_channels, cost);
                new (self) EntropicSimplexTerm(shape, view(cost), epsilon);
            },
            nb::arg("n_vertices"), nb::arg("n_channels"), nb::arg("cost").noconvert(),
            nb::arg("epsilon"), nb::keep_alive<1, 4>());

    bind_python_term<PythonTerm, DataTerm>(m, "PythonTerm");
    bind_python_term<PythonSeparableTerm, SeparableTerm>(m, "PythonSeparableTerm");
}

}  // namespace graphtv::bindings
