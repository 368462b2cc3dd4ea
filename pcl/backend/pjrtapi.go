//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

// The head of PJRT_Api, the same since API version 0.44; the function pointers follow it.
typedef struct {
	size_t struct_size;
	void*  extension_start;
	size_t version_struct_size;
	void*  version_extension_start;
	int    major;
	int    minor;
} pjrt_head;

static const pjrt_head* pjrt_api(void* get) { return ((const pjrt_head* (*)(void))get)(); }

static int pjrt_has(const pjrt_head* api, size_t index) {
	size_t end = sizeof(pjrt_head) + (index + 1) * sizeof(void*);
	return api->struct_size >= end && ((void* const*)(api + 1))[index] != NULL;
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// The PJRT C API versions that the binding's function table fits. The table was last rearranged in 0.57. The
// binding does not check the version and would call whatever pointer is in the place.
const (
	apiMajor    = 0
	apiMinMinor = 57
)

// apiFunctions are the places in the function table that the binding calls when it loads a plugin,
// compiles, executes and moves buffers: errors, plugin, events, client, devices, executables, buffers.
var apiFunctions = []int{
	0, 1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 14, 15, 16, 20, 21, 22, 24, 27, 29, 30, 31, 40, 41, 44, 50, 51,
	55, 58, 59, 60, 65, 69, 70, 73, 93,
}

// pluginAPI loads a plugin file that passed [checkPluginFile] and returns its API version, or the
// reason why calling it would crash. The library stays loaded: XLA cannot be unloaded.
func pluginAPI(path string) (string, error) {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	handle := C.dlopen(cpath, C.RTLD_LAZY|C.RTLD_LOCAL)
	if handle == nil {
		return "", fmt.Errorf("plugin %s cannot be loaded: %s", path, C.GoString(C.dlerror()))
	}
	symbol := C.CString(pluginSymbol)
	defer C.free(unsafe.Pointer(symbol))
	get := C.dlsym(handle, symbol)
	if get == nil {
		C.dlclose(handle)
		return "", fmt.Errorf("plugin %s is no PJRT plugin: it exports no %s", path, pluginSymbol)
	}
	api := C.pjrt_api(get)
	if api == nil {
		return "", fmt.Errorf("plugin %s: %s returned nothing", path, pluginSymbol)
	}
	version := fmt.Sprintf("%d.%d", api.major, api.minor)
	if api.major != apiMajor || api.minor < apiMinMinor {
		return "", fmt.Errorf("plugin %s has PJRT API version %s: this library needs %d.%d or a later %d.x", path, version, apiMajor, apiMinMinor, apiMajor)
	}
	for _, i := range apiFunctions {
		if C.pjrt_has(api, C.size_t(i)) == 0 {
			return "", fmt.Errorf("plugin %s (PJRT API %s) lacks function %d of the API table, which is needed", path, version, i)
		}
	}
	return version, nil
}
