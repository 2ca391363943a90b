// An allocator for arrays that a loop reads at the same index. Large blocks of memory begin at the same
// place of a page. Then equal indices of many arrays compete for the same lines of the cache. This
// allocator shifts each block by a different number of lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace graphtv {

template <class T>
class Staggered {
  public:
    using value_type = T;

    Staggered() = default;
    template <class U>
    explicit Staggered(const Staggered<U>&) {}

    T* allocate(std::size_t n) {
        const std::size_t shift = line * (1 + stride * (count_.fetch_add(1) % n_shifts));
        auto* block = static_cast<std::byte*>(::operator new(n * sizeof(T) + shift, alignment));
        auto* begin = block + shift;
        reinterpret_cast<std::byte**>(begin)[-1] = block;
        return reinterpret_cast<T*>(begin);
    }
    void deallocate(T* begin, std::size_t) {
        ::operator delete(reinterpret_cast<std::byte**>(begin)[-1], alignment);
    }
    bool operator==(const Staggered&) const { return true; }

  private:
    static constexpr std::size_t line = 64, stride = 5, n_shifts = 12;  // less than a page
    static constexpr std::align_val_t alignment{line};
    inline static std::atomic<std::size_t> count_ = 0;
};

}  // namespace graphtv
