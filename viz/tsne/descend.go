package tsne

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	exaggeration  = 12  // factor on P in the first iterations,
	exaggerated   = 250 // so many of them, or the first quarter if that is less
	progressEvery = 50
)

// descend moves y by gradient descent with momentum and a gain per coordinate (van der Maaten and
// Hinton 2008, §3.4): a gain grows while its coordinate keeps its direction and shrinks when it
// turns.
func descend(ctx context.Context, p [][]float64, y [][2]float64, o Options) {
	gradient, update, gain := make([][2]float64, len(y)), make([][2]float64, len(y)), make([][2]float64, len(y))
	for i := range gain {
		gain[i] = [2]float64{1, 1}
	}
	rate, early := max(float64(len(y))/(4*exaggeration), 50), min(exaggerated, o.Iterations/4)
	for done := 0; done < o.Iterations && ctx.Err() == nil; done++ {
		factor, momentum := float64(exaggeration), 0.5
		if done >= early {
			factor, momentum = 1, 0.8
		}
		descent(ctx, p, y, gradient, factor)
		if o.Progress != nil && ((done+1)%progressEvery == 0 || done+1 == o.Iterations) {
			if kl := divergence(ctx, p, y); ctx.Err() == nil {
				o.Progress(done+1, kl)
			}
		}
		step(y, gradient, update, gain, momentum, rate)
	}
}

// descent fills g with ∂C/∂y, P multiplied by a factor.
func descent(ctx context.Context, p [][]float64, y, g [][2]float64, factor float64) {
	repel, z := make([][2]float64, len(y)), make([]float64, len(y))
	parallel(ctx, len(y), func(i int) {
		var pullX, pullY, awayX, awayY, sum float64 // scalars stay in registers, arrays do not
		for j, pij := range p[i] {
			if j == i {
				continue
			}
			dx, dy := y[i][0]-y[j][0], y[i][1]-y[j][1]
			w := 1 / (1 + dx*dx + dy*dy)
			sum += w
			pullX, pullY = pullX+pij*w*dx, pullY+pij*w*dy
			awayX, awayY = awayX+w*w*dx, awayY+w*w*dy
		}
		g[i], repel[i], z[i] = [2]float64{pullX, pullY}, [2]float64{awayX, awayY}, sum
	})
	all := floats.Sum(z)
	for i := range g {
		for a := range g[i] {
			g[i][a] = 4 * (factor*g[i][a] - repel[i][a]/all)
		}
	}
}

// divergence is KL(P‖Q) = Σ p_ij log(p_ij/w_ij) + log Z.
func divergence(ctx context.Context, p [][]float64, y [][2]float64) float64 {
	terms, z := make([]float64, len(y)), make([]float64, len(y))
	parallel(ctx, len(y), func(i int) {
		for j, pij := range p[i] {
			if j == i {
				continue
			}
			dx, dy := y[i][0]-y[j][0], y[i][1]-y[j][1]
			away := 1 + dx*dx + dy*dy
			z[i] += 1 / away
			if pij > 0 {
				terms[i] += pij * math.Log(pij*away)
			}
		}
	})
	return floats.Sum(terms) + math.Log(floats.Sum(z))
}

// step updates y and keeps its mean at 0.
func step(y, gradient, update, gain [][2]float64, momentum, rate float64) {
	for i := range y {
		for a, g := range gradient[i] {
			if (g > 0) != (update[i][a] > 0) {
				gain[i][a] += 0.2
			} else {
				gain[i][a] = max(0.8*gain[i][a], 0.01)
			}
			update[i][a] = momentum*update[i][a] - rate*gain[i][a]*g
			y[i][a] += update[i][a]
		}
	}
	centre(y)
}
