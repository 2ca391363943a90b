// Helpers for terms and penalties that are implemented by a Python object.
#pragma once

#include <algorithm>
#include <vector>

#include "bindings/arrays.hpp"

namespace graphtv::bindings {

// Passes a copy, since the object may keep the arrays that it receives.
inline nb::object copied(std::span<const double> values) {
    return nb::cast(to_numpy(std::vector<double>(values.begin(), values.end())));
}

// Copies the array that Python returned.
inline void copy_result(const nb::object& result, std::span<double> out) {
    const auto values = nb::cast<In<double>>(result);
    require_size(values.size(), out.size());
    std::ranges::copy(view(values), out.begin());
}

// A class with a member `object` may be part of a reference cycle, so Python's garbage collector
// has to traverse it.
template <class Holder>
struct Collected {
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Holder>(self)->object.ptr());
        return 0;
    }
    static int clear(PyObject* self) {
        nb::inst_ptr<Holder>(self)->object.reset();
        return 0;
    }
    static inline PyType_Slot slots[] = {
        {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(&clear)},
        {0, nullptr},
    };
};

}  // namespace graphtv::bindings
