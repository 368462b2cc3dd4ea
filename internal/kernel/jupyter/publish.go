package jupyter

import (
	"encoding/json"
	"slices"
	"strings"
)

// A publisher tells every front end what happens.
type publisher struct {
	codec
	*socket
}

// subscribe takes a subscription, or its end. It welcomes the subscriber, who knows thereby that it misses nothing more.
func (p publisher) subscribe(subscriber *peer, frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 {
		return
	}
	topic, wanted := string(frames[0][1:]), frames[0][0] == 1
	subscriber.mu.Lock()
	subscriber.topics = slices.DeleteFunc(subscriber.topics, func(t string) bool { return t == topic })
	if wanted {
		subscriber.topics = append(subscriber.topics, topic)
	}
	subscriber.mu.Unlock()
	if wanted {
		welcome := message{kind: "iopub_welcome", content: fields{"subscription": topic}}
		subscriber.send(p.write([][]byte{[]byte(topic)}, welcome)...)
	}
}

func (p *peer) wants(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.topics, func(t string) bool { return strings.HasPrefix(topic, t) })
}

// publish returns when the system has the message for every subscriber.
func (p publisher) publish(m message) {
	frames := p.write([][]byte{[]byte(m.kind)}, m)
	p.each(func(subscriber *peer) {
		if subscriber.wants(m.kind) {
			subscriber.send(frames...)
		}
	})
}

// status says that the kernel works on a request, or no longer does.
func (p publisher) status(parent json.RawMessage, state string) {
	p.publish(message{kind: "status", parent: parent, content: fields{"execution_state": state}})
}
