// Two doubles side by side, for the scan over the lower and the (mirrored) upper tube.
// SSE2 where there is x86-64, two plain doubles elsewhere: the same bits either way.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace graphtv {

#if defined(__SSE2__)

struct Lanes {
    __m128d value;

    Lanes(__m128d v) : value(v) {}
    explicit Lanes(double both) : value(_mm_set1_pd(both)) {}
    Lanes(double first, double second) : value(_mm_set_pd(second, first)) {}

    double first() const { return _mm_cvtsd_f64(value); }
    double second() const { return _mm_cvtsd_f64(_mm_unpackhi_pd(value, value)); }
    friend Lanes operator+(Lanes a, Lanes b) { return _mm_add_pd(a.value, b.value); }
    friend Lanes operator-(Lanes a, Lanes b) { return _mm_sub_pd(a.value, b.value); }
    friend Lanes operator*(Lanes a, Lanes b) { return _mm_mul_pd(a.value, b.value); }
    friend Lanes min(Lanes a, Lanes b) { return _mm_min_pd(a.value, b.value); }
    friend Lanes max(Lanes a, Lanes b) { return _mm_max_pd(a.value, b.value); }
    // Bit i is set where lane i of a is less than lane i of b.
    friend int less(Lanes a, Lanes b) { return _mm_movemask_pd(_mm_cmplt_pd(a.value, b.value)); }
    // Per lane: a < b ? where_less : otherwise.
    friend Lanes select_less(Lanes a, Lanes b, Lanes where_less, Lanes otherwise) {
        const __m128d mask = _mm_cmplt_pd(a.value, b.value);
        return _mm_or_pd(_mm_and_pd(mask, where_less.value), _mm_andnot_pd(mask, otherwise.value));
    }
};

inline void store(double* where, Lanes lanes) { _mm_storeu_pd(where, lanes.value); }

#else

struct Lanes {
    double a, b;

    explicit Lanes(double both) : a(both), b(both) {}
    Lanes(double first_, double second_) : a(first_), b(second_) {}

    double first() const { return a; }
    double second() const { return b; }
    friend Lanes operator+(Lanes x, Lanes y) { return {x.a + y.a, x.b + y.b}; }
    friend Lanes operator-(Lanes x, Lanes y) { return {x.a - y.a, x.b - y.b}; }
    friend Lanes operator*(Lanes x, Lanes y) { return {x.a * y.a, x.b * y.b}; }
    friend Lanes min(Lanes x, Lanes y) { return {x.a < y.a ? x.a : y.a, x.b < y.b ? x.b : y.b}; }
    friend Lanes max(Lanes x, Lanes y) { return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b}; }
    friend int less(Lanes x, Lanes y) { return int{x.a < y.a} | (int{x.b < y.b} << 1); }
    friend Lanes select_less(Lanes x, Lanes y, Lanes where_less, Lanes otherwise) {
        return {x.a < y.a ? where_less.a : otherwise.a, x.b < y.b ? where_less.b : otherwise.b};
    }
};

inline void store(double* where, Lanes lanes) {
    where[0] = lanes.a;
    where[1] = lanes.b;
}

#endif

}  // namespace graphtv
