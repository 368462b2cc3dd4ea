package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// samples are those of a request: n rows of equal width, one after another.
type samples struct {
	values   []float32
	n, width int
	raw      bool // whether they came without lists, so that their width is not known
}

// UnmarshalJSONFrom reads a list of lists, without a list for each in memory.
func (x *samples) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if t, err := in.ReadToken(); err != nil || t.Kind() == 'n' {
		return err
	} else if t.Kind() != '[' {
		return errors.New("want a list of samples, each a list of numbers")
	}
	for row := []float32(nil); in.PeekKind() != ']'; x.n++ {
		if err := json.UnmarshalDecode(in, &row); err != nil {
			return err
		}
		if x.n > 0 && len(row) != x.width {
			return fmt.Errorf("sample %d has %d values, and sample 0 has %d", x.n, len(row), x.width)
		}
		x.values, x.width = append(x.values, row...), len(row)
	}
	_, err := in.ReadToken()
	return err
}

// of returns an error unless there are samples, each of so many values.
func (x *samples) of(width int) error {
	if x.raw {
		if len(x.values)%width != 0 {
			return fmt.Errorf("the body has %d values of four bytes; want samples of %d values each", len(x.values), width)
		}
		x.n, x.width, x.raw = len(x.values)/width, width, false
	}
	switch {
	case x.n == 0:
		return errors.New(`"x" is missing: a list of samples, each a list of numbers`)
	case x.width != width:
		return fmt.Errorf("x: sample 0 has %d values, want %d", x.width, width)
	}
	return nil
}

// readRaw reads a body of float32 values, little-endian, of samples one after another.
func (x *samples) readRaw(body []byte) (err error) {
	if len(body) == 0 || len(body)%4 != 0 {
		return fmt.Errorf("the body has %d bytes; want the values of samples, four bytes each", len(body))
	}
	x.raw = true
	x.values, err = floats(body)
	return err
}

// floats returns the float32 values that bytes are, little-endian.
func floats(b []byte) ([]float32, error) {
	out := make([]float32, len(b)/4)
	_, err := binary.Decode(b, binary.LittleEndian, out)
	return out, err
}

// withSamples is a request that can also have its samples as a body of numbers or pictures, and the
// rest in its address. fromAddress reads that, and returns where the samples belong.
type withSamples interface {
	fromAddress(asked url.Values) (*samples, error)
}

// parseSamples reads a request whose body is of numbers or pictures.
func (s *Service) parseSamples(q *http.Request, body []byte, taken *share, v withSamples) error {
	kind := q.Header.Get("Content-Type")
	asked, err := url.ParseQuery(q.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("the address: %w", err)
	}
	var all pictures
	if isPictures(kind) {
		if all, err = s.readPictures(kind, body, asked); err != nil {
			return err
		}
	}
	x, err := v.fromAddress(asked)
	switch {
	case err != nil:
		return err
	case isPictures(kind):
		*x, err = s.decode(q.Context(), all, taken, len(body))
		return err
	}
	return x.readRaw(body)
}

// whole reads one whole number of an address, "" if the key is not there.
func whole(asked url.Values, key string) (n int, given bool, err error) {
	text := asked.Get(key)
	if !asked.Has(key) {
		return 0, false, nil
	}
	if n, err = strconv.Atoi(text); err != nil {
		err = fmt.Errorf("%s=%.40s in the address: want a whole number", key, text)
	}
	return n, true, err
}

// only returns an error if an address has other keys than these, or one of them twice.
func only(asked url.Values, keys ...string) error {
	for key, values := range asked {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("the key %.60q in the address is not known here", key)
		}
		if len(values) > 1 {
			return fmt.Errorf("the key %.60q in the address is there twice", key)
		}
	}
	return nil
}

// fromAddress reads POST /learn?task=1&classes=0,1,1.
func (q *toLearn) fromAddress(asked url.Values) (x *samples, err error) {
	if err := only(asked, "task", "classes"); err != nil {
		return nil, err
	}
	if q.Task, _, err = whole(asked, "task"); err != nil {
		return nil, err
	}
	for one := range strings.SplitSeq(asked.Get("classes"), ",") {
		class, err := strconv.Atoi(one)
		if err != nil {
			return nil, fmt.Errorf("classes=… in the address has %.40q; want whole numbers with commas between them", one)
		}
		q.Classes = append(q.Classes, class)
	}
	return &q.X, nil
}

// fromAddress reads POST /predict or /predict?task=1.
func (q *toPredict) fromAddress(asked url.Values) (*samples, error) {
	if err := only(asked, "task"); err != nil {
		return nil, err
	}
	if task, given, err := whole(asked, "task"); err != nil {
		return nil, err
	} else if given {
		q.Task = &task
	}
	return &q.X, nil
}
