package backend

import (
	"context"
	"runtime"

	"github.com/gomlx/compute/gobackend"
)

// goConfig avoids the default configuration of the pure-Go backend: with few cores its parallel
// execution of operations deadlocks, since all workers can end up waiting for a free worker.
const goConfig = "ops_sequential"

// openGo opens the pure-Go backend. Each operation may still use GOMAXPROCS threads.
func openGo(context.Context, Options) (*Backend, error) {
	b, err := gobackend.New(goConfig)
	if err != nil {
		return nil, err
	}
	return &Backend{Backend: b, Info: Info{Name: Go, Device: cpuModel(vectors()), Threads: runtime.GOMAXPROCS(0)}}, nil
}
