package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/viz/tsne"
)

// TestRun embeds, and measures the embedding again.
func TestRun(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var in input
	for range 60 {
		in.X = append(in.X, []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
	}
	send := func() (out output) {
		var w bytes.Buffer
		text, err := json.Marshal(in)
		if err == nil {
			err = run(bytes.NewReader(text), &w, tsne.Options{Perplexity: 10}, 12)
		}
		if err == nil {
			err = json.Unmarshal(w.Bytes(), &out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	made := send()
	in.Y = made.Y
	measured := send()
	if len(made.Y) != 60 || made.Seconds <= 0 || made.KL <= 0 || made.Trustworthiness < 0.8 || measured.Seconds != 0 ||
		measured.KL != made.KL || measured.Trustworthiness != made.Trustworthiness || !slices.Equal(measured.Y, made.Y) {
		t.Errorf("made %+v, measured %+v", made, measured)
	}
	if err := run(strings.NewReader(`{"x": [[1`), &bytes.Buffer{}, tsne.Options{}, 12); err == nil {
		t.Error("half a line: no error")
	}
}
