package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// samples are those of a request: n rows of so many values, which follow each other in values.
type samples struct {
	width, n int
	values   []float32
}

// samples returns where the samples of a request go.
func (s *Service) samples() *samples {
	return &samples{width: s.learner.Options().Model.Inputs()}
}

// read decodes rows up to the first that is wrong. Their room, and that of their classes, is taken before.
func (s *samples) read(text json.RawMessage, r *room) error {
	if text[0] != '[' {
		return errors.New("want a list of samples, each a list of numbers")
	}
	rows := min(bytes.Count(text, []byte("["))-1, len(text)/(2*s.width)) // a value takes two bytes at least
	if err := r.take(rows * (4*s.width + 8)); err != nil {
		return err
	}
	s.values = make([]float32, 0, rows*s.width)
	in := json.NewDecoder(bytes.NewReader(text))
	_, _ = in.Token()
	var sample json.RawMessage
	var row []float32
	for ; in.More(); s.n++ {
		err := in.Decode(&sample)
		switch n := bytes.Count(sample, []byte(",")) + 1; {
		case err != nil:
			return err
		case len(sample) > max(maxField, 64*s.width):
			return fmt.Errorf("sample %d: the value is too long", s.n)
		case n > s.width: // which is known before memory is taken for the values
			return s.wide(n)
		}
		if err := jsonin.Unmarshal(sample, &row); err != nil {
			return fmt.Errorf("sample %d: %w", s.n, err)
		}
		if len(row) != s.width {
			return s.wide(len(row))
		}
		s.values = append(s.values, row...)
	}
	return nil
}

func (s *samples) wide(n int) error {
	return fmt.Errorf("sample %d has %d values, want %d", s.n, n, s.width)
}
