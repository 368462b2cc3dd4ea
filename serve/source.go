package serve

import (
	"encoding/json"
	"errors"
	"io"
)

// errLong is the error for a value that does not end where it should have.
var errLong = errors.New("the value is too long")

// source reads the values of a JSON text as it arrives. It ends at the first value that is too long, before that fills the
// memory.
type source struct {
	in    *json.Decoder
	limit *bounded
}

func newSource(body io.Reader) *source {
	limit := &bounded{body: body}
	return &source{in: json.NewDecoder(limit), limit: limit}
}

// may lets the decoder read as many bytes beyond what it has decoded.
func (s *source) may(bytes int) { s.limit.until = s.in.InputOffset() + int64(bytes) }

func (s *source) token() (json.Token, error) {
	s.may(maxField)
	return s.in.Token()
}

func (s *source) more() bool {
	s.may(maxField)
	return s.in.More()
}

// decode decodes a value of at most so many bytes.
func (s *source) decode(to any, most int) error {
	s.may(most)
	return s.in.Decode(to)
}

// bounded reads a body up to a place that moves on.
type bounded struct {
	body     io.Reader
	n, until int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.n >= b.until {
		return 0, errLong
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.until-b.n)])
	b.n += int64(n)
	return n, err
}
