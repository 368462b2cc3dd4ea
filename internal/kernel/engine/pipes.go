package engine

import (
	"encoding/gob"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// pipes are the named pipes by which package gonbui talks to its kernel, in a host.
type pipes struct {
	to, from string // the paths: what the host writes, and what it reads
	show     func(*protocol.DisplayData)

	mu   sync.Mutex
	back *os.File
	enc  *gob.Encoder
	open chan struct{} // closed when the host reads
}

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

func newPipes(dir string, show func(*protocol.DisplayData)) (*pipes, error) {
	p := &pipes{to: filepath.Join(dir, "display"), from: filepath.Join(dir, "answers"), show: show, open: make(chan struct{})}
	for _, path := range []string{p.to, p.from} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pipes) env() []string {
	return []string{protocol.GONB_PIPE_ENV + "=" + p.to, protocol.GONB_PIPE_BACK_ENV + "=" + p.from}
}

// read takes what the host displays, until it ends.
func (p *pipes) read() {
	f, err := os.Open(p.to) // waits for the host
	if err != nil {
		return
	}
	defer f.Close()
	go func() {
		back, err := os.OpenFile(p.from, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.back, p.enc = back, gob.NewEncoder(back)
		close(p.open)
	}()
	dec := gob.NewDecoder(f)
	for {
		d := new(protocol.DisplayData)
		if dec.Decode(d) != nil {
			return
		}
		if v, ok := commValue(d); ok && v.Address == protocol.GonbuiSyncAddress {
			go p.send(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value})
			continue
		}
		p.show(d)
	}
}

func commValue(d *protocol.DisplayData) (v protocol.CommValue, ok bool) {
	switch v := d.Data[protocol.MIMECommValue].(type) {
	case protocol.CommValue:
		return v, true
	case *protocol.CommValue:
		return *v, true
	}
	return v, false
}

// send tells the host of a value in the front end.
func (p *pipes) send(v *protocol.CommValue) {
	<-p.open
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.enc != nil {
		p.enc.Encode(v) // if the host has ended, nobody waits for it
	}
}

// close lets go of a host that has ended, also if it never displayed anything.
func (p *pipes) close() {
	if f, err := os.OpenFile(p.to, os.O_RDWR, 0); err == nil { // ends a wait for the host
		defer f.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.back != nil {
		p.back.Close()
		p.enc = nil
	}
}
