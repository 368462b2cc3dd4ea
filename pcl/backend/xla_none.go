//go:build !(cgo && linux && amd64)

package backend

import (
	"errors"
	"runtime"
)

// xlaUnsupported says why this build loads no XLA plugins.
const xlaUnsupported = "this build of the program has no XLA on " + runtime.GOOS + "/" + runtime.GOARCH +
	" (it needs linux/amd64 and cgo)"

func openCPUPlugin(string, Options) (*Backend, error)  { return nil, errors.New(xlaUnsupported) }
func openCUDAPlugin(string, Options) (*Backend, error) { return nil, errors.New(xlaUnsupported) }
