package engine

import (
	"encoding/gob"
	"errors"
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
	back     *os.File

	mu  sync.Mutex
	enc *gob.Encoder // to back
}

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

func newPipes(dir string, show func(*protocol.DisplayData)) (*pipes, error) {
	p := &pipes{to: filepath.Join(dir, "display"), from: filepath.Join(dir, "answers"), show: show}
	err := errors.Join(syscall.Mkfifo(p.to, 0o600), syscall.Mkfifo(p.from, 0o600))
	if err != nil {
		return nil, err
	}
	p.back, err = os.OpenFile(p.from, os.O_RDWR, 0) // which does not wait for the host
	p.enc = gob.NewEncoder(p.back)
	return p, err
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
	dec := gob.NewDecoder(f)
	for {
		d := new(protocol.DisplayData)
		if dec.Decode(d) != nil {
			return
		}
		if v, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue); ok && v.Address == protocol.GonbuiSyncAddress {
			go p.send(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value})
			continue
		}
		p.show(d)
	}
}

// send tells the host of a value in the front end.
func (p *pipes) send(v *protocol.CommValue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enc.Encode(v) // if the host has ended, nobody waits for it
}

// close lets go of a host that has ended, also if it never displayed anything.
func (p *pipes) close() {
	if f, err := os.OpenFile(p.to, os.O_RDWR, 0); err == nil { // ends a wait for the host
		f.Close()
	}
	p.back.Close()
}
