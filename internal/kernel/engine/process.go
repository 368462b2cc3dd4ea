package engine

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"sync/atomic"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/page"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// process is a host: the program in which the cells of a notebook run.
type process struct {
	host    *build.Host
	builder *build.Builder
	page    *page.Bridge
	cmd     *exec.Cmd
	end     func() // ends it with all that it has started
	calls   *rpc.Client
	values  *gob.Encoder // to package gonbui
	streams []*stream
	asks    atomic.Bool     // whether the user is asked for a line
	life    context.Context // ends with the process; the cause says why
}

// start starts a host, which takes the place of the one before.
func (e *Engine) start(h *build.Host, b *build.Builder) error {
	answers, toAnswer, err1 := os.Pipe()
	displays, toDisplay, err2 := os.Pipe()
	toRead, values, err3 := os.Pipe()
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, h.Program)
	build.Group(cmd)
	cmd.ExtraFiles = []*os.File{toAnswer, toDisplay, toRead} // 3, 4 and 5
	cmd.Env = append(os.Environ(), wire.SourceVariable+"="+h.Sum, protocol.GONB_PIPE_ENV+"=/dev/fd/4", protocol.GONB_PIPE_BACK_ENV+"=/dev/fd/5")
	requests, err4 := cmd.StdinPipe()
	stdout, err5 := cmd.StdoutPipe()
	stderr, err6 := cmd.StderrPipe()
	err := errors.Join(err1, err2, err3, err4, err5, err6)
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		end()
		return err
	}
	life, ended := context.WithCancelCause(context.Background())
	p := &process{host: h, builder: b, cmd: cmd, end: end, life: life, values: gob.NewEncoder(values)}
	p.page = page.New(e.connection, p.give)
	p.streams = []*stream{{name: "stdout", r: stdout.(*os.File), show: e.text}, {name: "stderr", r: stderr.(*os.File), show: e.text}}
	for _, s := range p.streams {
		go s.copy()
	}
	go e.showAll(p, displays)
	answered, w := io.Pipe()
	p.calls = rpc.NewClient(struct {
		io.Reader
		io.WriteCloser
	}{answered, requests})
	go func() {
		io.Copy(w, answers) // until the host has ended
		p.drain()
		end()
		ended(cmp.Or(cmd.Wait(), errors.New("it was asked to")))
		errors.Join(w.Close(), answers.Close(), values.Close())
	}()
	if err := p.call(ctx, "SetArgs", []string{}, nil); err != nil { // answers when the host is ready
		return err
	}
	e.process.Store(p)
	return nil
}

// call has the host do something.
func (p *process) call(ctx context.Context, method string, args, reply any) error {
	c := p.calls.Go("Host."+method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-c.Done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, ok := c.Error.(rpc.ServerError); ok || c.Error == nil {
		return c.Error
	}
	<-p.life.Done()
	return fmt.Errorf("the process of the cells has ended: %w", context.Cause(p.life))
}

// drain waits until all that the host has written so far is shown.
func (p *process) drain() {
	for _, s := range p.streams {
		s.drain()
	}
}

// kill ends the host and what it has started.
func (p *process) kill() {
	p.end()
	<-p.life.Done()
}

// run loads a cell into the host and runs it, until it ends by itself or ctx does.
func (p *process) run(ctx context.Context, id int, file string) error {
	always := context.WithoutCancel(ctx)
	if err := p.call(always, "Load", wire.Cell{ID: id, File: file}, nil); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { p.call(always, "Stop", id, nil) })()
	var failure string
	err := p.call(always, "Run", id, &failure)
	p.drain()
	switch {
	case failure == wire.Stopped:
		return context.Canceled
	case failure != "":
		return errors.New(failure)
	}
	return err
}
