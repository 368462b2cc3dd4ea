package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/page"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// process is a host: the program in which the cells of a notebook run.
type process struct {
	host     *build.Host
	builder  *build.Builder
	page     *page.Bridge
	cmd      *exec.Cmd
	end      func() // ends it with all that it has started
	requests *os.File
	streams  []*stream
	pipes    *pipes
	ended    chan struct{} // closed when the process has ended
	why      error

	mu      sync.Mutex
	next    int
	waiting map[int]chan wire.Answer
}

// start starts a host, which takes the place of the one before, with a folder for its pipes.
func (e *Engine) start(h *build.Host, b *build.Builder) error {
	requestsIn, requests, err := os.Pipe()
	if err != nil {
		return err
	}
	answers, answersOut, err := os.Pipe()
	if err != nil {
		return err
	}
	pipeDir, err := os.MkdirTemp(e.dir, "host")
	if err != nil {
		return err
	}
	p := &process{host: h, builder: b, requests: requests, ended: make(chan struct{}), waiting: map[int]chan wire.Answer{}}
	if p.pipes, err = newPipes(pipeDir, func(d *protocol.DisplayData) { p.drain(); e.display(p, d) }); err != nil {
		return err
	}
	p.page = page.New(e.config.Connection, func(address string, value any) {
		p.pipes.send(&protocol.CommValue{Address: address, Value: value})
	})
	ctx, cancel := context.WithCancel(context.Background())
	p.end, p.cmd = cancel, exec.CommandContext(ctx, h.Program)
	build.Group(p.cmd)
	p.cmd.ExtraFiles = []*os.File{requestsIn, answersOut}
	p.cmd.Env = append(append(os.Environ(), p.pipes.env()...), wire.SourceVariable+"="+h.Sum)
	for name, to := range map[string]*io.Writer{"stdout": &p.cmd.Stdout, "stderr": &p.cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer w.Close()
		*to = w
		p.streams = append(p.streams, &stream{name: name, r: r, show: e.text})
	}
	err = p.cmd.Start()
	requestsIn.Close()
	answersOut.Close()
	if err != nil {
		return err
	}
	for _, s := range p.streams {
		go s.copy()
	}
	go p.pipes.read()
	ready := make(chan struct{})
	go p.listen(answers, e, ready)
	select {
	case <-ready:
		e.process.Store(p)
		return nil
	case <-p.ended:
		return p.err()
	}
}

// listen hands out the answers of the host until it ends.
func (p *process) listen(answers *os.File, e *Engine, ready chan struct{}) {
	defer answers.Close()
	r := bufio.NewReader(answers)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var a wire.Answer
		if json.Unmarshal(line, &a) != nil {
			continue
		}
		switch a.Op {
		case "ready":
			close(ready)
		case "input":
			go e.input(p, a)
		default:
			p.mu.Lock()
			ch := p.waiting[a.ID]
			delete(p.waiting, a.ID)
			p.mu.Unlock()
			if ch != nil {
				ch <- a
			}
		}
	}
	p.why = p.cmd.Wait()
	p.drain()
	p.pipes.close()
	close(p.ended)
}

// hasEnded says whether the host has.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// err says why the host has ended.
func (p *process) err() error {
	if p.why == nil {
		return errors.New("the process of the cells has ended")
	}
	return fmt.Errorf("the process of the cells has ended: %w", p.why)
}

func (p *process) send(r wire.Request) (chan wire.Answer, error) {
	ch := make(chan wire.Answer, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ID == 0 {
		p.next++
		r.ID = p.next
		p.waiting[r.ID] = ch
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	_, err = p.requests.Write(append(data, '\n'))
	return ch, err
}

// call asks the host and waits for its answer. The error is that of the host, or of ctx.
func (p *process) call(ctx context.Context, r wire.Request) (wire.Answer, error) {
	ch, err := p.send(r)
	if err != nil {
		return wire.Answer{}, p.err()
	}
	select {
	case a := <-ch:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-p.ended:
		return wire.Answer{}, p.err()
	case <-ctx.Done():
		return wire.Answer{}, context.Cause(ctx)
	}
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
	<-p.ended
	p.requests.Close()
	os.RemoveAll(filepath.Dir(p.pipes.to))
}
