// Copies of a function for several instruction sets, among which the loader chooses. Products and
// sums are not contracted, so all of them give the same bits.
#pragma once

// Sanitizers do not survive what runs as early as the loader's choice.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define GRAPHTV_FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define GRAPHTV_FOR_EACH_CPU
#endif
// What is inlined into such a copy is compiled for its instruction set.
#if defined(__GNUC__)
#define GRAPHTV_INLINE __attribute__((always_inline)) inline
#else
#define GRAPHTV_INLINE inline
#endif
