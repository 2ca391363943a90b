// Binds elementwise functions whose results have the same bits on every processor, and sizes.

#include "terms/elementary.hpp"

#include "bindings/arrays.hpp"
#include "density/kernel_density.hpp"
#include "terms/largest_size.hpp"

namespace graphtv::bindings {

namespace {

template <double (*function)(double)>
void bind_function(nb::module_& m, const char* name) {
    using namespace nb::literals;
    m.def(
        name,
        [](const In<double>& x, const InPlace& out) {
            const auto values = view(x);
            const auto results = view(out);
            require_size(results.size(), values.size());
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < values.size(); ++i) results[i] = function(values[i]);
        },
        "x"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_elementary(nb::module_& m) {
    using namespace nb::literals;
    bind_function<elementary::exp>(m, "exp");
    bind_function<elementary::log>(m, "log");
    bind_function<elementary::log1p>(m, "log1p");
    bind_function<elementary::expm1>(m, "expm1");

    m.def(
        "largest_size",
        [](const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& values) {
            return largest_size({aligned(values), values.size()});
        },
        "values"_a.noconvert(),
        "The greatest absolute value, 0 without any; infinite or NaN if there is such a number.");

    m.def(
        "kernel_sums",
        [](const In<float>& features, const In<float>& places, const In<float>& precision,
           const In<float>& sample_features, const In<float>& sample_places, std::size_t n_samples,
           const InPlace& sums, int n_threads) {
            const KernelPoints points{view(features), view(places), view(precision)};
            const KernelSamples samples{view(sample_features), view(sample_places), n_samples};
            const auto results = view(sums);
            require_size(points.precision.size(), results.size());
            require_size(points.features.size() * n_samples,
                         samples.features.size() * results.size());
            require_size(points.places.size() * n_samples, samples.places.size() * results.size());
            nb::gil_scoped_release release;
            kernel_sums(points, samples, results, n_threads);
        },
        "features"_a.noconvert(), "places"_a.noconvert(), "precision"_a.noconvert(),
        "sample_features"_a.noconvert(), "sample_places"_a.noconvert(), "n_samples"_a,
        "sums"_a.noconvert(), "n_threads"_a,
        "Sums of Gaussian kernels: points row by row, samples coordinate by coordinate.");
}

}  // namespace graphtv::bindings
