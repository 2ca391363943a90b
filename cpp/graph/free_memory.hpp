// Memory that was freed, given back to the system: the allocator of glibc keeps what lies between
// other things, in pieces too small for the large arrays to come.
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
