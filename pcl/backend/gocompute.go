package backend

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gomlx/compute/gobackend"
)

// goConfig avoids the default configuration of the pure-Go backend: with few cores its parallel
// execution of operations deadlocks, since all workers can end up waiting for a free worker.
const goConfig = "ops_sequential"

func goReady(context.Context, Options) (string, error) { return "", nil }

// openGo opens the pure-Go backend. Each operation may still use GOMAXPROCS threads.
func openGo(_ context.Context, o Options) (*Backend, error) {
	if o.Devices > 1 {
		return nil, fmt.Errorf("it has one device only, %d were asked for", o.Devices)
	}
	b, err := gobackend.New(goConfig)
	if err != nil {
		return nil, err
	}
	return &Backend{Backend: b, Info: Info{
		Name: Go, Platform: "go", Device: cpuModel(), Threads: runtime.GOMAXPROCS(0), Devices: 1,
	}}, nil
}
