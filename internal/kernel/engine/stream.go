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

// copy shows what is written, until all who can write have ended.
func (s *stream) copy() {
	defer s.r.Close()
	raw, err := s.r.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool { // returns at the end, or when the pipe is closed
		for {
			if n, err := s.take(fd); n <= 0 {
				return err != syscall.EAGAIN
			}
		}
	})
}

// take shows what can be read at once.
func (s *stream) take(fd uintptr) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		n, err = syscall.Read(int(fd), s.buf[:])
		if err != syscall.EINTR {
			break
		}
	}
	if n > 0 {
		s.show(s.name, cell.Plain(string(s.buf[:n])))
	}
	return n, err
}

// drain shows all that has been written.
func (s *stream) drain() {
	raw, err := s.r.SyscallConn()
	if err != nil {
		return // it has ended
	}
	_ = raw.Control(func(fd uintptr) {
		for range 1000 { // others may keep writing
			if n, _ := s.take(fd); n <= 0 {
				return
			}
		}
	})
}
