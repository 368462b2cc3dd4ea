//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package backend

import (
	"errors"
	"runtime"
)

// xlaUnsupported says why this build loads no XLA plugins.
var xlaUnsupported = func() string {
	switch platform := runtime.GOOS + "/" + runtime.GOARCH; platform {
	case "linux/amd64", "linux/arm64", "darwin/arm64":
		return "this program was built without cgo, by which XLA is loaded"
	default:
		return "there is no XLA for " + platform
	}
}()

func openCPUPlugin(string, Options) (*Backend, error)  { return nil, errors.New(xlaUnsupported) }
func openCUDAPlugin(string, Options) (*Backend, error) { return nil, errors.New(xlaUnsupported) }
