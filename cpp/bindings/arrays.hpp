// NumPy arrays in the bindings: inputs are borrowed, outputs are owned.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "graph/types.hpp"

namespace graphtv::bindings {

namespace nb = nanobind;

// Contiguous read-only inputs. Bind them with .noconvert(): nanobind would otherwise turn an
// integer array into a floating one silently; the Python layer owns all conversions.
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InEdges = nb::ndarray<const Vertex, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using OutMatrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Contiguous output arrays that the caller provides.
template <class T>
using InPlaceOf = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InPlace = InPlaceOf<double>;

// Unaligned arrays (such as a buffer inside a message) must be copied by the Python layer.
template <class Array>
auto* aligned(const Array& array) {
    auto* data = array.data();
    if (array.size() > 0 && reinterpret_cast<std::uintptr_t>(data) % alignof(decltype(*data)) != 0)
        throw std::invalid_argument("an array is not aligned");
    return data;
}

inline std::span<double> view(const InPlace& array) { return {aligned(array), array.size()}; }
inline std::span<std::int16_t> view(const InPlaceOf<std::int16_t>& array) {
    return {aligned(array), array.size()};
}

template <class T>
std::span<const T> view(const In<T>& array) {
    return {aligned(array), array.size()};
}

inline EdgeList view(Vertex n_vertices, const InEdges& edges) {
    const auto* first = reinterpret_cast<const Edge*>(aligned(edges));
    return {n_vertices, {first, edges.shape(0)}};
}

// Checks a size that the core does not check.
inline void require_size(std::size_t size, std::size_t expected) {
    if (size != expected) throw std::invalid_argument("an array has the wrong size");
}

// Transfers the memory of the vector to a NumPy array without a copy.
template <class T>
Out<T> to_numpy(std::vector<T>&& values) {
    auto* owner = new std::vector<T>(std::move(values));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(owner->data(), {owner->size()}, capsule);
}

// The same for rows of `columns` numbers each.
template <class T>
OutMatrix<T> to_numpy(std::vector<T>&& values, std::size_t columns) {
    auto* owner = new std::vector<T>(std::move(values));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return OutMatrix<T>(owner->data(), {owner->size() / columns, columns}, capsule);
}

inline OutMatrix<Vertex> to_numpy(std::vector<Edge>&& edges) {
    auto* owner = new std::vector<Edge>(std::move(edges));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<Edge>*>(p); });
    return OutMatrix<Vertex>(reinterpret_cast<Vertex*>(owner->data()), {owner->size(), 2}, capsule);
}

void bind_graph(nb::module_& m);
void bind_decomposition(nb::module_& m);
void bind_tv(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_terms(nb::module_& m);
void bind_penalties(nb::module_& m);
void bind_pdhg(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_cut(nb::module_& m);
void bind_objective(nb::module_& m);
void bind_elementary(nb::module_& m);

}  // namespace graphtv::bindings
