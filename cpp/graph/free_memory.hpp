// Returns freed memory to the operating system. The allocator of glibc keeps freed blocks that lie
// between blocks in use. They are too small for the large arrays that are allocated next.
#pragma once

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace graphtv {

inline void give_back_freed_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace graphtv
