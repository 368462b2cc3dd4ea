// Command service learns from labelled samples that are pushed to it over HTTP, and predicts
// meanwhile. SIGTERM makes it save everything, waiting samples included; when started again, it
// goes on from there (docs/service.md).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os/signal"
	"syscall"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/serve"
)

func main() {
	addr, file := flag.String("addr", "localhost:8080", "address to listen on"),
		flag.String("file", "service.pcl", "where to save")
	name := flag.String("backend", "auto", "what to compute with: auto, xla-cuda, xla-cpu or go")
	inputs, outputs := flag.Int("inputs", 784, "values of a sample"),
		flag.Int("outputs", 100, "classes of all tasks together")
	journal := flag.String("journal", "", "folder where what arrives is kept before it is answered")
	flag.Parse()
	o := serve.Options{File: *file, Journal: *journal}
	if flag.NArg() > 0 {
		if err := copies(o, flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once, even while it saves
	if err := run(ctx, *name, *addr, o, *inputs, *outputs); err != nil {
		log.Fatal(err)
	}
}

// copies makes a backup, also while the service runs, or restores one.
func copies(o serve.Options, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "backup":
		return serve.Backup(o, args[1])
	case len(args) == 2 && args[0] == "restore":
		return serve.Restore(args[1], o)
	}
	return fmt.Errorf("%q; want nothing, backup FILE or restore FILE", args)
}

func run(ctx context.Context, name, addr string, o serve.Options, inputs, outputs int) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	var device *backend.Backend
	defer func() { device.Close() }()
	service, err := serve.Start(func(ctx context.Context) (learner *pcl.Learner, err error) {
		if device, err = backend.Open(ctx, backend.Options{Name: name}); err != nil {
			return nil, err
		}
		return newLearner(ctx, device, inputs, outputs)
	}, o)
	if err != nil {
		return err
	}
	log.Print("listening on ", listener.Addr())
	return service.Run(ctx, listener)
}

// newLearner chooses the network and how it learns.
func newLearner(ctx context.Context, device *backend.Backend, inputs, outputs int) (*pcl.Learner, error) {
	net, err := pcl.NewMLP(inputs, []int{128, 64}, outputs)
	if err != nil {
		return nil, err
	}
	return pcl.New(ctx, pcl.Options{Backend: device, Model: net, Optimizer: optim.Adam{LR: 0.003}})
}
