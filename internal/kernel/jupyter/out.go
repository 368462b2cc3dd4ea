package jupyter

import (
	"context"
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
	silent bool          // nothing is shown
	ended  chan struct{} // closed when nobody can answer input any more
	once   sync.Once
	mu     sync.Mutex // also orders what is published
	name   string     // the stream of text
	text   []byte     // not yet sent
	timer  *time.Timer
	result fields // the data of the last result
}

func (s *server) newOut(r *request, number int, silent bool) *out {
	return &out{server: s, r: r, number: number, silent: silent, ended: make(chan struct{})}
}

// finish ends the time in which the user can answer.
func (o *out) finish() { o.once.Do(func() { close(o.ended) }) }

func (o *out) publish(kind string, content fields) {
	o.server.iopub.publish(message{kind: kind, parent: o.r.parent, content: content})
}

// later sends what waits after a moment.
func (o *out) later() {
	if o.timer == nil {
		o.timer = time.AfterFunc(gatherTime, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.timer = nil
			o.send(false)
		})
	}
}

// send sends what waits. Of a character whose last bytes have not come it sends the first ones only if all must go.
func (o *out) send(all bool) {
	n := len(o.text)
	if !all {
		n -= incomplete(o.text)
	}
	if n > 0 {
		o.publish("stream", fields{"name": o.name, "text": string(o.text[:n])})
		o.text = append(o.text[:0], o.text[n:]...)
	}
	if all && o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}

// incomplete counts the bytes at the end of b that begin a character.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			break
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
	if o.silent || text == "" {
		return
	}
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
	o.later()
}

func (o *out) Display(d Display) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d.Result {
		o.result = encodable(d.Data)
	}
	if o.silent && !d.Update {
		return
	}
	o.send(true)
	metadata := d.Metadata
	if metadata == nil {
		metadata = fields{}
	}
	content := fields{"data": encodable(d.Data), "metadata": metadata, "transient": fields{}}
	if d.ID != "" {
		content["transient"] = fields{"display_id": d.ID}
	}
	switch {
	case d.Update:
		o.publish("update_display_data", content)
	case d.Result:
		content["execution_count"] = o.number
		o.publish("execute_result", content)
	default:
		o.publish("display_data", content)
	}
}

func (o *out) Clear(wait bool) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(true)
	o.publish("clear_output", fields{"wait": wait})
}

func (o *out) Input(ctx context.Context, prompt string, password bool) (string, error) {
	o.flush()
	return o.server.ask(ctx, o.r, o.ended, prompt, password)
}

func (o *out) Comm(m Comm) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(true)
	o.server.comms.note(m)
	data := m.Data
	if data == nil {
		data = fields{}
	}
	content := commContent{ID: m.ID, Target: m.Target, Data: data}
	o.server.iopub.publish(message{kind: string(m.Kind), parent: o.r.parent, metadata: m.Metadata, content: content, buffers: m.Buffers})
}

// encodable returns data as JSON has it: bytes in base64, unless they are text.
func encodable(data map[string]any) fields {
	encoded := fields{}
	for mime, v := range data {
		b, ok := v.([]byte)
		if ok && (strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+xml") || strings.HasSuffix(mime, "javascript")) {
			v = string(b)
		}
		encoded[mime] = v
	}
	return encoded
}
