package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Limits of a connection until its peer has signed a message.
const (
	messageLimit = 64 << 20         // bytes of a message to the shell, control and stdin channels
	smallLimit   = 64 << 10         // of a handshake, a subscription and a heartbeat
	frameCost    = 1 << 10          // what a frame counts for beside its bytes
	arrivalLimit = 256 << 20        // bytes of all messages whose end has not arrived
	arrivalTime  = 10 * time.Second // without a byte of a message that has begun
)

// tooLong is the error of a message that is longer than its limit.
type tooLong struct{ announced, limit uint64 }

func (e tooLong) Error() string {
	return fmt.Sprintf("a frame announces %d bytes; want at most %d in a message", e.announced, e.limit)
}

// bounded is a connection that hands on a frame when all of it has arrived, since the library makes
// room for as much as a frame announces. A message of more than the limit is an error.
type bounded struct {
	net.Conn
	all *arrivals
	in  *bufio.Reader

	greeted, opened, begun bool   // begun says that frames of the same message have come
	limit, left            int    // bytes of a message, and of the one that arrives
	ready                  []byte // to be read by the library
}

// open ends the handshake, which has a deadline of its own and small messages. Messages may be
// large from now on if large is set.
func (b *bounded) open(large bool) {
	if b.opened = true; large {
		b.limit, b.left = messageLimit, messageLimit
	}
}

func (b *bounded) Read(p []byte) (n int, err error) {
	if len(b.ready) == 0 {
		if b.ready, err = b.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, b.ready)
	if b.ready = b.ready[n:]; len(b.ready) == 0 {
		b.ready = nil // it may be large
	}
	return n, nil
}

// next waits for the greeting or a frame.
func (b *bounded) next() ([]byte, error) {
	var got bytes.Buffer // which grows with what arrives
	if !b.greeted {
		b.in, b.greeted, b.limit, b.left = bufio.NewReader(b.Conn), true, smallLimit, smallLimit
		_, err := io.CopyN(&got, b.in, 64)
		return got.Bytes(), err
	}
	const more, long = 1, 2 // flags
	first := io.Reader(b.in)
	if b.begun {
		first = arriving{b}
	}
	if _, err := io.CopyN(&got, first, 2); err != nil {
		return nil, err
	}
	flags, size := got.Bytes()[0], uint64(got.Bytes()[1])
	if flags&long != 0 {
		if _, err := io.CopyN(&got, arriving{b}, 7); err != nil {
			return nil, err
		}
		size = binary.BigEndian.Uint64(got.Bytes()[1:])
	}
	if size+frameCost > uint64(b.left) || size > messageLimit {
		return nil, tooLong{size, uint64(b.limit)}
	}
	b.left -= int(size) + frameCost
	if _, err := io.CopyN(&got, arriving{b}, int64(size)); err != nil {
		return nil, err
	}
	if b.begun = flags&more != 0; !b.begun {
		b.left = b.limit
		b.all.add(b, 0)
	}
	return got.Bytes(), nil
}

func (b *bounded) Close() error {
	b.all.add(b, 0)
	return b.Conn.Close()
}

// arriving reads the rest of a message that has begun.
type arriving struct{ *bounded }

func (a arriving) Read(p []byte) (int, error) {
	if a.opened { // else the handshake has a deadline
		a.SetReadDeadline(time.Now().Add(arrivalTime))
		defer a.SetReadDeadline(time.Time{})
	}
	n, err := a.in.Read(p)
	a.all.add(a.bounded, n)
	return n, err
}

// arrivals counts the bytes of messages whose end has not arrived.
type arrivals struct {
	mu sync.Mutex
	of map[*bounded]int
}

// add counts bytes of a connection; 0 says that it has none any longer. If there are too many in
// all, the connection that has the most is closed.
func (a *arrivals) add(b *bounded, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n == 0 {
		delete(a.of, b)
		return
	}
	if a.of == nil {
		a.of = map[*bounded]int{}
	}
	a.of[b] += n
	sum, most := 0, b
	for c, n := range a.of {
		if sum += n; n > a.of[most] {
			most = c
		}
	}
	if sum > arrivalLimit {
		delete(a.of, most)
		most.Conn.Close()
	}
}
