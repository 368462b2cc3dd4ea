package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"

	"github.com/parallelcl/parallelcl/internal/expect"
)

const greeting = "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// meets ends a handshake.
func meets(kind string) string {
	return fmt.Sprintf("\x04%c\x05READY\x0bSocket-Type\x00\x00\x00%c%s", 22+len(kind), len(kind), kind)
}

// knock connects to a port and says something.
func knock(t *testing.T, file string, port int, said string) net.Conn {
	t.Helper()
	raw, err := net.Dial("unix", filepath.Join(filepath.Dir(file), "s-"+strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	if _, err := raw.Write([]byte(said)); err != nil {
		t.Fatal(err)
	}
	return raw
}

// gone waits until the kernel closes a connection.
func gone(t *testing.T, raw net.Conn) bool {
	raw.SetReadDeadline(time.Now().Add(2 * patience))
	_, err := io.Copy(io.Discard, raw)
	return err == nil || !err.(net.Error).Timeout()
}

// header is that of a frame.
func header(flags byte, size uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{flags | 2}, size))
}

// A connection that announces more than a message may have is closed, and none costs more than has
// arrived.
func TestAnnounced(t *testing.T) {
	c, file, _ := start(t, newToy().open)
	var before, after runtime.MemStats
	for name, said := range map[string]string{
		"30 GiB":             greeting + meets("DEALER") + header(0, 30<<30),
		"the largest number": greeting + meets("DEALER") + header(1, 1<<64-1),
		"more than the first frame leaves": greeting + meets("DEALER") + header(1, 1000) + strings.Repeat("x",
			1000) + header(0, messageLimit-1000),
		"a command":         greeting + meets("DEALER") + header(4, 1<<30),
		"a large handshake": greeting + header(4, 1<<20),
		"empty frames without end": greeting + meets("DEALER") + strings.Repeat("\x01\x00",
			messageLimit/frameCost+1),
		"a large topic":                      greeting + meets("SUB") + header(0, 1<<20),
		"a large heartbeat, after a request": greeting + meets("REQ") + "\x01\x00\x00\x04ping" + header(0, 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			port := 1
			if strings.Contains(said, "SUB") {
				port = 2
			} else if strings.Contains(said, "REQ") {
				port = 5
			}
			if !gone(t, knock(t, file, port, said)) {
				t.Error("the connection stays")
			}
		})
	}
	runtime.ReadMemStats(&before)
	for range 20 { // within the limit, and nothing follows
		knock(t, file, 1, greeting+meets("DEALER")+header(0, messageLimit-frameCost)+"x")
	}
	if reply, _ := c.run("print a"); reply.str("status") != "ok" {
		t.Error(reply)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > messageLimit {
		t.Errorf("%d bytes for what 20 connections announced", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestArrivals: messages that do not end cost no more than their limit, and the peer that sends the
// most of them is shut out.
func TestArrivals(t *testing.T) {
	c, file, _ := start(t, newToy().open)
	part := strings.Repeat("x", 50<<20)
	var held []net.Conn
	for range arrivalLimit/len(part) + 1 {
		held = append(held, knock(t, file, 1, greeting+meets("DEALER")+header(0, messageLimit-frameCost)+part))
	}
	if reply, out := c.run("print a" + strings.Repeat(" ", 20<<20)); reply.str("status") != "ok" ||
		len(text(out, "stdout")) != 20<<20+2 {
		t.Error("a large cell:", reply)
	}
	closed := 0
	for _, raw := range held {
		raw.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := io.Copy(io.Discard, raw); err == nil || !err.(net.Error).Timeout() {
			closed++
		}
	}
	if closed == 0 {
		t.Errorf("all of %d connections stay", len(held))
	}
}

// Connections that say nothing, or too little, end; others find a place among those that are not
// known.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	c, file, _ := start(t, newToy().open)
	c.run("print a")
	var silent, met []net.Conn
	for i := range 4 * maxPeers {
		said := []string{"", greeting[:20], greeting, greeting + "\x04"}[i%4]
		silent = append(silent, knock(t, file, 1+i%5, said))
	}
	for range 2 * maxPeers { // to all ports in turn
		for _, port := range []int{1, 3, 4} {
			met = append(met, knock(t, file, port, greeting+meets("DEALER")))
		}
	}
	late := dial(t, file, "late")
	for _, c := range []*client{c, late} {
		if reply, _ := c.run("print a"); reply.str("status") != "ok" {
			t.Error(c.id, reply)
		}
	}
	for i, raw := range silent {
		if !gone(t, raw) {
			t.Fatalf("connection %d stays", i)
		}
	}
	left := 0
	for _, raw := range met {
		raw.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := io.Copy(io.Discard, raw); err != nil && err.(net.Error).Timeout() {
			left++
		}
	}
	if left > 3*maxPeers {
		t.Errorf("%d connections to three ports stay", left)
	}
}

// subscriber connects a peer to a publisher.
func subscriber(t *testing.T, s *server) (*peer, *zmq4.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	front, err1 := net.Dial("tcp", l.Addr().String())
	kernel, err2 := l.Accept()
	if err := errors.Join(err1, err2, front.(*net.TCPConn).SetReadBuffer(1<<16),
		kernel.(*net.TCPConn).SetWriteBuffer(1<<16)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	p := &peer{bounded: bounded{Conn: kernel, all: &s.arriving}, door: new(door)}
	var wait sync.WaitGroup
	wait.Go(func() { p.zmq, _ = zmq4.Open(p, null.Security(), zmq4.XPub, nil, true, nil) })
	z, err := zmq4.Open(front, null.Security(), zmq4.Sub, nil, false, nil)
	if wait.Wait(); err != nil || p.zmq == nil {
		t.Fatal(expect.Text(err))
	}
	s.subscribe(p, [][]byte{{1}})
	return p, z
}

func publisherOf(t *testing.T) *server {
	s := &server{published: publisher{subscribers: map[*peer]bool{}}}
	s.published.changed = sync.NewCond(&s.published.mu)
	t.Cleanup(func() {
		s.published.mu.Lock()
		defer s.published.mu.Unlock()
		for p := range s.published.subscribers {
			p.Close()
			delete(s.published.subscribers, p)
		}
		s.published.changed.Broadcast()
	})
	return s
}

// take reads messages until one with a last frame comes, and returns how many they are without a
// welcome.
func take(t *testing.T, z *zmq4.Conn, last string) (n int, sorted bool) {
	t.Helper()
	var numbers []int
	for {
		m, err := z.RecvMsg()
		if err != nil {
			t.Fatal(err)
		}
		text := string(bytes.TrimRight(m.Frames[len(m.Frames)-1], "x"))
		if len(m.Frames) == 2 {
			i, _ := strconv.Atoi(text)
			numbers = append(numbers, i)
		}
		if text == last {
			return len(numbers), slices.IsSorted(numbers)
		}
	}
}

// Nobody waits for subscribers that do not read, and the others miss nothing.
func TestSubscribersThatDoNotRead(t *testing.T) {
	for _, c := range []struct {
		name        string
		stuck       int
		size, n     int
		stillThere  int // subscribers
		readsSlowly bool
	}{
		{"a megabyte waits for them", 6, 10_000, 100, 7, false},
		{"they fall far behind", 6, 4 << 20, 2*outboxLimit/(4<<20) + 3, 1, false},
		{"a message longer than the limit", 1, outboxLimit + 1, 3, 1, false},
		{"the only one reads slowly", 0, 4 << 20, 2*outboxLimit/(4<<20) + 3, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := publisherOf(t)
			for range c.stuck {
				subscriber(t, s)
			}
			_, z := subscriber(t, s)
			var n int
			var sorted bool
			var reader sync.WaitGroup
			reader.Go(func() {
				if c.readsSlowly {
					time.Sleep(100 * time.Millisecond)
				}
				n, sorted = take(t, z, strconv.Itoa(c.n-1))
			})
			filler := strings.Repeat("x", c.size)
			for i := range c.n {
				s.broadcast([][]byte{[]byte("stream"), []byte(strconv.Itoa(i) + filler)})
			}
			reader.Wait()
			s.published.mu.Lock()
			defer s.published.mu.Unlock()
			switch {
			case n != c.n:
				t.Errorf("%d of %d messages (in order: n is %d; want %d", n, c.n, n, c.n)
			case !sorted:
				t.Errorf("%d of %d messages (in order: %t), %d subscribers; want %d", n, c.n, sorted, len(s.published.subscribers),
					c.stillThere)
			case len(s.published.subscribers) != c.stillThere:
				t.Errorf("%d of %d messages (in order: len(s.published.subscribers) is %d; want %d", n, c.n,
					len(s.published.subscribers), c.stillThere)
			}
		})
	}
}
