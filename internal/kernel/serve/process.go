package main

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
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// process is a host that runs, in which the cells of a notebook run.
type process struct {
	*build.Cells
	cmd    *exec.Cmd
	calls  *rpc.Client
	values *gob.Encoder    // to package gonbui
	drain  func()          // waits until all that it has written so far is shown
	asked  int             // lines that libraries have asked for and nobody has read
	life   context.Context // ends with the process; the cause says why
}

// start starts the host of cells. Where they are no plugins, they are linked to it, with another
// one that it is to run.
func (e *notebook) start(ctx context.Context, cells *build.Cells, run ...int) (p *process, err error) {
	file := cells.Program
	if !cells.Go.Plugins && len(cells.IDs)+len(run) > 0 {
		if file, err = cells.Link(ctx, cells.IDs, run...); err != nil {
			return nil, err
		}
		defer os.Remove(file)
	}
	cmd := exec.CommandContext(context.Background(), file, cells.Sum)
	ends, err := pipes(4)
	if err != nil {
		return nil, err
	}
	toAsk, displays, toGive, replies := ends[1], ends[2], ends[5], ends[6]
	cmd.ExtraFiles = []*os.File{ends[0], ends[3], ends[4], ends[7]} // from 3 on
	cmd.Env = append(os.Environ(), marker+e.dir, protocol.GONB_PIPE_ENV+"=/dev/fd/4", protocol.GONB_PIPE_BACK_ENV+
		"=/dev/fd/5")
	drain, err := launch(cmd, e.text)
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, toAsk.Close(), displays.Close(), toGive.Close(), replies.Close())
	}
	life, ended := context.WithCancelCause(context.Background())
	p = &process{Cells: cells, cmd: cmd, life: life, drain: drain,
		calls: rpc.NewClient(duplex{replies, toAsk}), values: gob.NewEncoder(toGive)}
	go func() {
		e.showAll(p, displays)
		err := cmp.Or(cmd.Wait(), errors.New("it was asked to"))
		cmd.Cancel() // what it has started
		p.drain()
		ended(err)
		errors.Join(p.calls.Close(), toGive.Close(), replies.Close(), displays.Close())
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second,
		errors.New("the new process of the cells does not answer"))
	defer cancel()
	if err = p.call(ctx, "SetArgs", e.args, nil); err != nil { // answers when the host is ready
		p.end()
	}
	return p, err
}

// duplex is a connection of two pipes.
type duplex struct {
	io.Reader
	io.WriteCloser
}

// pipes makes pipes and returns their ends: of each the one to read from, then the one to write to.
func pipes(n int) (ends []*os.File, err error) {
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range ends {
				f.Close()
			}
			return nil, err
		}
		ends = append(ends, r, w)
	}
	return ends, nil
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

// load loads cells that are linked into a plugin of this file, or else links them.
func (p *process) load(ctx context.Context, file string, replay []int, run ...int) (_ string, err error) {
	if file == "" {
		if file, err = p.Link(ctx, replay, run...); err != nil {
			return "", err
		}
	}
	if err := p.call(context.WithoutCancel(ctx), "Load", file, nil); err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	return file, nil
}

// end ends the host and what it has started.
func (p *process) end() {
	if p.life.Err() == nil {
		p.cmd.Cancel()
	}
}

// run runs a cell in the host, until it ends by itself or ctx does: a function of the file, if it
// is a plugin.
func (p *process) run(ctx context.Context, id int, file, function string) error {
	always := context.WithoutCancel(ctx)
	defer context.AfterFunc(ctx, func() { p.call(always, "Stop", id, nil) })()
	var failure string
	err := p.call(always, "Run", rt.Cell{ID: id, File: file, Function: function}, &failure)
	p.drain()
	if failure == "" {
		return err
	}
	if left, ok := strings.CutPrefix(failure, rt.StoppedText); ok {
		return stopped{left}
	}
	return errors.New(failure)
}

// stopped is the error of a cell that was stopped: what of it goes on.
type stopped struct{ left string }

func (s stopped) Error() string {
	text := "stopped: what the cell began with is still there"
	if s.left != "" {
		text += ". This could not be stopped: " + s.left + ". %handover ends it, with a new process for the cells"
	}
	return text
}

func (stopped) Is(err error) bool { return err == context.Canceled }

// text shows what the host writes.
func (e *notebook) text(stream, text string) { e.server.speaker().print(stream, text) }

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// showAll shows what the host sends by package gonbui, until it ends. Text that the host has
// written before a display is shown before it.
func (e *notebook) showAll(p *process, displays io.Reader) {
	for dec := gob.NewDecoder(displays); ; {
		d := new(protocol.DisplayData)
		if dec.Decode(d) != nil {
			return
		}
		r := e.server.speaker()
		value, _ := d.Data[protocol.MIMECommValue].(protocol.CommValue)
		question, asks := d.Data[protocol.MIMEJupyterInput].(protocol.InputRequest)
		p.drain()
		switch {
		case d.Data[rt.OrderKey] != nil:
			go p.obey(d, r)
		case value.Address == protocol.GonbuiSyncAddress:
			go p.give(protocol.GonbuiSyncAckAddress, value.Value)
		case asks && question.Prompt == "" && p.asked > 0: // a reader of the standard input, for whom a library has asked
			p.asked--
		case asks:
			if question.Prompt != "" {
				p.asked++
			}
			go p.input(question, r)
		default:
			e.page.show(d, r)
		}
	}
}

// obey does a command where it stands in a cell.
func (p *process) obey(d *protocol.DisplayData, r *request) {
	text, _ := d.Data[rt.OrderKey].(string)
	n, _ := d.Data[rt.NumberKey].(int)
	done := rt.Done{Number: n}
	if err := enter(func() error { return r.do(cell.Command{Text: text}) }); err != nil {
		done.Problem = err.Error()
	}
	p.call(context.Background(), "Answer", done, nil) // if the host has ended, nobody waits for it
}

// give gives package gonbui a value of the front end.
func (p *process) give(address string, value any) {
	p.values.Encode(&protocol.CommValue{Address: address, Value: value}) // if the host has ended, nobody waits for it
}

// input asks the user for a line.
func (p *process) input(q protocol.InputRequest, r *request) {
	line, ok := r.input(r.ended, q.Prompt, q.Password)
	if ok {
		line += "\n"
	}
	p.call(context.Background(), "Give", line, nil)
}
