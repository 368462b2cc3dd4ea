package engine

import (
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// stream shows what a host writes to its standard output or error.
type stream struct {
	name string
	r    *os.File
	l    listener
	mu   sync.Mutex // held from reading until it is shown
}

func newStream(name string, l listener) (s *stream, w *os.File, err error) {
	r, w, err := os.Pipe()
	return &stream{name: name, r: r, l: l}, w, err
}

// copy shows what is written, until all who can write have ended.
func (s *stream) copy() {
	defer s.r.Close()
	raw, err := s.r.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 1<<16)
	for {
		var n int
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			s.mu.Lock()
			n, failed = syscall.Read(int(fd), buf)
			if failed == syscall.EAGAIN || failed == syscall.EINTR {
				s.mu.Unlock()
				return failed == syscall.EINTR
			}
			return true
		})
		if err != nil {
			return
		}
		if failed == syscall.EINTR {
			continue
		}
		if n > 0 {
			s.l.text(s.name, cell.Plain(string(buf[:n])))
		}
		s.mu.Unlock()
		if n <= 0 {
			return
		}
	}
}

// drain waits until all that has been written is shown.
func (s *stream) drain() {
	for range 1000 {
		s.mu.Lock()
		n := waiting(s.r)
		s.mu.Unlock()
		if n == 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}
