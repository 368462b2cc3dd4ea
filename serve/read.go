package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// arrived is a request that has arrived whole.
type arrived struct {
	service *Service
	room    *room
	body    []byte
}

// fields are the keys that the requests of a route may have, and where their values go.
type fields map[string]any

// maxField is how many bytes a value may have, except for samples, which are decoded one by one; maxColons bounds the keys of
// a request.
const maxField, maxColons = 4 << 20, 10_000

// part is a value as it is written, in the memory of the whole request.
type part []byte

func (p *part) UnmarshalJSON(text []byte) error {
	*p = text
	return nil
}

// read decodes the body, which it then drops. Keys must be known, and null stands for nothing.
func (q *arrived) read(ctx context.Context, f fields) error {
	return q.service.working.do(ctx, func() error {
		if bytes.Count(q.body, []byte(":")) > maxColons {
			return errors.New("the request has too many keys")
		}
		var given map[string]part
		if err := json.Unmarshal(q.body, &given); err != nil {
			return err
		}
		for key, text := range given {
			to, known := f[key]
			if !known {
				return fmt.Errorf("unknown key %.40q; known are %s", key, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
			}
			if err := q.room.decode(text, to); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		had := len(q.body)
		q.body = nil
		return q.room.take(-had)
	})
}

var errNull = errors.New("null is not a value")

// decode decodes a value. Beside those of samples it takes at most as much room as a text of short entries does.
func (r *room) decode(text part, to any) error {
	_, numbers := to.(*[]int)
	switch x, ok := to.(*samples); {
	case ok:
		return x.read(text, r)
	case string(text) == "null" || numbers && bytes.Contains(text, []byte("null")):
		return errNull
	case len(text) > maxField:
		return fmt.Errorf("it has more than %d bytes: send several requests", maxField)
	}
	large := 32 * len(text)
	if err := r.take(large); err != nil {
		return err
	}
	return errors.Join(json.Unmarshal(text, to), r.take(-large))
}

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
func (s *samples) read(text part, r *room) error {
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
		if err := in.Decode(&sample); err != nil {
			return err
		}
		// What is too long or too wide is known before memory is taken for the values.
		if n := bytes.Count(sample, []byte(",")) + 1; len(sample) > max(maxField, 64*s.width) || n > s.width {
			return fmt.Errorf("sample %d has %d values in %d bytes, want %d", s.n, n, len(sample), s.width)
		}
		err := json.Unmarshal(sample, &row)
		if err == nil && bytes.Contains(sample, []byte("null")) {
			err = errNull
		}
		if err != nil {
			return fmt.Errorf("sample %d: %w", s.n, err)
		}
		if len(row) != s.width {
			return fmt.Errorf("sample %d has %d values, want %d", s.n, len(row), s.width)
		}
		s.values = append(s.values, row...)
	}
	return nil
}
