package jupyter

import (
	"context"
	"io"
	"regexp"
	"time"
	"unicode/utf8"
)

const (
	gatherTime = 20 * time.Millisecond // how long text waits for more
	gatherSize = 1 << 17               // of text that is sent at once
)

// show publishes output, unless the cell is to show nothing.
func (r *request) show(kind string, content fields) {
	if !r.content.Silent {
		r.publish(kind, content)
	}
}

// Stream appends text to an output stream.
func (r *request) Stream(name, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name != r.name {
		r.send(true)
	}
	r.name = name
	r.text = append(r.text, text...)
	if len(r.text) >= gatherSize {
		r.send(false)
	}
	if !r.waits {
		r.waits = true
		time.AfterFunc(gatherTime, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.waits = false
			r.send(false)
		})
	}
}

// send sends the text that waits. Of a character whose last bytes have not come it sends the first ones only if all must go.
func (r *request) send(all bool) {
	n := len(r.text)
	for back := 1; !all && back < utf8.UTFMax && back <= len(r.text); back++ {
		if last := r.text[len(r.text)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				n -= back
			}
			break
		}
	}
	if n > 0 {
		r.show("stream", fields{"name": r.name, "text": string(r.text[:n])})
		r.text = append(r.text[:0], r.text[n:]...)
	}
}

// after publishes output behind the text before it.
func (r *request) after(publish func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(true)
	publish()
}

// Display shows rich output.
func (r *request) Display(d Display) {
	content := fields{"data": encodable(d.Data), "metadata": encodable(d.Metadata), "transient": fields{}}
	if d.ID != "" {
		content["transient"] = fields{"display_id": d.ID}
	}
	kind := "display_data"
	switch {
	case d.Update:
		kind = "update_display_data"
	case d.Result:
		kind, content["execution_count"] = "execute_result", r.number
	}
	r.after(func() { r.show(kind, content) })
}

// textual are the media types of texts.
var textual = regexp.MustCompile(`^text/|(xml|json|javascript)$`)

// encodable returns data as JSON has it: bytes in base64, unless they are text.
func encodable(data map[string]any) fields {
	encoded := fields{}
	for mime, v := range data {
		if b, ok := v.([]byte); ok && textual.MatchString(mime) {
			v = string(b)
		}
		encoded[mime] = v
	}
	return encoded
}

// Input asks one question at a time of all cells.
func (r *request) Input(ctx context.Context, prompt string, password bool) (string, error) {
	s := r.server
	s.asking.Lock()
	defer s.asking.Unlock()
	found, ok := s.askers.Load(r.peer.identity)
	if !ok || !r.content.Stdin {
		return "", io.EOF
	}
	p := found.(*peer)
	select {
	case <-r.ended:
		return "", io.EOF
	case <-p.lines: // an answer to a cell that was stopped
	default:
	}
	question := fields{"prompt": prompt, "password": password}
	r.after(func() { p.send(s.write(r.prefix, "input_request", r.parent, question)...) })
	select {
	case <-r.ended:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-p.lines:
		return line, nil
	}
}

// Comm sends data to a page.
func (r *request) Comm(id string, data map[string]any) {
	r.after(func() { r.publish("comm_msg", fields{"comm_id": id, "data": data}) })
}
