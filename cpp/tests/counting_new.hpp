// Counts heap allocations. Include it in one file of a test program only, since it replaces the
// global operator new. The functions are not inlined, so that the compiler does not pair them with
// those of the standard library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace graphtv::tests {
inline std::atomic<int> n_allocations{0};
}

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++graphtv::tests::n_allocations;
    if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
