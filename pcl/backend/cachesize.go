//go:build cgo && linux && amd64

package backend

/*
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef struct { long l1, l2, l3; } cache_sizes;

// set_cache_sizes writes the sizes that Eigen takes the caches to have, before it measures them. symbol is one that the
// library of handle exports, and by which its place in memory is found. It returns 0 if the library's place is not found,
// and else 1, also if the sizes are known already.
static int set_cache_sizes(void *handle, const char *symbol, size_t sizes_at, size_t guard_at, cache_sizes want) {
	void *known = dlsym(handle, symbol);
	Dl_info info;
	if (known == NULL || dladdr(known, &info) == 0) return 0;
	char *base = info.dli_fbase;
	volatile char *guard = base + guard_at; // of the variable's initialisation, which runs if this is 0
	if (*guard) return 1;
	*(volatile cache_sizes *)(base + sizes_at) = want;
	*guard = 1;
	return 1;
}
*/
import "C"

import (
	"context"
	"fmt"
	"unsafe"
)

// eigenCaches are where builds of the XLA CPU plugin, by their SHA-256, keep the sizes of the processor's caches in memory,
// and the guard of their initialisation, from the beginning of the library. TestEigenCaches compares them with the file's
// table of symbols.
var eigenCaches = map[string]struct{ sizes, guard uintptr }{
	"88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc": {0xae24758, 0xae24770},
}

// fixCacheSizes gives Eigen, through which XLA multiplies matrices on a CPU, the same sizes of caches on every processor.
// Eigen cuts long sums into pieces whose factors fit the L1 data cache, so that the same run would have other bits on a
// processor with an L1 cache of 48 KB, as newer ones have, than on one of 32 KB. There is no option for it. 32 KB is what the
// processors have on which the published results were made; the sizes of L2 and L3 change no sum.
//
// It has to be called before the plugin computes. In a build of the plugin that is not known nothing is changed.
func fixCacheSizes(plugin string) error {
	sum, err := loadedSHA256(context.Background(), plugin)
	if err != nil {
		return err
	}
	at, known := eigenCaches[sum]
	if !known {
		return nil
	}
	path, symbol := C.CString(plugin), C.CString(pluginSymbol)
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(symbol))
	handle := C.dlopen(path, C.RTLD_LAZY|C.RTLD_LOCAL|C.RTLD_NOLOAD)
	if handle == nil {
		return fmt.Errorf("plugin %s is not loaded", plugin)
	}
	defer C.dlclose(handle)
	sizes := C.cache_sizes{l1: 32 << 10, l2: 512 << 10, l3: 32 << 20}
	if C.set_cache_sizes(handle, symbol, C.size_t(at.sizes), C.size_t(at.guard), sizes) == 0 {
		return fmt.Errorf("plugin %s: its place in memory is not found", plugin)
	}
	return nil
}
