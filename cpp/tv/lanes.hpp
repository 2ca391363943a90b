// Vectors of two doubles, for the scan over the lower and the (mirrored) upper tube, and packs of
// one or four doubles, for interleaved chains. They use SSE2 on x86-64 and plain doubles elsewhere;
// both give the same bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
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
    friend Lanes operator/(Lanes a, Lanes b) { return _mm_div_pd(a.value, b.value); }
    friend Lanes abs(Lanes a) { return _mm_andnot_pd(_mm_set1_pd(-0.0), a.value); }
    friend Lanes min(Lanes a, Lanes b) { return _mm_min_pd(a.value, b.value); }
    friend Lanes max(Lanes a, Lanes b) { return _mm_max_pd(a.value, b.value); }
    // Bit i is set where lane i of a is less than lane i of b.
    friend int less(Lanes a, Lanes b) { return _mm_movemask_pd(_mm_cmplt_pd(a.value, b.value)); }
    // Per lane: a < b ? where_less : otherwise.
    friend Lanes select_less(Lanes a, Lanes b, Lanes where_less, Lanes otherwise) {
        const __m128d mask = _mm_cmplt_pd(a.value, b.value);
        return _mm_or_pd(_mm_and_pd(mask, where_less.value), _mm_andnot_pd(mask, otherwise.value));
    }
    // Per lane: a == 0 ? where_zero : otherwise.
    friend Lanes select_zero(Lanes a, Lanes where_zero, Lanes otherwise) {
        const __m128d mask = _mm_cmpeq_pd(a.value, _mm_setzero_pd());
        return _mm_or_pd(_mm_and_pd(mask, where_zero.value), _mm_andnot_pd(mask, otherwise.value));
    }
    friend Lanes where_zero(Lanes a, Lanes b) {
        return _mm_and_pd(_mm_cmpeq_pd(a.value, _mm_setzero_pd()), b.value);
    }
    friend Lanes first_of(Lanes a, Lanes b) { return _mm_unpacklo_pd(a.value, b.value); }
    friend Lanes second_of(Lanes a, Lanes b) { return _mm_unpackhi_pd(a.value, b.value); }
};

inline Lanes load(const double* where) { return _mm_loadu_pd(where); }
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
    friend Lanes operator/(Lanes x, Lanes y) { return {x.a / y.a, x.b / y.b}; }
    friend Lanes abs(Lanes x) { return {std::abs(x.a), std::abs(x.b)}; }
    friend Lanes min(Lanes x, Lanes y) { return {x.a < y.a ? x.a : y.a, x.b < y.b ? x.b : y.b}; }
    friend Lanes max(Lanes x, Lanes y) { return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b}; }
    friend int less(Lanes x, Lanes y) { return int{x.a < y.a} | (int{x.b < y.b} << 1); }
    friend Lanes select_less(Lanes x, Lanes y, Lanes where_less, Lanes otherwise) {
        return {x.a < y.a ? where_less.a : otherwise.a, x.b < y.b ? where_less.b : otherwise.b};
    }
    friend Lanes select_zero(Lanes x, Lanes where_zero, Lanes otherwise) {
        return {x.a == 0.0 ? where_zero.a : otherwise.a, x.b == 0.0 ? where_zero.b : otherwise.b};
    }
    friend Lanes where_zero(Lanes x, Lanes y) { return select_zero(x, y, Lanes(0.0)); }
    friend Lanes first_of(Lanes x, Lanes y) { return {x.a, y.a}; }
    friend Lanes second_of(Lanes x, Lanes y) { return {x.b, y.b}; }
};

inline Lanes load(const double* where) { return {where[0], where[1]}; }

inline void store(double* where, Lanes lanes) {
    where[0] = lanes.a;
    where[1] = lanes.b;
}

#endif

template <std::size_t lanes>
struct Pack;

template <>
struct Pack<1> {
    double value;

