package jupyter

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	gatherTime = 20 * time.Millisecond // how long text waits for more
	gatherSize = 1 << 17               // of text that is sent at once
)

// out is the [Out] of a request.
type out struct {
	server *server
	r      *request
	number int
	silent bool            // nothing is shown
	ended  context.Context // when nobody can answer input any more
	finish context.CancelFunc
	mu     sync.Mutex // also orders what is published
	name   string     // the stream of text
	text   []byte     // not yet sent
	waits  bool       // for more text
	result fields     // the data of the last result
}

func (s *server) newOut(r *request, number int, silent bool) *out {
	o := &out{server: s, r: r, number: number, silent: silent}
	o.ended, o.finish = context.WithCancel(context.Background())
	return o
}

func (o *out) publish(kind string, content fields) {
	if !o.silent || kind == "update_display_data" {
		o.server.publish(kind, o.r.parent, content)
	}
}

// send sends the text that waits. Of a character whose last bytes have not come it sends the first ones only if all must go.
func (o *out) send(all bool) {
	n := len(o.text)
	if !all {
		n -= incomplete(o.text)
	}
	if n > 0 {
		o.publish("stream", fields{"name": o.name, "text": string(o.text[:n])})
		o.text = append(o.text[:0], o.text[n:]...)
	}
}

// incomplete counts the bytes at the end of b that begin a character.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (o *out) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(true)
}

func (o *out) Stream(name, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name != o.name {
		o.send(true)
	}
	o.name = name
	o.text = append(o.text, text...)
	if len(o.text) >= gatherSize {
		o.send(false)
	}
	if !o.waits {
		o.waits = true
		time.AfterFunc(gatherTime, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.waits = false
			o.send(false)
		})
	}
}

func (o *out) Display(d Display) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(true)
	content := fields{"data": encodable(d.Data), "metadata": encodable(d.Metadata), "transient": fields{}}
	if d.ID != "" {
		content["transient"] = fields{"display_id": d.ID}
	}
	switch {
	case d.Update:
		o.publish("update_display_data", content)
	case d.Result:
		o.result = encodable(d.Data)
		content["execution_count"] = o.number
		o.publish("execute_result", content)
	default:
		o.publish("display_data", content)
	}
}

func (o *out) Clear(wait bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(true)
	o.publish("clear_output", fields{"wait": wait})
}

// Input asks one question at a time of all cells.
func (o *out) Input(ctx context.Context, prompt string, password bool) (string, error) {
	o.flush()
	s := o.server
	select {
	case <-o.ended.Done():
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	}
	peers := s.peersAt(s.Stdin)
	i := slices.IndexFunc(peers, func(p *peer) bool { return p.identity == o.r.peer.identity })
	if i < 0 || o.ended.Err() != nil {
		return "", io.EOF
	}
	p := peers[i]
	select {
	case <-p.lines: // an answer to a cell that was stopped
	default:
	}
	p.send(s.write(o.r.prefix, "input_request", o.r.parent, fields{"prompt": prompt, "password": password})...)
	select {
	case <-o.ended.Done():
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-p.lines:
		return line, nil
	}
}

func (o *out) Comm(m Comm) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(true)
	o.server.note(m)
	content := fields{"comm_id": m.ID, "data": m.Data}
	if m.Kind == CommOpen {
		content["target_name"] = m.Target
	}
	o.server.publish(string(m.Kind), o.r.parent, content, m.Buffers...)
}

// encodable returns data as JSON has it: bytes in base64, unless they are text.
func encodable(data map[string]any) fields {
	encoded := fields{}
	for mime, v := range data {
		b, ok := v.([]byte)
		text := strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "xml") || strings.HasSuffix(mime, "json") || strings.HasSuffix(mime, "javascript")
		if ok && text {
			v = string(b)
		}
		encoded[mime] = v
	}
	return encoded
}
