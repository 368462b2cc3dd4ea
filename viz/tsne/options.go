package tsne

import (
	"fmt"
	"math"
)

// Init says where the points start.
type Init string

const (
	PCA    Init = "pca"    // the first two principal components
	Random Init = "random" // Gaussian noise
)

// Options are the settings of an embedding. The zero value is the exact method with the usual settings.
type Options struct {
	Perplexity   float64 // effective number of neighbours; 0 for 30, at most a third of the other points
	Theta        float64 // 0 for the exact method; else Barnes–Hut: a cell of width s at distance d is one point if s/d < Theta; 0.5 is usual
	Iterations   int     // 0 for 1000
	LearningRate float64 // 0 for max(n/(4·Exaggeration), 50)
	Exaggeration float64 // factor on P in the first 250 iterations, or the first quarter if that is less; 0 for 12
	Init         Init    // "" for PCA
	Seed         uint64
	Progress     func(Progress) // called every 50 iterations and after the last, if not nil
}

// Progress is the state after some iterations.
type Progress struct {
	Iteration, Iterations int     // done, and to do in all
	KL                    float64 // KL(P‖Q) in nats without exaggeration, before the last update; Z approximate if Theta > 0
	GradientNorm          float64 // ‖∂C/∂y‖, before the last update, with the exaggeration of the moment
}

const (
	defaultPerplexity   = 30
	defaultIterations   = 1000
	defaultExaggeration = 12
	exaggerated         = 250 // iterations
	progressEvery       = 50
)

// complete fills in the defaults for n points and refuses what makes no sense.
func (o Options) complete(n int) (Options, error) {
	o.Perplexity = or(o.Perplexity, defaultPerplexity)
	o.Iterations = or(o.Iterations, defaultIterations)
	o.Exaggeration = or(o.Exaggeration, defaultExaggeration)
	o.LearningRate = or(o.LearningRate, max(float64(n)/(4*o.Exaggeration), 50))
	o.Init = or(o.Init, PCA)
	switch {
	case !(o.Theta >= 0 && o.Theta <= 1):
		return o, fmt.Errorf("tsne: Theta = %v; want 0 (exact) to 1", o.Theta)
	case o.Iterations < 1:
		return o, fmt.Errorf("tsne: Iterations = %d; want at least 1, or 0 for %d", o.Iterations, defaultIterations)
	case !(o.Exaggeration >= 1) || math.IsInf(o.Exaggeration, 1):
		return o, fmt.Errorf("tsne: Exaggeration = %v; want a number ≥ 1, or 0 for %d", o.Exaggeration, defaultExaggeration)
	case !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 1):
		return o, fmt.Errorf("tsne: LearningRate = %v; want a positive number, or 0 for one that suits n", o.LearningRate)
	case o.Init != PCA && o.Init != Random:
		return o, fmt.Errorf("tsne: Init is %q; want %q or %q", o.Init, PCA, Random)
	}
	return o, checkPerplexity(o.Perplexity, n)
}

// checkPerplexity asks for three neighbours per unit of perplexity, as many as Barnes–Hut keeps.
func checkPerplexity(perplexity float64, n int) error {
	if !(perplexity > 1) || math.IsInf(perplexity, 1) {
		return fmt.Errorf("tsne: Perplexity = %v; want a number above 1, or 0 for %d", perplexity, defaultPerplexity)
	}
	if n < 5 { // no perplexity above 1 would do
		return fmt.Errorf("tsne: %d points are too few for a map; give at least 5", n)
	}
	if 3*perplexity > float64(n-1) {
		return fmt.Errorf("tsne: %d points are too few for perplexity %v, which needs %.0f; give more points or a perplexity of at most %.4g",
			n, perplexity, math.Ceil(3*perplexity)+1, float64(n-1)/3)
	}
	return nil
}

func or[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}
