// A minimal test framework for the core: checks that print their location, and a count of failures.
// A test file is a plain program; main returns `verdict()`.
#pragma once

#include <atomic>
#include <cstdio>
#include <source_location>
#include <string_view>

namespace graphtv::tests {

// The sanitizers of this build: some tests are too slow or unsupported under them.
inline constexpr std::string_view sanitizers = GRAPHTV_SANITIZE;
inline constexpr bool under_thread_sanitizer = sanitizers.find("thread") != sanitizers.npos;

inline std::atomic<int> n_failures{0};

inline bool check(bool holds, std::string_view context = "",
                  std::source_location where = std::source_location::current()) {
    constexpr int most_printed = 20;
    if (!holds && ++n_failures <= most_printed)
        std::fprintf(stderr, "%s:%u: in %s: claim fails %.*s\n", where.file_name(),
                     static_cast<unsigned>(where.line()), where.function_name(),
                     static_cast<int>(context.size()), context.data());
    return holds;
}

// Whether `action` throws an Error.
template <class Error, class Action>
bool throws(Action action) {
    try {
        action();
    } catch (const Error&) {
        return true;
    }
    return false;
}

inline int verdict() {
    if (n_failures > 0) std::fprintf(stderr, "%d claims failed\n", n_failures.load());
    return n_failures > 0 ? 1 : 0;
}

}  // namespace graphtv::tests
