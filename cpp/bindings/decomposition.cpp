#include "bindings/arrays.hpp"

namespace graphtv::bindings {

void bind_decomposition(nb::module_&) {}

}  // namespace graphtv::bindings
