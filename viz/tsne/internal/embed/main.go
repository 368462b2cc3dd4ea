// Command embed embeds points, or measures an embedding, for comparisons with other programs: one
// JSON object in, one out.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parallelcl/parallelcl/viz/tsne"
)

type input struct {
	X [][]float64  `json:"x"`
	Y [][2]float64 `json:"y"` // given, it is measured and nothing is embedded
}

type output struct {
	Y               [][2]float64 `json:"y"`
	Seconds         float64      `json:"seconds"`
	KL              float64      `json:"kl"` // of tsne.KL, the same for every y
	Trustworthiness float64      `json:"trustworthiness"`
}

func main() {
	var o tsne.Options
	flag.Float64Var(&o.Perplexity, "perplexity", 30, "effective number of neighbours")
	flag.Float64Var(&o.Theta, "theta", 0.5, "Barnes–Hut opening angle, 0 for the exact method")
	flag.IntVar(&o.Iterations, "iterations", 1000, "iterations")
	flag.Uint64Var(&o.Seed, "seed", 0, "seed")
	k := flag.Int("k", 12, "neighbours for the trustworthiness")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, o, *k); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(r io.Reader, w io.Writer, o tsne.Options, k int) error {
	var in input
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return err
	}
	out := output{Y: in.Y}
	if in.Y == nil {
		start := time.Now()
		result, err := tsne.Embed(context.Background(), in.X, o)
		if err != nil {
			return err
		}
		out.Y, out.Seconds = result.Y, time.Since(start).Seconds()
	}
	var err error
	if out.KL, err = tsne.KL(in.X, out.Y, o.Perplexity); err != nil {
		return err
	}
	if out.Trustworthiness, err = tsne.Trustworthiness(in.X, out.Y, k); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(out)
}
