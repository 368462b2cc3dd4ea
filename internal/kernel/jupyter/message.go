package jupyter

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// write returns the frames of a message. Where a cell has put a value into it that JSON can't have, it tells that instead.
func (c codec) write(prefix [][]byte, m message) [][]byte {
	content, err := json.Marshal(m.content)
	metadata, err2 := json.Marshal(m.metadata)
	switch err := cmp.Or(err, err2); {
	case err != nil && strings.HasSuffix(m.kind, "_reply"):
		return c.write(prefix, message{kind: m.kind, parent: m.parent, content: failure(err)})
	case err != nil:
		return c.write(prefix, message{kind: "error", parent: m.parent, content: problem(err)})
	}
	if m.metadata == nil {
		metadata = []byte("{}")
	}
	if m.parent == nil {
		m.parent = json.RawMessage("{}")
	}
	head, _ := json.Marshal(header{unique(), c.session, "kernel", now(), m.kind, protocolVersion, ""})
	parts := [][]byte{head, m.parent, metadata, content}
	return slices.Concat(prefix, [][]byte{[]byte(delimiter), c.sign(parts)}, parts, m.buffers)
}

// problem is the content of a message that shows an error.
func problem(err error) fields {
	e := &Error{Name: "Error", Value: err.Error()}
	errors.As(err, &e)
	traceback := e.Traceback
	if len(traceback) == 0 {
		traceback = []string{e.Error()}
	}
	return fields{"ename": e.Name, "evalue": e.Value, "traceback": traceback}
}

// failure is the content of a reply that tells of an error.
func failure(err error) fields {
	f := problem(err)
	f["status"] = "error"
	return f
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

// unique returns a name that nobody else has.
func unique() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
