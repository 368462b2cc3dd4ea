package engine

import (
	"context"
	"encoding/gob"
	"os"
	"sync"
	"syscall"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// stream shows what a program writes to its standard output or error.
type stream struct {
	name string
	r    *os.File // of a host
	show func(name, text string)
	mu   sync.Mutex // held from reading until it is shown
	buf  [1 << 16]byte
}

// copy shows what is written, until the stream is closed.
func (s *stream) copy() {
	if raw, err := s.r.SyscallConn(); err == nil {
		_ = raw.Read(func(fd uintptr) bool { // waits where this returns false
			n, err := s.take(fd)
			for n > 0 {
				n, err = s.take(fd)
			}
			return err != syscall.EAGAIN
		})
	}
}

// drain shows all that has been written.
func (s *stream) drain() {
	if raw, err := s.r.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // fails when the stream is closed
			n, _ := s.take(fd)
			for i := 0; n > 0 && i < 1000; i++ { // others may keep writing
				n, _ = s.take(fd)
			}
		})
	}
}

// take shows what can be read at once.
func (s *stream) take(fd uintptr) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, err = syscall.Read(int(fd), s.buf[:]); err == syscall.EINTR; {
		n, err = syscall.Read(int(fd), s.buf[:])
	}
	if n > 0 {
		s.Write(s.buf[:n])
	}
	return n, err
}

func (s *stream) Write(p []byte) (int, error) {
	s.show(s.name, cell.Plain(string(p)))
	return len(p), nil
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
		case asks:
			go e.input(p, question)
		case !p.page.Takes(d, out):
			show(p, d, out)
		}
	}
}

// give gives package gonbui a value of the front end.
func (p *process) give(address string, value any) {
	p.values.Encode(&protocol.CommValue{Address: address, Value: value}) // if the host has ended, nobody waits for it
}

// input asks the user for a line. One question is enough for all who wait for a line.
func (e *Engine) input(p *process, r protocol.InputRequest) {
	if !p.asks.CompareAndSwap(false, true) {
		return
	}
	line, err := e.out().Input(context.Background(), r.Prompt, r.Password)
	if err == nil {
		line += "\n"
	}
	p.asks.Store(false)
	p.call(context.Background(), "Give", line, nil)
}

// show shows rich output.
func show(p *process, d *protocol.DisplayData, out jupyter.Out) {
	shown := jupyter.Display{Data: map[string]any{}, Metadata: d.Metadata}
	for kind, v := range d.Data {
		shown.Data[string(kind)] = v
	}
	if d.Metadata[wire.Result] == true {
		shown.Result, shown.Metadata = true, nil
	}
	if d.DisplayID != "" {
		shown.ID, shown.Update = p.page.Place(d.DisplayID, out)
	}
	out.Display(shown)
}
