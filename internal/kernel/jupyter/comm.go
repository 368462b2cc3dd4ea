package jupyter

// comm hands a message of a front end for a widget to the engine.
func (s *server) comm(r *request) {
	s.status(r, "busy")
	defer s.idle(r)
	m := Comm{Kind: CommKind(r.Type), ID: r.content.Comm, Target: r.content.Target, Data: r.content.Data, Buffers: r.buffers}
	if !s.note(m) {
		return // of a page that is older than this kernel
	}
	o := s.newOut(r, 0, false)
	o.finish() // there is nobody to ask
	if err := s.engine.Comm(s.ctx, m, o); err != nil && m.Kind == CommOpen {
		o.Comm(Comm{Kind: CommClose, ID: m.ID, Data: fields{}})
	}
	o.flush()
}

// note remembers which comms are open. It reports whether the message is for one that is, or opens it.
func (s *server) note(m Comm) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Kind == CommOpen {
		s.open[m.ID] = m.Target
	}
	_, open := s.open[m.ID]
	if m.Kind == CommClose {
		delete(s.open, m.ID)
	}
	return open
}

// openComms answers a comm_info_request.
func (s *server) openComms(target string) fields {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := fields{}
	for id, t := range s.open {
		if target == "" || target == t {
			open[id] = fields{"target_name": t}
		}
	}
	return fields{"comms": open}
}
