package tsne

import (
	"cmp"
	"fmt"
)

// Options are the settings of an embedding. The zero value is the exact method with the usual settings.
type Options struct {
	Perplexity   float64 // effective number of neighbours; 0 for 30, at most a third of the other points
	Theta        float64 // 0 for the exact method; else Barnes–Hut: a cell of width s at distance d is one point if s/d < Theta; 0.5 is usual
	Iterations   int     // 0 for 1000
	LearningRate float64 // 0 for max(n/(4·Exaggeration), 50)
	Exaggeration float64 // factor on P in the first 250 iterations, or the first quarter if that is less; 0 for 12
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

// complete fills in the defaults for n points. It panics at options that make no sense.
func (o Options) complete(n int) (Options, error) {
	o.Perplexity = cmp.Or(o.Perplexity, defaultPerplexity)
	o.Iterations = cmp.Or(o.Iterations, defaultIterations)
	o.Exaggeration = cmp.Or(o.Exaggeration, defaultExaggeration)
	o.LearningRate = cmp.Or(o.LearningRate, max(float64(n)/(4*o.Exaggeration), 50))
	if !(o.Theta >= 0 && o.Theta <= 1 && o.Exaggeration >= 1 && o.LearningRate > 0) || o.Iterations < 1 {
		panic(fmt.Sprintf("tsne: Theta = %v, Iterations = %d, Exaggeration = %v, LearningRate = %v; want 0 to 1, at least 1, at least 1, and a positive number",
			o.Theta, o.Iterations, o.Exaggeration, o.LearningRate))
	}
	return o, checkPerplexity(o.Perplexity, n)
}

// checkPerplexity asks for three neighbours per unit of perplexity, as many as Barnes–Hut keeps.
func checkPerplexity(perplexity float64, n int) error {
	if !(perplexity > 1 && 3*perplexity <= float64(n-1)) {
		return fmt.Errorf("tsne: perplexity %v for %d points; want more than 1, and at most %.4g: a third of the other points", perplexity, n, float64(n-1)/3)
	}
	return nil
}
