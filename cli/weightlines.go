package cli

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// frame announces numbers that follow its line as bytes: rows × columns of them, row by row, little-endian.
type frame struct {
	Type    string `json:"dtype"` // "float32" or "float64"
	Rows    int64  `json:"rows"`
	Columns int64  `json:"columns"`
	Bytes   int64  `json:"bytes"` // how many follow
}

// newFrame is that of a direction, in the type of the problem's frame, if that had one.
func newFrame(of *frame, columns int) *frame {
	f := &frame{Type: "float64", Rows: 1, Columns: int64(columns)}
	if of != nil {
		f.Type = of.Type
	}
	f.Bytes = f.size() * f.Columns
	return f
}

// size is that of one number in bytes; 0 for an unknown type.
func (f *frame) size() int64 {
	switch f.Type {
	case "float32":
		return 4
	case "float64":
		return 8
	}
	return 0
}

func (f *frame) check() error {
	switch {
	case f.size() == 0:
		return fmt.Errorf(`frame, dtype %q: want "float32" or "float64"`, f.Type)
	case f.Rows < 1 || f.Columns < 1 || f.Columns > math.MaxInt64/8/f.Rows:
		return fmt.Errorf("frame: %d rows of %d columns", f.Rows, f.Columns)
	case f.Bytes != f.Rows*f.Columns*f.size():
		return fmt.Errorf("frame: %d bytes announced; %d rows of %d columns in %s have %d", f.Bytes, f.Rows, f.Columns, f.Type, f.Rows*f.Columns*f.size())
	}
	return nil
}

// decode appends the numbers in some bytes.
func (f *frame) decode(to []float64, data []byte) []float64 {
	if f.size() == 4 {
		for ; len(data) > 0; data = data[4:] {
			to = append(to, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
		}
		return to
	}
	for ; len(data) > 0; data = data[8:] {
		to = append(to, math.Float64frombits(binary.LittleEndian.Uint64(data)))
	}
	return to
}

func (f *frame) write(out *bufio.Writer, v []float64) error {
	var b [8]byte
	for _, x := range v {
		if f.size() == 4 {
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(x)))
		} else {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		}
		if _, err := out.Write(b[:f.size()]); err != nil {
			return fatal{err}
		}
	}
	return nil
}

// frameIn returns how many bytes of a frame follow a line that was refused, as far as its text tells.
func frameIn(text []byte) (n int64) {
	requests := json.NewDecoder(bytes.NewReader(text))
	for {
		var q struct {
			Frame struct {
				Bytes int64 `json:"bytes"`
			} `json:"frame"`
		}
		if requests.Decode(&q) != nil {
			return n
		}
		n = max(n, q.Frame.Bytes)
	}
}

// lines reads JSON texts and frames. A text is one line, or as many as it takes to close its brackets.
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

// read reads the frame of a request and makes it the Jacobian.
func (l *lines) read(q *request) error {
	f := q.Frame
	if err := f.check(); err != nil {
		return errors.Join(err, l.skip(f.Bytes))
	}
	if q.isProblem() {
		return errors.Join(errors.New(`give either "jacobian", "gram" or a frame`), l.skip(f.Bytes))
	}
	if err := l.wait(); err != nil {
		return fatal{err}
	}
	part := make([]byte, min(f.Bytes, 1<<16))
	values := make([]float64, 0, min(f.Rows*f.Columns, 1<<20)) // beyond that it grows with what arrives, whatever was announced
	for left := f.Bytes; left > 0; {
		n, err := io.ReadFull(l.r, part[:min(left, int64(len(part)))])
		if err != nil {
			return l.broken(err, left)
		}
		values, left = f.decode(values, part[:n]), left-int64(n)
	}
	for i := range f.Rows {
		q.Jacobian = append(q.Jacobian, values[i*f.Columns:(i+1)*f.Columns])
	}
	return nil
}

// skip reads over the bytes of a frame that is of no use.
func (l *lines) skip(n int64) error {
	if n <= 0 {
		return nil
	}
	if err := l.wait(); err != nil {
		return fatal{err}
	}
	if done, err := io.CopyN(io.Discard, l.r, n); err != nil {
		return l.broken(err, n-done)
	}
	return nil
}

func (l *lines) broken(err error, left int64) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fatal{fmt.Errorf("line %d: the input ends inside of its frame, where at most %d bytes were left", l.first, left)}
	}
	return fatal{err}
}
