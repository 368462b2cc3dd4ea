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

	"github.com/go-zeromq/zmq4"
)

// Info is what front ends are told of the kernel.
type Info struct{ Name, Version, Banner string }

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

func readConnection(file string) (c connection, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	err = json.Unmarshal(text, &c)
	if err == nil && c.Key != "" && c.Scheme != "" && c.Scheme != "hmac-sha256" {
		err = fmt.Errorf("signature scheme is %q; want hmac-sha256", c.Scheme)
	}
	return c, err
}

// Serve serves an engine at the ports of a Jupyter connection file, until a front end shuts the kernel down, ctx ends, the
// process is terminated or the one that started it has ended. It closes the engine. An interrupt signal stops the cells, so
// ctx must not end on it.
func Serve(ctx context.Context, file string, e Engine, info Info) error {
	defer closeEngine(e)
	c, err := readConnection(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	unlessTerminated, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := newServer(unlessTerminated, c, e, info)
	defer s.end()
	for _, socket := range []struct {
		port int
		kind zmq4.SocketType
	}{{c.IOPub, zmq4.XPub}, {c.Stdin, zmq4.Router}, {c.Heartbeat, zmq4.Rep}, {c.Control, zmq4.Router}, {c.Shell, zmq4.Router}} {
		l, err := c.listen(socket.port)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		defer l.Close()
		go s.accept(l, socket.port, socket.kind)
	}
	go s.endWithParent()
	for {
		select {
		case <-s.ctx.Done():
			return ctx.Err()
		case <-interrupts:
			s.interrupt()
		}
	}
}

// parent is the process that started this one, asked for before it may have ended.
var parent = os.Getppid()

// endWithParent ends the kernel when the Jupyter server that started this process has ended. A kernel started otherwise
// outlives its parent.
func (s *server) endWithParent() {
	jupyter := os.Getenv("JPY_PARENT_PID")
	if jupyter == "" {
		return
	}
	for p := parent; p == parent && (p != 1 || jupyter == "1") && s.ctx.Err() == nil; p = os.Getppid() {
		time.Sleep(200 * time.Millisecond)
	}
	s.end()
}

// closeEngine doesn't wait for an engine that hangs, as one whose process is deep in a driver: it ends with this one.
func closeEngine(e Engine) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := e.Close(); err != nil {
			log.Print("kernel: ", err)
		}
	}()
	select {
	case <-closed:
	case <-time.After(3 * time.Second):
	}
}
