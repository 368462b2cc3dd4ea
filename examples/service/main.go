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
	"runtime"
	"syscall"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/features"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/serve"
)

func main() {
	var o serve.Options
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	flag.StringVar(&o.File, "file", "service.pcl", "where to save")
	flag.StringVar(&o.Journal, "journal", "", "folder where what arrives is kept before it is answered")
	flag.Func("tokens", "file of tokens that let clients in: lines SCOPE SECRET", func(file string) (err error) {
		o.Tokens, err = serve.ReadTokens(file)
		return err
	})
	name := flag.String("backend", "auto", "what to compute with: auto, xla-cuda, xla-cpu or go")
	inputs, outputs := flag.Int("inputs", 784, "values of a sample"),
		flag.Int("outputs", 100, "classes of all tasks together")
	side := flag.Int("photos", 0, "side of the photos that samples are, in colours; takes the place of -inputs")
	backbone := flag.String("features", "", "pretrained network whose features of photos are learnt: efficientnet-lite0")
	flag.Parse()
	if *side > 0 {
		o.Pictures = datasets.Shape{Height: *side, Width: *side, Channels: 3}
		*inputs = o.Pictures.Values()
	}
	m := maker{backend: *name, features: *backbone, inputs: *inputs, outputs: *outputs}
	var err error
	switch {
	case flag.NArg() == 0:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the program at once, even while it saves
		err = run(ctx, *addr, o, m)
	case flag.NArg() == 2 && flag.Arg(0) == "backup": // also while the service runs
		err = serve.Backup(o, flag.Arg(1))
	case flag.NArg() == 2 && flag.Arg(0) == "restore":
		err = serve.Restore(flag.Arg(1), o)
	default:
		err = fmt.Errorf("%q; want nothing, backup FILE or restore FILE", flag.Args())
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr string, o serve.Options, m maker) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	defer m.close()
	service, err := serve.Start(func(ctx context.Context) (*pcl.Learner, error) {
		return m.learner(ctx, o.Pictures)
	}, o)
	if err != nil {
		return err
	}
	log.Print("listening on ", listener.Addr())
	return service.Run(ctx, listener)
}

// maker makes a learner.
type maker struct {
	backend, features string
	inputs, outputs   int

	device   *backend.Backend
	backbone *features.Backbone // nil without features
}

// learner chooses the network and how it learns.
func (m *maker) learner(ctx context.Context, size datasets.Shape) (_ *pcl.Learner, err error) {
	// Predictions come first: training takes what they leave, and requests find a turn of Go.
	cores := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(2 * cores)
	if m.device, err = backend.Open(ctx, backend.Options{Name: m.backend, Clients: min(cores, 8), Nice: 10}); err != nil {
		return nil, err
	}
	o := pcl.Options{Backend: m.device, Optimizer: optim.Adam{LR: 0.003}}
	inputs, hidden := m.inputs, []int{128, 64}
	if m.features != "" {
		spec, err := features.Parse(m.features)
		if err == nil {
			m.backbone, err = features.Open(ctx, spec, features.Options{}, size.Height, size.Width, size.Channels)
		}
		if err != nil {
			return nil, err
		}
		o.Features, inputs, hidden = m.backbone, features.Width, nil
	}
	if o.Model, err = pcl.NewMLP(inputs, hidden, m.outputs); err != nil {
		return nil, err
	}
	return pcl.New(ctx, o)
}

func (m *maker) close() {
	if m.backbone != nil {
		m.backbone.Close()
	}
	m.device.Close()
}
