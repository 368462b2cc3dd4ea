package cli

import (
	"bufio"
	"bytes"
	"io"
)

// lines reads JSON texts. A text is one line, or as many as it takes to close its brackets.
type lines struct {
	r     *bufio.Reader
	wait  func() error // is called before reading what may not be there yet
	count int          // lines read
	first int          // where the latest text began
}

// next returns the next text that is not blank. A line that begins with { begins a new text, whatever was open before.
func (l *lines) next() ([]byte, error) {
	var text []byte
	var open brackets
	for {
		if ready, _ := l.r.Peek(l.r.Buffered()); bytes.IndexByte(ready, '\n') < 0 {
			if err := l.wait(); err != nil {
				return nil, err
			}
		}
		if open.depth > 0 {
			if ahead, _ := l.r.Peek(1); len(ahead) == 1 && ahead[0] == '{' {
				return text, nil
			}
		}
		line, err := l.r.ReadBytes('\n')
		if len(line) > 0 {
			l.count++
		}
		if len(text) == 0 {
			l.first = l.count
		}
		text = append(text, line...)
		open.read(line)
		switch {
		case err != nil && (err != io.EOF || len(bytes.TrimSpace(text)) == 0):
			return nil, err
		case len(bytes.TrimSpace(text)) == 0:
			text = text[:0]
		case err != nil || open.depth <= 0:
			return text, nil
		}
	}
}

// brackets counts the brackets that are open at the end of a line.
type brackets struct{ depth int }

func (b *brackets) read(line []byte) {
	quoted, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
}
