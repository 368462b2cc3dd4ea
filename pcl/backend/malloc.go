//go:build cgo && linux && (amd64 || arm64)

package backend

/*
#include <stdlib.h> // has __GLIBC__, where that is the library

#ifdef __GLIBC__
#include <malloc.h>
static void keep_freed_memory(void) {
	mallopt(M_MMAP_THRESHOLD, 32 << 20); // the largest glibc takes
	mallopt(M_TRIM_THRESHOLD, -1);
}
#else
static void keep_freed_memory(void) {}
#endif
*/
import "C"

import "sync"

// keepFreedMemory tells the C library to keep what the plugin frees for its next buffers. A
// training step allocates and frees the same few hundred kilobytes again and again; returned to the
// system each time, they cost a quarter of an MLP's step in page faults.
var keepFreedMemory = sync.OnceFunc(func() { C.keep_freed_memory() })