    explicit Pack(double v) : value(v) {}
    static Pack load(const double* where) { return Pack(*where); }
    static Pack signs(const std::int8_t* where) { return Pack(*where); }
    void store(double* where) const { *where = value; }
    friend Pack operator+(Pack a, Pack b) { return Pack(a.value + b.value); }
    friend Pack operator-(Pack a, Pack b) { return Pack(a.value - b.value); }
    friend Pack operator*(Pack a, Pack b) { return Pack(a.value * b.value); }
    friend Pack operator/(Pack a, Pack b) { return Pack(a.value / b.value); }
    friend Pack abs(Pack a) { return Pack(std::abs(a.value)); }
    friend int less(Pack a, Pack b) { return a.value < b.value; }
    friend Pack select_zero(Pack a, Pack where_zero, Pack otherwise) {
        return a.value == 0.0 ? where_zero : otherwise;
    }
    friend Pack where_zero(Pack a, Pack b) { return select_zero(a, b, Pack(0.0)); }
};

template <>
struct Pack<4> {
    Lanes low, high;

    Pack(Lanes l, Lanes h) : low(l), high(h) {}
    explicit Pack(double all) : low(all), high(all) {}
    static Pack load(const double* where) {
        return {graphtv::load(where), graphtv::load(where + 2)};
    }
    // From small integers.
    static Pack signs(const std::int8_t* where) {
#if defined(__SSE2__)
        std::int32_t bytes;
        std::memcpy(&bytes, where, sizeof bytes);
        __m128i wide = _mm_cvtsi32_si128(bytes);
        wide = _mm_unpacklo_epi8(wide, wide);
        wide = _mm_srai_epi32(_mm_unpacklo_epi16(wide, wide), 24);
        return {_mm_cvtepi32_pd(wide), _mm_cvtepi32_pd(_mm_unpackhi_epi64(wide, wide))};
#else
        return {{double(where[0]), double(where[1])}, {double(where[2]), double(where[3])}};
#endif
    }
    void store(double* where) const {
        graphtv::store(where, low);
        graphtv::store(where + 2, high);
    }
    friend Pack operator+(Pack a, Pack b) { return {a.low + b.low, a.high + b.high}; }
    friend Pack operator-(Pack a, Pack b) { return {a.low - b.low, a.high - b.high}; }
    friend Pack operator*(Pack a, Pack b) { return {a.low * b.low, a.high * b.high}; }
    friend Pack operator/(Pack a, Pack b) { return {a.low / b.low, a.high / b.high}; }
    friend Pack abs(Pack a) { return {abs(a.low), abs(a.high)}; }
    friend int less(Pack a, Pack b) { return less(a.low, b.low) | (less(a.high, b.high) << 2); }
    friend Pack select_zero(Pack a, Pack x, Pack y) {
        return {select_zero(a.low, x.low, y.low), select_zero(a.high, x.high, y.high)};
    }
    friend Pack where_zero(Pack a, Pack b) {
        return {where_zero(a.low, b.low), where_zero(a.high, b.high)};
    }
};

// Sums by lane, which avoids a horizontal sum per pack.
struct PackSum {
    Pack<4> lanes{0.0};

    void add(Pack<4> values) { lanes = lanes + values; }
    void add(Pack<1> value) { lanes.low = lanes.low + Lanes(value.value, 0.0); }
    double total() const {
        const Lanes pair = lanes.low + lanes.high;
        return pair.first() + pair.second();
    }
};

// Transposes four rows of four.
inline void transpose(Pack<4> (&rows)[4]) {
    const auto swap_inner = [](Lanes& a, Lanes& b) {
        const Lanes first = first_of(a, b);
        b = second_of(a, b);
        a = first;
    };
    swap_inner(rows[0].low, rows[1].low);
    swap_inner(rows[0].high, rows[1].high);
    swap_inner(rows[2].low, rows[3].low);
    swap_inner(rows[2].high, rows[3].high);
    std::swap(rows[0].high, rows[2].low);
    std::swap(rows[1].high, rows[3].low);
}

}  // namespace graphtv
