package engine

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// process is a host: the program in which the cells of a notebook run.
type process struct {
	builder *build.Builder
	page    *bridge
	cmd     *exec.Cmd
	end     func() // ends it with all that it has started
	calls   *rpc.Client
	values  *gob.Encoder // to package gonbui
	streams []*stream
	asked   int             // lines that libraries have asked for and nobody has read
	life    context.Context // ends with the process; the cause says why
}

// start starts the host of a builder, which takes the place of the one before.
func (e *Engine) start(b *build.Builder) error {
	calls, toCall, err1 := sockets()
	displays, toDisplay, err2 := os.Pipe()
	toRead, values, err3 := os.Pipe()
	stdout, toStdout, err4 := newStream("stdout", e.text)
	stderr, toStderr, err5 := newStream("stderr", e.text)
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, b.Program, b.Sum)
	build.Group(cmd)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = toStdout, toStderr, []*os.File{toCall, toDisplay, toRead} // 3, 4 and 5
	cmd.Env = append(os.Environ(), protocol.GONB_PIPE_ENV+"=/dev/fd/4", protocol.GONB_PIPE_BACK_ENV+"=/dev/fd/5")
	err := errors.Join(err1, err2, err3, err4, err5)
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range append(cmd.ExtraFiles, toStdout, toStderr) {
		f.Close()
	}
	if err != nil {
		end()
		errors.Join(calls.Close(), displays.Close(), values.Close())
		return err
	}
	life, ended := context.WithCancelCause(context.Background())
	p := &process{builder: b, cmd: cmd, end: end, life: life, calls: rpc.NewClient(calls), values: gob.NewEncoder(values),
		streams: []*stream{stdout, stderr}}
	p.page = newBridge(e.connection, p.give)
	go e.showAll(p, displays)
	go func() {
		err := cmp.Or(cmd.Wait(), errors.New("it was asked to"))
		cmd.Cancel() // what it has started
		p.drain()
		ended(err)
		errors.Join(calls.Close(), values.Close())
	}()
	if err := p.call(ctx, "SetArgs", []string{}, nil); err != nil { // answers when the host is ready
		return err
	}
	e.process.Store(p)
	return nil
}

// sockets returns two files of which each reads what the other writes.
func sockets() (one, other *os.File, err error) {
	syscall.ForkLock.RLock() // a process that starts meanwhile would inherit them
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "kernel"), os.NewFile(uintptr(fds[1]), "host"), nil
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

// kill ends the host and what it has started.
func (p *process) kill() {
	p.end()
	<-p.life.Done()
}

// run loads a cell into the host and runs it, until it ends by itself or ctx does.
func (p *process) run(ctx context.Context, id int, file string) error {
	always := context.WithoutCancel(ctx)
	defer context.AfterFunc(ctx, func() { p.call(always, "Stop", id, nil) })()
	var failure string
	err := p.call(always, "Run", rt.Cell{ID: id, File: file}, &failure)
	p.drain()
	switch {
	case failure == rt.Stopped:
		return context.Canceled
	case failure != "":
		return errors.New(failure)
	}
	return err
}

// drain waits until all that the host has written so far is shown.
func (p *process) drain() {
	for _, s := range p.streams {
		s.drain()
	}
}

const (
	gatherTime = 20 * time.Millisecond // how long text waits for more
	gatherSize = 1 << 20               // of text that is shown at once; a pipe has less
)

// stream shows what programs write to their standard output or error.
type stream struct {
	name  string
	show  func(name, text string)
	conn  syscall.RawConn
	mu    sync.Mutex // held from reading until it is shown
	begun []byte     // a character whose last bytes have not come
}

// newStream returns a stream and the file that programs write to.
func newStream(name string, show func(name, text string)) (s *stream, w *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s = &stream{name: name, show: show}
	s.conn, err = r.SyscallConn()
	go func() {
		defer r.Close()
		s.conn.Read(func(fd uintptr) (end bool) {
			for all := false; !all && !end; {
				time.Sleep(gatherTime)
				all, end = s.take(fd)
			}
			return end
		})
	}()
	return s, w, err
}

// drain waits until all that programs have written so far is shown. It fails at the end, when it is.
func (s *stream) drain() { _ = s.conn.Control(func(fd uintptr) { s.take(fd) }) }

// take shows what can be read at once. It says whether that is all for now, or nobody can write any longer.
func (s *stream) take(fd uintptr) (all, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, buf := s.begun, make([]byte, 1<<16)
	for len(text) < gatherSize && !all && !end { // others may keep writing
		n, err := syscall.Read(int(fd), buf)
		text = append(text, buf[:max(n, 0)]...)
		all, end = err != nil && err != syscall.EINTR, n == 0
	}
	n := len(text)
	for back := 1; !end && back < utf8.UTFMax && back <= len(text); back++ {
		if last := text[len(text)-back:]; utf8.RuneStart(last[0]) && !utf8.FullRune(last) {
			n -= back
		}
	}
	if s.begun = text[n:]; n > 0 {
		s.show(s.name, cell.Plain(string(text[:n])))
	}
	return all, end
}

// text shows what the host writes.
func (e *Engine) text(stream, text string) {
	if out := e.out(); out != nil {
		out.Stream(stream, text)
	}
}

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// showAll shows what the host sends by package gonbui, until it ends. What it has written before comes first.
func (e *Engine) showAll(p *process, displays *os.File) {
	defer displays.Close()
	for dec := gob.NewDecoder(displays); ; {
		d := new(protocol.DisplayData)
		if dec.Decode(d) != nil {
			return
		}
		out := e.out()
		value, _ := d.Data[protocol.MIMECommValue].(protocol.CommValue)
		question, asks := d.Data[protocol.MIMEJupyterInput].(protocol.InputRequest)
		p.drain()
		switch {
		case value.Address == protocol.GonbuiSyncAddress:
			go p.give(protocol.GonbuiSyncAckAddress, value.Value)
		case out == nil:
		case asks && question.Prompt == "" && p.asked > 0: // a reader of the standard input, for whom a library has asked
			p.asked--
		case asks:
			if question.Prompt != "" {
				p.asked++
			}
			go p.input(question, out)
		case !p.page.takes(d, out):
			p.show(d, out)
		}
	}
}

// give gives package gonbui a value of the front end.
func (p *process) give(address string, value any) {
	p.values.Encode(&protocol.CommValue{Address: address, Value: value}) // if the host has ended, nobody waits for it
}

// input asks the user for a line.
func (p *process) input(r protocol.InputRequest, out jupyter.Out) {
	line, err := out.Input(context.Background(), r.Prompt, r.Password)
	if err == nil {
		line += "\n"
	}
	p.call(context.Background(), "Give", line, nil)
}

// show shows rich output.
func (p *process) show(d *protocol.DisplayData, out jupyter.Out) {
	kind, update := "display_data", false
	if d.Metadata[rt.Result] == true {
		kind, d.Metadata = "execute_result", nil
	}
	if d.DisplayID != "" {
		d.DisplayID, update = p.page.place(d.DisplayID, out)
	}
	if update {
		kind = "update_display_data"
	}
	out.Display(kind, d)
}
