package serve

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// TestQueue: requests that wait are answered together, each with its own predictions, and one that
// fails fails alone.
func TestQueue(t *testing.T) {
	const n = 40
	release, calls := make(chan struct{}), 0
	predict := func(_ *int, values []float32) (out []pcl.Prediction, err error) {
		if calls++; calls == 1 {
			<-release
		}
		for _, v := range values {
			if v < 0 {
				return nil, errors.New("below 0")
			}
			out = append(out, pcl.Prediction{Class: int(v)})
		}
		return out, nil
	}
	var w queue
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			q := &asked{values: []float32{float32(i), float32(i)}, turn: make(chan bool, 1)}
			if i%2 == 1 {
				q.task = &i
			}
			if i == 8 {
				q.values[1] = -1
			}
			out, err := w.do(q, predict, 16)
			if (err != nil) != (i == 8) || err == nil && (len(out) != 2 || out[0].Class != i || out[1].Class != i) {
				t.Errorf("request %d: %+v, %v", i, out, err)
			}
		})
	}
	for waits := 0; waits < n-1; {
		w.mu.Lock()
		waits = len(w.waiting)
		w.mu.Unlock()
	}
	close(release)
	all.Wait()
	// 20 requests of a task each are alone, 20 of no task take three batches of 8, one of which
	// fails
	if calls > 20+1+3+8 || w.busy || len(w.waiting) > 0 {
		t.Errorf("%d calls, busy %t, %d wait", calls, w.busy, len(w.waiting))
	}
}

// TestRaw: samples may come as float32 values, and the rest in the address.
func TestRaw(t *testing.T) {
	c, stop := serving(t, opened(t, ""))
	defer stop()
	c.begin(0, 1)
	send := func(path string, kind string, values ...float32) string {
		var body bytes.Buffer
		must.Do(t, binary.Write(&body, binary.LittleEndian, values))
		r := must.Get(http.Post(c.url+path, kind, &body))(t)
		defer r.Body.Close()
		return fmt.Sprintf("%d %s", r.StatusCode, must.Get(io.ReadAll(r.Body))(t))
	}
	const raw = "application/octet-stream"
	two := slices.Concat(sample(0, 1), sample(1, 2))
	if got := send("/learn?task=1&classes=0,1", raw, two...); got != "200 {\"taken\":2,\"saved\":0}\n" {
		t.Error(got)
	}
	c.learn(1, 300, 0, 1)
	c.knows(0, 1)
	for _, path := range []string{"/predict", "/predict?task=1"} {
		got := send(path, raw, slices.Concat(sample(0, 1000), sample(1, 1000))...)
		if !strings.HasPrefix(got, `200 [{"class":0,`) || !strings.Contains(got, `},{"class":1,`) {
			t.Errorf("%s: %s", path, got)
		}
	}
	nan := append(sample(0, 1)[:7:7], float32(math.NaN()))
	for _, q := range []struct {
		path   string
		values []float32
		want   string
	}{
		{"/learn?task=1&classes=0", two, "16 values and 1 classes"}, {"/learn?task=1&classes=0,x", two, `has \"x\"`},
		{"/learn?task=1", two, "whole numbers with commas"}, {"/learn?classes=0,1", two, `\"task\" is missing`},
		{"/learn?task=1&task=1&classes=0,1", two, `the key \"task\" in the address is there twice`},
		{"/learn?task=1&classes=0,1&Task=1", two, `the key \"Task\" in the address is not known`},
		{"/predict?task=one", two, "want a whole number"}, {"/predict?classes=0", two, "not known"},
		{"/predict?task=7", two, "there is no task 7"}, {"/predict", two[:9], "want samples of 8 values"},
		{"/predict", nil, "0 bytes"}, {"/predict", nan, "not finite"}, {"/learn?task=1&classes=0", nan, "not finite"},
	} {
		if got := send(q.path, raw, q.values...); !strings.HasPrefix(got, "400") || !strings.Contains(got, q.want) {
			t.Errorf("%s: %s; want %s", q.path, got, q.want)
		}
	}
	if got := send("/predict", "application/octet-stream; charset=none", two...); !strings.HasPrefix(got, "400") {
		t.Errorf("another type: %s", got)
	}
}

// TestAlone: predictions of one sample are the same whether other requests come at the same time or
// not, but for rounding.
func TestAlone(t *testing.T) {
	c, s := handled(t)
	c.begin(0, 1)
	want := c.predict(0)[0]
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				if got := c.predict(0)[0]; got.Class != want.Class || !reflect.DeepEqual(got.Classes, want.Classes) ||
					got.Probabilities[0]-want.Probabilities[0] > 1e-5 {
					t.Errorf("%+v, alone %+v", got, want)
				}
			}
		})
	}
	for range 20 {
		must.Do(t, s.renew())
	}
	all.Wait()
}
