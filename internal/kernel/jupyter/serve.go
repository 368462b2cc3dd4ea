package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Info is what front ends are told of the kernel.
type Info struct {
	Name, Version, Banner string
	History               string // the file that keeps the code of cells for later kernels; empty: nothing does
}

// connection is a connection file.
type connection struct {
	Transport, IP, Key string
	Scheme             string `json:"signature_scheme"`
	Shell              int    `json:"shell_port"`
	Control            int    `json:"control_port"`
	IOPub              int    `json:"iopub_port"`
	Stdin              int    `json:"stdin_port"`
	Heartbeat          int    `json:"hb_port"`
}

// Serve serves an engine at the ports of a Jupyter connection file, until a front end shuts the kernel down, ctx ends, the
// process is terminated or the one that started it has ended. It closes the engine. An interrupt signal stops the cells, so
// ctx must not end on it.
func Serve(ctx context.Context, file string, e Engine, info Info) error {
	defer closeEngine(e)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var c connection
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	s := newServer(ctx, c, e, info)
	defer s.close()
	if err := s.listen(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	orphaned := orphaned(s.ctx)
	for {
		select {
		case <-s.ctx.Done():
			return ctx.Err()
		case <-orphaned:
			return nil
		case sig := <-signals:
			if sig != os.Interrupt {
				return nil
			}
			s.interrupt()
		}
	}
}

// parent is the process that started this one, asked for before it may have ended.
var parent = os.Getppid()

// orphaned is closed when the Jupyter server that started this process has ended. A kernel started otherwise outlives its
// parent.
func orphaned(ctx context.Context) <-chan struct{} {
	jupyter := os.Getenv("JPY_PARENT_PID")
	if jupyter == "" {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		for p := parent; p == parent && (p != 1 || jupyter == "1") && ctx.Err() == nil; p = os.Getppid() {
			time.Sleep(200 * time.Millisecond)
		}
		close(ended)
	}()
	return ended
}

// closeEngine doesn't wait for an engine that hangs: its processes end with this one.
func closeEngine(e Engine) {
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			log.Print("kernel: ", err)
		}
	case <-time.After(3 * time.Second):
	}
}
