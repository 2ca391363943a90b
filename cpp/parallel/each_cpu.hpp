// Compiles a function for several instruction sets; the loader selects one. Products and sums are
// not contracted, so all versions give the same bits.
#pragma once

// Sanitizers are not initialised yet when the loader makes its choice, and would crash.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define GRAPHTV_FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define GRAPHTV_FOR_EACH_CPU
#endif
// Functions that are inlined into such a version are compiled for its instruction set.
#if defined(__GNUC__)
#define GRAPHTV_INLINE __attribute__((always_inline)) inline
#define GRAPHTV_INLINE_LAMBDA __attribute__((always_inline))
#else
#define GRAPHTV_INLINE inline
#define GRAPHTV_INLINE_LAMBDA
#endif
