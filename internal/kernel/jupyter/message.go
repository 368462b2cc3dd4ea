package jupyter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	protocolVersion = "5.5"
	delimiter       = "<IDS|MSG>" // ends the routing prefix of a message
)

// fields are the content of a message that we send.
type fields = map[string]any

type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
	Subshell string `json:"subshell_id,omitempty"`
}

// A request is a message of a front end.
type request struct {
	header
	peer                      *peer
	prefix                    [][]byte
	parent, metadata, content json.RawMessage // parent is its header, the parent of what it causes
	buffers                   [][]byte
}

// decode reads the content of a request into v.
func (r *request) decode(v any) error {
	if err := json.Unmarshal(r.content, v); err != nil {
		return &Error{Name: "BadRequest", Value: fmt.Sprintf("%s: %v", r.Type, err)}
	}
	return nil
}

// codec signs messages, and reads those that have the right signature.
type codec struct {
	key     []byte // empty: messages are not signed
	session string
}

func (c codec) sign(parts [][]byte) []byte {
	if len(c.key) == 0 {
		return []byte{}
	}
	h := hmac.New(sha256.New, c.key)
	for _, p := range parts {
		h.Write(p)
	}
	return hex.AppendEncode(nil, h.Sum(nil))
}

func (c codec) read(p *peer, frames [][]byte) (*request, error) {
	i := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if i < 0 || len(frames) < i+6 {
		return nil, errors.New("not a message of the protocol")
	}
	parts := frames[i+2 : i+6]
	if !hmac.Equal(frames[i+1], c.sign(parts)) {
		return nil, errors.New("wrong signature")
	}
	r := &request{peer: p, prefix: frames[:i], parent: parts[0], metadata: parts[2], content: parts[3], buffers: frames[i+6:]}
	if err := json.Unmarshal(r.parent, &r.header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return r, nil
}

// A message is what we send.
type message struct {
	kind     string
	parent   json.RawMessage // nil: nobody asked
	metadata fields
	content  any
	buffers  [][]byte
}

func (c codec) write(prefix [][]byte, m message) ([][]byte, error) {
	var errs [3]error
	encode := func(i int, v any) (data []byte) {
		data, errs[i] = json.Marshal(v)
		return data
	}
	if m.metadata == nil {
		m.metadata = fields{}
	}
	if m.parent == nil {
		m.parent = json.RawMessage("{}")
	}
	head := header{ID: unique(), Session: c.session, Username: "kernel", Date: now(), Type: m.kind, Version: protocolVersion}
	parts := [][]byte{encode(0, head), m.parent, encode(1, m.metadata), encode(2, m.content)}
	return slices.Concat(prefix, [][]byte{[]byte(delimiter), c.sign(parts)}, parts, m.buffers), errors.Join(errs[:]...)
}

// send sends a message to one peer.
func (c codec) send(p *peer, prefix [][]byte, m message) error {
	frames, err := c.write(prefix, m)
	if err != nil {
		return err
	}
	return p.send(frames...)
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

// unique returns a name that nobody else has.
func unique() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
