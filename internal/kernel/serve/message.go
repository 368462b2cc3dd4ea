package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

const (
	protocolVersion = "5.5"
	delimiter       = "<IDS|MSG>" // ends the routing prefix of a message
)

// fields are the content of a message that we send.
type fields = map[string]any

// A request is a message of a front end. It publishes what it causes, such as the output of a cell.
// Several goroutines may do so, even after the cell has ended: front ends show late output below
// its cell.
type request struct {
	server *server
	peer   *peer
	prefix [][]byte
	parent json.RawMessage // its header, the parent of what it causes
	header struct {
		ID       string `json:"msg_id"`
		Type     string `json:"msg_type"`
		Subshell string `json:"subshell_id"`
	}
	metadata struct {
		Cell    string   `json:"cellId"`
		Deleted []string `json:"deletedCells"`
	}
	content content

	shell       *shell // of a cell, as all that follows
	ctx         context.Context
	runs, ended chan struct{} // closed when its code begins to run, and when it has ended
	begins      sync.Once
	begun       bool // its turn has come
	ahead       *ahead
	number      int
	interrupted time.Time
	folds       sync.Map                 // what it prints, by stream
	do          func(cell.Command) error // does a command of it, where it stands
}

// content has what requests of every kind may say.
type content struct {
	Code        string
	Silent      bool
	Store       bool           `json:"store_history"`
	Stdin       bool           `json:"allow_stdin"`
	Stop        bool           `json:"stop_on_error"`
	Expressions map[string]any `json:"user_expressions"`
	Cursor      int            `json:"cursor_pos"` // counts code points
	N           int            // of the history's lines
	Output      bool
	Comm        string `json:"comm_id"`
	Data        fields
	Value       string // that the user has put in
	Restart     bool
	Subshell    string `json:"subshell_id"`
}

// sign returns the signature of the parts of a message. Without a key, messages are not signed.
func (s *server) sign(parts [][]byte) []byte {
	if s.Key == "" {
		return []byte{}
	}
	h := hmac.New(sha256.New, []byte(s.Key))
	for _, p := range parts {
		h.Write(p)
	}
	return hex.AppendEncode(nil, h.Sum(nil))
}

// read reads a message. A request with an error has a content that can't be read.
func (s *server) read(p *peer, frames [][]byte) (*request, error) {
	i := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if i < 0 || len(frames) < i+6 {
		return nil, errors.New("not a message of the protocol")
	}
	parts := frames[i+2 : i+6]
	if !hmac.Equal(frames[i+1], s.sign(parts)) {
		return nil, errors.New("wrong signature")
	}
	r := &request{server: s, peer: p, prefix: frames[:i], parent: parts[0]}
	r.content = content{Store: true, Stop: true, Cursor: math.MaxInt, N: math.MaxInt}
	if err := json.Unmarshal(r.parent, &r.header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	_ = json.Unmarshal(parts[2], &r.metadata) // where a front end means something else, there is none
	if err := json.Unmarshal(parts[3], &r.content); err != nil {
		return r, fmt.Errorf("%s: %w", r.header.Type, err)
	}
	r.content.Store = r.content.Store && !r.content.Silent
	return r, nil
}

// write returns the frames of a message. Where a cell has put a value into it that JSON can't have,
// it tells that instead.
func (s *server) write(prefix [][]byte, kind string, parent json.RawMessage, content fields) [][]byte {
	text, err := json.Marshal(content)
	if err != nil {
		return s.write(prefix, "error", parent, problem(err))
	}
	head, _ := json.Marshal(fields{"msg_id": rand.Text(), "session": sessionID, "username": "kernel",
		"date": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), "msg_type": kind, "version": protocolVersion})
	parts := [][]byte{head, parent, []byte("{}"), text}
	return slices.Concat(prefix, [][]byte{[]byte(delimiter), s.sign(parts)}, parts)
}

// sessionID names this process in what it sends.
var sessionID = rand.Text()

// reply answers the request, if it wants a reply.
func (r *request) reply(content fields) {
	if kind, ok := strings.CutSuffix(r.header.Type, "request"); ok {
		r.peer.send(r.server.write(r.prefix, kind+"reply", r.parent, withStatus(content))...)
	}
}

// withStatus is the content of a reply.
func withStatus(content fields) fields {
	reply := fields{"status": "ok"}
	if content["ename"] != nil {
		reply["status"] = "error"
	}
	maps.Copy(reply, content)
	return reply
}

// publish tells all front ends.
func (r *request) publish(kind string, content fields) {
	r.server.broadcast(r.server.write([][]byte{[]byte(kind)}, kind, r.parent, content))
}

// problem is the content of a message or a reply that tells of an error.
func problem(err error) fields {
	lines := strings.Split(err.Error(), "\n")
	return fields{"ename": "Error", "evalue": lines[0], "traceback": lines}
}
