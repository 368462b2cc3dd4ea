package backend

import (
	"sync"

	"github.com/gomlx/compute"
)

// beside is what a backend has beside its clients, until it is closed.
type beside struct {
	mu      sync.Mutex
	open    func() (compute.Backend, error) // opens one more client; nil where there can be none
	clients []compute.Backend
	kept    map[any]keeping
}

type keeping struct {
	value any
	free  func()
}

// Beside returns n clients for work that must not wait for what runs on [Backend.Clients], such as
// predictions while a learner trains. Only XLA on the CPU has them, with a thread each; elsewhere
// they are the backend's own clients, of which there is one. They are closed with the backend, and
// later calls return the same ones.
func (b *Backend) Beside(n int) ([]compute.Backend, error) {
	s := &b.beside
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return b.Clients(), nil
	}
	for len(s.clients) < n {
		c, err := s.open()
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, c)
	}
	return s.clients[:n:n], nil
}

// Keep returns the value that is kept with the backend under a key. If there is none, make makes
// it. free is called when the backend is closed, while its clients are open.
func (b *Backend) Keep(key any, make func() (value any, free func(), err error)) (any, error) {
	s := &b.beside
	s.mu.Lock()
	old, ok := s.kept[key]
	s.mu.Unlock()
	if ok {
		return old.value, nil
	}
	value, free, err := make()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.kept[key]; ok { // made meanwhile
		free()
		return old.value, nil
	}
	if s.kept == nil {
		s.kept = map[any]keeping{}
	}
	s.kept[key] = keeping{value, free}
	return value, nil
}

// close frees what is kept, and closes the clients.
func (s *beside) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		k.free()
	}
	for _, c := range s.clients {
		c.Finalize()
	}
	s.kept, s.clients = nil, nil
}
