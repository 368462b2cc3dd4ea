// Command service learns from labelled samples that are pushed to it over HTTP, and predicts meanwhile. SIGTERM makes it
// save everything, waiting samples included; when started again, it goes on from there (docs/service.md).
package main

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

type service struct {
	learner   *pcl.Learner
	inputs    int
	mu        sync.Mutex // held while the learner is called, which serves one call at a time
	streams   sync.Map   // id of a task → *data.Push
	predictor atomic.Pointer[pcl.Predictor]
}

func main() {
	addr, file := flag.String("addr", "localhost:8080", "address to listen on"), flag.String("file", "service.pcl", "where to save")
	device := flag.String("backend", "auto", "what to compute with: auto, xla-cuda, xla-cpu or go")
	inputs, outputs := flag.Int("inputs", 784, "values of a sample"), flag.Int("outputs", 100, "classes of all tasks together")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		err = serve(ctx, listener, *file, *device, *inputs, *outputs)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve serves until ctx is cancelled, and then saves the learner.
func serve(ctx context.Context, listener net.Listener, file, device string, inputs, outputs int) error {
	learner, closeAll, err := newLearner(ctx, device, inputs, outputs)
	if err != nil {
		return err
	}
	defer closeAll()
	s := &service{learner: learner, inputs: inputs}
	tasks, err := pcl.SavedTasks(file)
	if err == nil {
		err = learner.Load(file, func(id int) (pcl.Task, error) {
			task, err := newTask(inputs, tasks[id-1].Name, tasks[id-1].Classes)
			if !tasks[id-1].Ended {
				s.streams.Store(id, task.Stream)
			}
			return task, err
		})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there is no file at the first start
		return err
	}
	if err := s.renew(); err != nil {
		return err
	}
	log.Print("listening on ", listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: s.requests(), BaseContext: func(net.Listener) context.Context { return ctx }}
	var failed error
	var training sync.WaitGroup
	training.Go(func() {
		failed = s.train(ctx)
		server.Shutdown(context.Background()) // returns when no request is being answered any more
	})
	if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	cancel()
	training.Wait()
	return errors.Join(failed, err, learner.Save(file))
}

// train makes steps while there are samples, and renews the snapshot that predicts ten times a second.
func (s *service) train(ctx context.Context) error {
	for renewed := time.Now(); ctx.Err() == nil; {
		s.mu.Lock()
		_, err := s.learner.Step()
		s.mu.Unlock()
		idle := errors.Is(err, pcl.ErrIdle) || errors.Is(err, pcl.ErrNoStream)
		if err != nil && !idle {
			return err
		}
		if idle || time.Since(renewed) > time.Second/10 {
			if err, renewed = s.renew(), time.Now(); err != nil {
				return err
			}
		}
		if idle {
			s.learner.Wait(ctx)
		}
	}
	return nil
}

// renew makes predictions follow the learner. The old snapshot is freed when no request uses it any more.
func (s *service) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.learner.Snapshot()
	if err == nil {
		s.predictor.Store(p)
	}
	return err
}
