//go:build cgo && linux && (amd64 || arm64)

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
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/gomlx/go-xla/pjrt"
)

// The PJRT C API versions that the binding's function table fits. The table was last rearranged in
// 0.57. The binding does not check the version and would call whatever pointer is in the place.
const (
	apiMajor    = 0
	apiMinMinor = 57
)

// pluginFile is a plugin that this process has loaded.
type pluginFile struct {
	name string // that the binding knows it by
	api  string // version
}

// loaded are the plugins by kind and path. XLA cannot be unloaded. [xlaMu] guards them.
var loaded = map[string]pluginFile{}

// load loads a plugin file, once. The binding takes a plugin to be for CUDA, or for the CPU, if
// these words are anywhere in its path, even in the name of a home folder. So it gets the plugin
// under a name that has only the right word.
func load(kind, path string) (pluginFile, error) {
	if p, ok := loaded[kind+path]; ok {
		return p, nil
	}
	api, err := pluginAPI(path)
	if err != nil {
		return pluginFile{}, err
	}
	p := pluginFile{
		// an absolute path, which the binding does not search
		name: fmt.Sprintf("/%s/%d", strings.TrimPrefix(kind, "xla-"), len(loaded)),
		api:  fmt.Sprintf("%d.%d", api.major, api.minor),
	}
	if api.major != apiMajor || api.minor < apiMinMinor {
		return p, fmt.Errorf("it has PJRT API version %s; want %d.%d or a later %d.x", p.api, apiMajor, apiMinMinor, apiMajor)
	}
	if err := pjrt.RegisterPreloadedPlugin(p.name, uintptr(unsafe.Pointer(api))); err != nil {
		return p, err
	}
	loaded[kind+path] = p
	return p, nil
}

// pluginAPI loads a library and asks it for its table of functions.
func pluginAPI(path string) (*C.pjrt_head, error) {
	cpath, symbol := C.CString(path), C.CString(pjrt.GetPJRTApiFunctionName)
	defer C.free(unsafe.Pointer(cpath))
	defer C.free(unsafe.Pointer(symbol))
	handle := C.dlopen(cpath, C.RTLD_LAZY|C.RTLD_LOCAL)
	if handle == nil {
		return nil, fmt.Errorf("it cannot be loaded: %s", C.GoString(C.dlerror()))
	}
	get := C.dlsym(handle, symbol)
	if get == nil {
		C.dlclose(handle)
		return nil, fmt.Errorf("it is not a PJRT plugin: it exports no %s", pjrt.GetPJRTApiFunctionName)
	}
	api := C.pjrt_api(get)
	if api == nil {
		return nil, fmt.Errorf("its %s returned nothing", pjrt.GetPJRTApiFunctionName)
	}
	return api, nil
}
