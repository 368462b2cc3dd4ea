//go:build !(cgo && linux && (amd64 || arm64))

package backend

import (
	"context"
	"errors"
	"runtime"
)

// errUnsupported says why this build loads no XLA plugins.
var errUnsupported = func() error {
	if runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") {
		return errors.New("this program was built without cgo, by which XLA is loaded")
	}
	return errors.New("there is no XLA for " + thisPlatform)
}()

func openCPU(context.Context, Options) (*Backend, error)  { return nil, errUnsupported }
func openCUDA(context.Context, Options) (*Backend, error) { return nil, errUnsupported }
