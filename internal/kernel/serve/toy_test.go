package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// toy is an engine whose cells are lines of a command and its argument.
type toy struct {
	forced  chan struct{}
	once    sync.Once
	release chan string // ends a command "wait"
	closed  atomic.Int32
}

func newToy() *toy {
	return &toy{forced: make(chan struct{}), release: make(chan string, 100)}
}

func (t *toy) open(*server) (engine, error) { return t, nil }

func (t *toy) prepare(*request, int) {}

func (t *toy) execute(r *request) error {
	for line := range strings.Lines(r.content.Code) {
		command, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := t.run(r.ctx, r, command, rest); err != nil {
			return err
		}
	}
	return nil
}

func (t *toy) run(ctx context.Context, r *request, command, rest string) error {
	switch command {
	case "print":
		r.stream("stdout", rest+"\n")
	case "warn":
		r.stream("stderr", rest+"\n")
	case "flood":
		n, _ := strconv.Atoi(rest)
		for begin := 0; begin < n; begin += 1000 {
			text := ""
			for i := range 1000 {
				text += fmt.Sprintln("line", begin+i)
			}
			r.stream("stdout", text)
		}
	case "value":
		r.display("execute_result", &protocol.DisplayData{
			Data: map[protocol.MIMEType]any{"text/plain": rest, "image/png": []byte("png"), "text/html": "<b>",
				"audio/wav": []byte("wav")}})
	case "picture":
		r.display("display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"image/png": []byte("png")},
			DisplayID: rest})
	case "update":
		r.display("update_display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"text/plain": "new"},
			DisplayID: rest})
	case "nan":
		zero := 0.0
		r.display("display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"application/json": zero / zero}})
	case "panic":
		panic(rest)
	case "fail":
		return errors.New(rest)
	case "number":
		r.stream("stdout", strconv.Itoa(r.number)+"\n")
	case "wait":
		select {
		case <-ctx.Done():
			return errInterrupted
		case text := <-t.release:
			r.stream("stdout", text)
		}
	case "hang": // until it is forced
		<-t.forced
		return errors.New("ended by force")
	case "ask", "password":
		line, ok := r.input(ctx.Done(), rest, command == "password")
		if ctx.Err() != nil {
			return errInterrupted
		}
		if !ok {
			line = "EOF"
		}
		r.stream("stdout", line+"\n")
	case "later": // after the cell has ended
		go func() {
			time.Sleep(100 * time.Millisecond)
			line, ok := r.input(r.ended, "", false)
			r.stream("stdout", fmt.Sprint(rest, line, ok, "\n"))
		}()
	}
	return nil
}

var errInterrupted = errors.New("interrupted")

func (t *toy) force() { t.once.Do(func() { close(t.forced) }) }

func (t *toy) complete(code string, offset int) (int, []cell.Proposal, error) {
	if code == "panic" {
		panic("in the checker")
	}
	if code == "bad" {
		return 0, nil, errors.New("cannot")
	}
	start := strings.LastIndex(code[:offset], " ") + 1
	return start, []cell.Proposal{{Text: code[start:offset] + "!", Kind: "function"}}, nil
}

func (t *toy) inspect(code string, offset int) (list []cell.Description) {
	if code == "panic" {
		panic("in the checker")
	}
	if offset > 0 {
		list = append(list, cell.Description{Declaration: code[:offset]})
	}
	return list
}

func (t *toy) comm(*request) {}

func (t *toy) close() error { t.closed.Add(1); return nil }

// TestMain lets other programs run this one as a kernel: with the path of a connection file as its
// argument.
func TestMain(m *testing.M) {
	if file := os.Getenv("TOY_KERNEL"); file != "" {
		if file == "argument" {
			file = os.Args[1]
		}
		if err := serve(context.Background(), file, newToy().open); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Setenv("PARALLELCL_BACKEND", "go")
	if file := os.Getenv("NOTEBOOK_KERNEL"); file != "" {
		open := func(s *server) (engine, error) { return newNotebook(os.Getenv("NOTEBOOK_HOSTS"), s) }
		if err := serve(context.Background(), file, open); err != nil {
			log.Fatal(err)
		}
		return
	}
	var err1, err2 error
	module, err1 = filepath.Abs("../../..")
	hosts, err2 = os.MkdirTemp("", "kernel-test-host")
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	os.RemoveAll(hosts)
	os.Exit(code)
}
