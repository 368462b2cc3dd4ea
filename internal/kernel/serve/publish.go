package main

import (
	"strings"
	"sync"
	"time"
)

const (
	outboxLimit = 64 << 20    // bytes that wait for one subscriber
	lingerTime  = time.Second // for what waits when the kernel ends
)

// publisher sends to all subscribers what is published, to each as fast as it reads. Cells wait
// only for the one that reads fastest: another one that has fallen too far behind it is dropped,
// and may connect again.
type publisher struct {
	mu          sync.Mutex
	changed     *sync.Cond // something waits, or has been sent, or a subscriber has gone
	subscribers map[*peer]bool
}

// outbox has the messages that wait for a subscriber. [publisher.mu] guards it.
type outbox struct {
	waiting [][][]byte
	bytes   int // of these and the one that is being sent
}

// room reports whether another message may wait. A message may be longer than the limit.
func (o *outbox) room(size int) bool { return o.bytes == 0 || o.bytes+size <= outboxLimit }

func (o *outbox) add(frames [][]byte) {
	o.waiting = append(o.waiting, frames)
	o.bytes += sizeOf(frames)
}

// subscribe adds a subscriber and welcomes it, so that it knows that it misses nothing from now on.
// It gets all topics; its socket drops those that it hasn't asked for.
func (s *server) subscribe(p *peer, frames [][]byte) {
	topic, ok := strings.CutPrefix(string(frames[0]), "\x01")
	if !ok {
		return
	}
	p.trust.Store(known)
	welcome := s.write([][]byte{[]byte(topic)}, "iopub_welcome", []byte("{}"), fields{"subscription": topic})
	s.published.mu.Lock()
	defer s.published.mu.Unlock()
	if p.box.add(welcome); !s.published.subscribers[p] {
		s.published.subscribers[p] = true
		go s.published.deliver(p)
	}
	s.published.changed.Broadcast()
}

func (s *server) unsubscribe(p *peer) {
	s.published.mu.Lock()
	defer s.published.mu.Unlock()
	delete(s.published.subscribers, p)
	s.published.changed.Broadcast()
}

// broadcast publishes a message. It waits while no subscriber has room for it.
func (s *server) broadcast(frames [][]byte) {
	b, size := &s.published, sizeOf(frames)
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.room(size) {
		b.changed.Wait()
	}
	for p := range b.subscribers {
		if p.box.room(size) {
			p.box.add(frames)
		} else {
			delete(b.subscribers, p)
			p.Close()
		}
	}
	b.changed.Broadcast()
}

// room reports whether a subscriber has room for a message, or there is none.
func (b *publisher) room(size int) bool {
	for p := range b.subscribers {
		if p.box.room(size) {
			return true
		}
	}
	return len(b.subscribers) == 0
}

// deliver sends a subscriber what waits for it, until it has gone.
func (b *publisher) deliver(p *peer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for b.subscribers[p] && len(p.box.waiting) == 0 {
			b.changed.Wait()
		}
		if !b.subscribers[p] {
			return
		}
		frames := p.box.waiting[0]
		p.box.waiting = p.box.waiting[1:]
		b.mu.Unlock()
		err := p.send(frames...)
		b.mu.Lock()
		if err != nil {
			delete(b.subscribers, p)
		}
		p.box.bytes -= sizeOf(frames)
		b.changed.Broadcast()
	}
}

// linger waits until everything has been sent, but not long.
func (b *publisher) linger() {
	late := false
	defer time.AfterFunc(lingerTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		late = true
		b.changed.Broadcast()
	}).Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for !late && b.busy() {
		b.changed.Wait()
	}
}

// busy reports whether something waits or is being sent.
func (b *publisher) busy() bool {
	for p := range b.subscribers {
		if p.box.bytes > 0 {
			return true
		}
	}
	return false
}
