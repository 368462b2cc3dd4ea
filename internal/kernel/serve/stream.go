package main

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
)

const (
	gatherTime = 20 * time.Millisecond // how long text waits for more
	gatherSize = 1 << 20               // of text that is shown at once; a pipe has less
)

// launch starts a command in a process group of its own, so that all that it starts can be ended
// with it, and shows what the group writes. drain waits until all that is written so far is shown.
func launch(cmd *exec.Cmd, show func(stream, text string)) (drain func(), err error) {
	stdout, toStdout, err := newStream("stdout", show)
	if err != nil {
		return nil, err
	}
	stderr, toStderr, err := newStream("stderr", show)
	if err != nil {
		return nil, errors.Join(err, toStdout.Close())
	}
	build.Group(cmd)
	cmd.Stdout, cmd.Stderr = toStdout, toStderr
	err = errors.Join(cmd.Start(), toStdout.Close(), toStderr.Close())
	return func() { stdout.drain(); stderr.drain() }, err
}

// stream shows what programs write to their standard output or error.
type stream struct {
	name  string
	show  func(name, text string)
	conn  syscall.RawConn
	mu    sync.Mutex // held while text is read and shown
	begun []byte     // the first bytes of a character whose last ones have not arrived
}

// newStream returns a stream and the file that programs write to.
func newStream(name string, show func(name, text string)) (s *stream, w *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	conn, err := r.SyscallConn()
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(), w.Close())
	}
	s = &stream{name: name, show: show, conn: conn}
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
	return s, w, nil
}

// drain waits until all that programs have written so far is shown. An error means that the stream
// has ended, and then all is.
func (s *stream) drain() { _ = s.conn.Control(func(fd uintptr) { s.take(fd) }) }

// take shows what can be read at once. It says whether that is all for now, or nobody can write any
// longer.
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
		s.show(s.name, string(text[:n]))
	}
	return all, end
}
