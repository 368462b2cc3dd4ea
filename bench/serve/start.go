package main

import (
	"context"
	"log"
	"runtime"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/serve"
)

// serving returns the service. use is called when its learner is there.
func serving(ctx context.Context, file string, use func(*pcl.Learner) error) (*serve.Service, func(), error) {
	var device *backend.Backend
	cores := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(2 * cores) // so that requests find a turn while training keeps all cores busy
	s, err := serve.Start(func(ctx context.Context) (l *pcl.Learner, err error) {
		if device, err = backend.Open(ctx, backend.Options{Nice: *low, Clients: min(cores, 8)}); err != nil {
			return nil, err
		}
		return learner(ctx, device)
	}, serve.Options{File: file})
	if err != nil {
		return nil, nil, err
	}
	go func() {
		if l, err := s.Learner(ctx); err == nil {
			err = use(l)
			if err != nil {
				log.Print(err)
			}
		}
	}()
	return s, func() { device.Close() }, nil
}
