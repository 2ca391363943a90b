// The extension module: one call per file of bindings.

#include "bindings/arrays.hpp"
#include "parallel/parallel_for.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of graphtv. Private: arguments are validated by the Python layer.";
    m.attr("build") = GRAPHTV_BUILD;  // compiler, build type, flags
    m.def(
        "n_processors", [] { return graphtv::resolve_threads(0); },
        "Number of processors available to this process, the default number of threads.");
    // Test runners keep references to all objects until the interpreter exits.
    nanobind::set_leak_warnings(false);
    graphtv::bindings::bind_graph(m);
    graphtv::bindings::bind_decomposition(m);
    graphtv::bindings::bind_tv(m);
    graphtv::bindings::bind_solver(m);
    graphtv::bindings::bind_terms(m);
    graphtv::bindings::bind_penalties(m);
    graphtv::bindings::bind_pdhg(m);
    graphtv::bindings::bind_groups(m);
    graphtv::bindings::bind_newton(m);
    graphtv::bindings::bind_exact(m);
    graphtv::bindings::bind_cut(m);
    graphtv::bindings::bind_objective(m);
    graphtv::bindings::bind_elementary(m);
}
