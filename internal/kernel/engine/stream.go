package engine

import (
	"os"
	"sync"
	"syscall"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// stream shows what a host writes to its standard output or error.
type stream struct {
	name string
	r    *os.File
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
		s.show(s.name, cell.Plain(string(s.buf[:n])))
	}
	return n, err
}
