package jupyter

import (
	"context"
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
	Type     string `json:"msg_type"`
	Subshell string `json:"subshell_id"`
}

// A request is a message of a front end.
type request struct {
	header
	peer    *peer
	prefix  [][]byte
	parent  json.RawMessage // its header, the parent of what it causes
	content content
	bad     error // what is wrong with the content
	cell    struct {
		ID string `json:"cellId"` // in its notebook
	}
	buffers [][]byte

	// Of a cell:
	before      *request // in its subshell; nil if that has ended
	ended       chan struct{}
	ctx         context.Context
	cancel      context.CancelFunc
	interrupted time.Time
}

// content has what requests of every kind may say.
type content struct {
	Code        string
	Silent      bool
	Store       bool              `json:"store_history"`
	Stdin       bool              `json:"allow_stdin"`
	Stop        bool              `json:"stop_on_error"`
	Expressions map[string]string `json:"user_expressions"`

	Cursor *int `json:"cursor_pos"` // counts code points; nil: the end
	Level  int  `json:"detail_level"`

	Access         string `json:"hist_access_type"`
	Session, Start int
	End            *int `json:"stop"`
	N              *int
	Pattern        string
	Unique, Output bool

	Comm   string `json:"comm_id"`
	Target string `json:"target_name"`
	Data   any

	Value    string // that the user has put in
	Restart  bool
	Subshell string `json:"subshell_id"`
}

// sign returns the signature of the parts of a message. Without a key, messages are not signed.
func (c connection) sign(parts [][]byte) []byte {
	if c.Key == "" {
		return []byte{}
	}
	h := hmac.New(sha256.New, []byte(c.Key))
	for _, p := range parts {
		h.Write(p)
	}
	return hex.AppendEncode(nil, h.Sum(nil))
}

func (c connection) read(p *peer, frames [][]byte) (*request, error) {
	i := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if i < 0 || len(frames) < i+6 {
		return nil, errors.New("not a message of the protocol")
	}
	parts := frames[i+2 : i+6]
	if !hmac.Equal(frames[i+1], c.sign(parts)) {
		return nil, errors.New("wrong signature")
	}
	r := &request{peer: p, prefix: frames[:i], parent: parts[0], content: content{Store: true, Stop: true}, buffers: frames[i+6:]}
	if err := json.Unmarshal(r.parent, &r.header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	json.Unmarshal(parts[2], &r.cell) // as far as it goes
	if err := json.Unmarshal(parts[3], &r.content); err != nil {
		r.bad = &Error{Name: "BadRequest", Value: fmt.Sprintf("%s: %v", r.Type, err)}
	}
	r.content.Store = r.content.Store && !r.content.Silent
	return r, nil
}

// write returns the frames of a message. Where a cell has put a value into it that JSON can't have, it tells that instead.
func (c connection) write(prefix [][]byte, kind string, parent json.RawMessage, content fields, buffers ...[]byte) [][]byte {
	text, err := json.Marshal(content)
	switch {
	case err != nil && strings.HasSuffix(kind, "_reply"):
		return c.write(prefix, kind, parent, failure(err))
	case err != nil:
		return c.write(prefix, "error", parent, problem(err))
	}
	head, _ := json.Marshal(fields{"msg_id": rand.Text(), "session": session, "username": "kernel",
		"date": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), "msg_type": kind, "version": protocolVersion})
	parts := [][]byte{head, parent, []byte("{}"), text}
	return slices.Concat(prefix, [][]byte{[]byte(delimiter), c.sign(parts)}, parts, buffers)
}

// session names this process in what it sends.
var session = rand.Text()

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
