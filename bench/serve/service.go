package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

const tasks, classesOfTask = 3, 6

// values is how many values a sample has.
func values() int {
	if *network == "lda" { // features of a picture, computed elsewhere
		return 1280
	}
	return 3072
}

// learner is what the service learns with.
func learner(ctx context.Context, device *backend.Backend) (*pcl.Learner, error) {
	m, err := pcl.NewMLP(values(), []int{256, 128}, 20)
	name := *methodName
	switch *network {
	case "lda":
		name = "lda"
		m, err = pcl.NewMLP(values(), nil, 20)
	case "resnet":
		m, err = model.NewResNet18(model.Sizes{Height: 32, Width: 32, Channels: 3, StemChannels: 16, Outputs: 20})
	}
	if err != nil {
		return nil, err
	}
	rule, err := method.New(name, nil)
	if err != nil {
		return nil, err
	}
	return pcl.New(ctx, pcl.Options{
		Backend: device, Model: m, Method: rule, Increment: "class", Batch: 32, Optimizer: optim.Adam{LR: 0.001},
	})
}

// feed pushes random samples into the streams of all tasks, which it begins if there are none, as
// long as on is set.
func feed(l *pcl.Learner, on *atomic.Bool) error {
	for t := len(l.Tasks()); t < tasks; t++ {
		var classes []int
		for c := range classesOfTask {
			classes = append(classes, t*classesOfTask+c)
		}
		stream, err := pcl.NewPushStream(values(), 128, classes)
		if err != nil {
			return err
		}
		if _, err := l.Attach(pcl.Task{Classes: classes, Stream: stream}); err != nil {
			return err
		}
	}
	for _, info := range l.Tasks() {
		task, err := l.Task(info.ID)
		if err != nil {
			return err
		}
		go push(task.Stream.(*data.PushStream), task.Classes, on)
	}
	return nil
}

func push(stream *data.PushStream, classes []int, on *atomic.Bool) {
	const batch = 32
	values := values()
	rng, pool := rand.New(rand.NewPCG(uint64(classes[0]), 1)), make([]float32, 4*batch*values)
	for p := range pool {
		pool[p] = rng.Float32()
	}
	labels := make([]int, batch)
	for {
		for i := range labels {
			labels[i] = classes[rng.IntN(len(classes))]
		}
		from := rng.IntN(3*batch) * values
		for !on.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		if _, err := stream.Push(context.Background(), pool[from:from+batch*values], labels...); err != nil {
			return
		}
	}
}

// service runs the service until it is interrupted.
func service(file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	var on atomic.Bool
	var now atomic.Pointer[pcl.Learner]
	on.Store(true)
	s, end, err := serving(ctx, file, func(l *pcl.Learner) error { now.Store(l); return feed(l, &on) })
	if err != nil {
		return err
	}
	defer end()
	mux := http.NewServeMux()
	mux.Handle("/", s.Handler())
	mux.HandleFunc("/train", func(_ http.ResponseWriter, q *http.Request) { on.Store(q.FormValue("on") == "true") })
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		var out status
		if l := now.Load(); l != nil {
			out.Steps = l.Steps()
		}
		var used syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		out.CPU = float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
		out.RSS = resident()
		_ = json.NewEncoder(w).Encode(out)
	})
	go http.Serve(listener, mux)
	return s.Run(ctx, nil)
}

// resident is how many MB of the process are in memory.
func resident() int {
	text, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.Atoi(fields[1])
		return pages * os.Getpagesize() >> 20
	}
	return 0
}
