package jupyter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// toy is an engine whose cells are lines of a command and its argument.
type toy struct {
	forced  chan struct{}
	force   sync.Once
	release chan string // ends a command "wait"
	closed  atomic.Int32
	comms   chan jupyter.Comm
}

func newToy() *toy {
	return &toy{forced: make(chan struct{}), release: make(chan string, 100), comms: make(chan jupyter.Comm, 100)}
}

func (t *toy) Execute(ctx context.Context, code string, number int, out jupyter.Out) error {
	for line := range strings.Lines(code) {
		command, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := t.run(ctx, number, out, command, rest); err != nil {
			return err
		}
	}
	return nil
}

func (t *toy) run(ctx context.Context, number int, out jupyter.Out, command, rest string) error {
	switch command {
	case "print":
		out.Stream("stdout", rest+"\n")
	case "warn":
		out.Stream("stderr", rest+"\n")
	case "flood":
		n, _ := strconv.Atoi(rest)
		for begin := 0; begin < n; begin += 1000 {
			text := ""
			for i := range 1000 {
				text += fmt.Sprintln("line", begin+i)
			}
			out.Stream("stdout", text)
		}
	case "value":
		out.Display("execute_result", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"text/plain": rest, "image/png": []byte("png"), "text/html": "<b>", "audio/wav": []byte("wav")}})
	case "picture":
		out.Display("display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"image/png": []byte("png")}, DisplayID: rest})
	case "update":
		out.Display("update_display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"text/plain": "new"}, DisplayID: rest})
	case "nan":
		zero := 0.0
		out.Display("display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"application/json": zero / zero}})
	case "fail":
		return errors.New(rest)
	case "number":
		out.Stream("stdout", strconv.Itoa(number)+"\n")
	case "wait":
		select {
		case <-ctx.Done():
			return errInterrupted
		case text := <-t.release:
			out.Stream("stdout", text)
		}
	case "hang": // until it is forced
		<-t.forced
		return errors.New("ended by force")
	case "ask", "password":
		line, err := out.Input(ctx, rest, command == "password")
		if err == io.EOF {
			line, err = "EOF", nil
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
		out.Stream("stdout", line+"\n")
		return err
	case "later": // after the cell has ended
		go func() {
			time.Sleep(100 * time.Millisecond)
			line, err := out.Input(context.Background(), "", false)
			out.Stream("stdout", fmt.Sprint(rest, line, err, "\n"))
		}()
	}
	return nil
}

var errInterrupted = errors.New("interrupted")

func (t *toy) Force() { t.force.Do(func() { close(t.forced) }) }

func (t *toy) Complete(code string, offset int) (int, []cell.Proposal, error) {
	if code == "bad" {
		return 0, nil, errors.New("cannot")
	}
	start := strings.LastIndex(code[:offset], " ") + 1
	return start, []cell.Proposal{{Text: code[start:offset] + "!", Kind: "function"}}, nil
}

func (t *toy) Inspect(code string, offset int) (declaration, doc string) { return code[:offset], "" }

func (t *toy) Comm(m jupyter.Comm, out jupyter.Out) error {
	t.comms <- m
	if m.Data["for"] != "toy" {
		return errors.New("for nobody")
	}
	out.Comm(m.ID, m.Data)
	return nil
}

func (t *toy) Close() error { t.closed.Add(1); return nil }

// TestMain lets other programs run this one as a kernel: with the path of a connection file as its argument.
func TestMain(m *testing.M) {
	if file := os.Getenv("TOY_KERNEL"); file != "" {
		if file == "argument" {
			file = os.Args[1]
		}
		err := jupyter.Serve(context.Background(), file, newToy())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
