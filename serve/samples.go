package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// samples are those of a request: rows of so many values, which follow each other in values.
type samples struct {
	width  int
	values []float32

	room *room
	n    int             // rows that were read
	text json.RawMessage // of the row that was read last, as are its values
	row  []float32
}

// read reads rows as they arrive, up to the first that is wrong.
func (s *samples) read(in *source) error {
	token, err := in.token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return errors.New("x: want a list of samples, each a list of numbers")
	}
	for in.more() {
		if err := s.add(in); err != nil {
			return err
		}
	}
	_, err = in.token()
	return err
}

func (s *samples) add(in *source) error {
	if err := in.decode(&s.text, max(maxField, 64*s.width)); err != nil {
		return fmt.Errorf("sample %d: %w", s.n, err)
	}
	if n := bytes.Count(s.text, []byte(",")) + 1; n > s.width { // which is known before memory is taken for the values
		return s.wide(n)
	}
	if err := jsonin.Unmarshal(s.text, &s.row); err != nil {
		return fmt.Errorf("sample %d: %w", s.n, err)
	}
	if len(s.row) != s.width {
		return s.wide(len(s.row))
	}
	if grown := len(s.values) + s.width; grown > cap(s.values) {
		grown = max(grown, 2*cap(s.values))
		if err := s.room.take(4 * int64(grown)); err != nil { // while it grows, both are there
			return err
		}
		was := s.values
		s.values = append(make([]float32, 0, grown), was...)
		s.room.give(4 * int64(cap(was)))
	}
	s.values = append(s.values, s.row...)
	s.n++
	return nil
}

func (s *samples) wide(n int) error {
	return fmt.Errorf("sample %d has %d values, want %d", s.n, n, s.width)
}

// samples returns where the samples of a request go, which takes its room from r.
func (s *Service) samples(r *room) *samples {
	return &samples{width: s.learner.Options().Model.Inputs(), room: r}
}
