package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// arrived is a request that has arrived whole.
type arrived struct {
	service *Service
	room    *room
	body    []byte
}

// fields are the keys that the requests of a route may have, and where their values go.
type fields map[string]any

// maxField is how many bytes a value may have, except for samples, which are decoded one by one.
const maxField = 4 << 20

// read decodes the body, which it then drops. It is as strict as package jsonin.
func (q *arrived) read(ctx context.Context, f fields) error {
	return q.service.working.do(ctx, func() error {
		had := q.room.taken + len(q.body)
		if err := q.room.take(len(q.body)); err != nil { // for the values, one by one
			return err
		}
		err := f.read(q.body, q.room)
		q.body = nil
		return errors.Join(err, q.room.take(-had))
	})
}

func (f fields) read(body []byte, r *room) error {
	return jsonin.Object(body, func(key string, value json.RawMessage) error {
		to, known := f[key]
		if !known {
			return fmt.Errorf("unknown key %.40q; known are %s", key, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
		}
		if err := decode(value, to, r); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

// decode decodes a value. Beside those of x it takes at most as much room as a text of short entries does.
func decode(text json.RawMessage, to any, r *room) error {
	if x, ok := to.(*samples); ok {
		return x.read(text, r)
	}
	if len(text) > maxField {
		return fmt.Errorf("it has more than %d bytes: send several requests", maxField)
	}
	large := 32 * len(text)
	if err := r.take(large); err != nil {
		return err
	}
	return errors.Join(jsonin.Unmarshal(text, to), r.take(-large))
}
