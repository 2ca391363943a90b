#include "bindings/arrays.hpp"

namespace graphtv::bindings {

void bind_tv(nb::module_&) {}

}  // namespace graphtv::bindings
