// Uninitialised memory that is reserved once and written before it is read. A std::vector would
// initialise it and touch pages that may never be used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace graphtv {

template <class T>
class Scratch {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    // Makes room for n values. If the memory has to grow, its contents are lost.
    void reserve(std::size_t n) {
        if (n <= size_) return;
        values_.reset();  // free first: the old and the new block never coexist
        size_ = 0;
        values_ = std::make_unique_for_overwrite<T[]>(n);
        size_ = n;
    }

    // Grows to n values and moves [begin, end) to the front.
    void grow(std::size_t n, std::size_t begin, std::size_t end) {
        auto larger = std::make_unique_for_overwrite<T[]>(n);
        std::copy(values_.get() + begin, values_.get() + end, larger.get());
        values_ = std::move(larger);
        size_ = n;
    }

    T* data() { return values_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return values_[i]; }
    const T& operator[](std::size_t i) const { return values_[i]; }
    std::size_t n_bytes() const { return size_ * sizeof(T); }

  private:
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0;
};

}  // namespace graphtv
