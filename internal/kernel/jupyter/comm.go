package jupyter

import (
	"encoding/json"
	"sync"
)

// comms are the channels between widgets and the engine.
type comms struct {
	queue chan *request // messages of front ends
	mu    sync.Mutex
	open  map[string]string // targets by id
}

// note remembers which comms are open. It reports whether the message is for one that is, or opens it.
func (c *comms) note(m Comm) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Kind == CommOpen {
		c.open[m.ID] = m.Target
	}
	_, open := c.open[m.ID]
	if m.Kind == CommClose {
		delete(c.open, m.ID)
	}
	return open
}

// commContent is the content of a comm message.
type commContent struct {
	ID     string `json:"comm_id"`
	Target string `json:"target_name,omitempty"`
	Data   any    `json:"data"`
}

// comm hands a message of a front end to the engine.
func (s *server) comm(r *request) {
	s.iopub.status(r.parent, "busy")
	defer s.idle(r)
	var c commContent
	if r.decode(&c) != nil {
		return
	}
	m := Comm{Kind: CommKind(r.Type), ID: c.ID, Target: c.Target, Data: c.Data, Buffers: r.buffers}
	json.Unmarshal(r.metadata, &m.Metadata) // as far as it goes
	if !s.comms.note(m) {
		return // of a page that is older than this kernel
	}
	o := s.newOut(r, 0, false)
	o.finish() // there is nobody to ask
	if err := s.engine.Comm(s.ctx, m, o); err != nil && m.Kind == CommOpen {
		o.Comm(Comm{Kind: CommClose, ID: m.ID})
	}
	o.flush()
}

func (s *server) commInfo(c commContent) (fields, error) {
	s.comms.mu.Lock()
	defer s.comms.mu.Unlock()
	open := fields{}
	for id, target := range s.comms.open {
		if c.Target == "" || c.Target == target {
			open[id] = fields{"target_name": target}
		}
	}
	return fields{"comms": open}, nil
}
