#include "bindings/arrays.hpp"

namespace graphtv::bindings {

void bind_graph(nb::module_&) {}

}  // namespace graphtv::bindings
