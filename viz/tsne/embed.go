package tsne

import (
	"context"
	"fmt"
	"math"
)

// Result is an embedding.
type Result struct {
	Y  [][2]float64 // positions, with mean 0
	KL float64      // KL(P‖Q) in nats, with the P of the method and the exact Q
}

// Embed places the rows of x in the plane. The same x and options give the same bits, however many
// processors take part; the order of the rows and the scale of x change rounding and noise, and with
// them the picture. Errors name the number, row or option at fault; when ctx ends, the error is ctx's.
func Embed(ctx context.Context, x [][]float64, options Options) (*Result, error) {
	points, err := newPoints(x)
	if err != nil {
		return nil, err
	}
	o, err := options.complete(len(x))
	if err != nil {
		return nil, err
	}
	neighbours := len(x) - 1
	if o.Theta > 0 {
		neighbours = min(neighbours, int(math.Ceil(3*o.Perplexity)))
	}
	p, err := affinities(ctx, points, o.Perplexity, neighbours)
	if err != nil {
		return nil, err
	}
	y, err := start(points, o.Seed)
	if err != nil {
		return nil, err
	}
	objective := newObjective(p, o.Theta)
	if err := descend(ctx, objective, y, o); err != nil {
		return nil, err
	}
	z, err := exactZ(ctx, y)
	if err != nil {
		return nil, err
	}
	kl, err := objective.kl(ctx, y, z)
	return &Result{Y: y, KL: kl}, err
}

// collapsed is the share of startSize below which exaggeration has pulled the points onto one spot.
const collapsed = 1e-3

// descend moves y by gradient descent with momentum and a gain per coordinate (van der Maaten and
// Hinton 2008, §3.4): a gain grows while its coordinate keeps its direction and shrinks when it turns.
// Where P has no parts that hang together loosely, an exaggerated P holds all points together and they
// shrink without end; exaggeration then ends early and their present shape starts again at startSize.
func descend(ctx context.Context, objective *objective, y [][2]float64, o Options) error {
	gradient, update, gain := make([][2]float64, len(y)), make([][2]float64, len(y)), make([][2]float64, len(y))
	for i := range gain {
		gain[i] = [2]float64{1, 1}
	}
	early := min(exaggerated, o.Iterations/4)
	for done := range o.Iterations {
		exaggeration, momentum := o.Exaggeration, 0.5
		if done >= early {
			exaggeration, momentum = 1, 0.8
		}
		z, err := objective.gradient(ctx, y, gradient, exaggeration)
		if err != nil {
			return err
		}
		size := norm(gradient)
		if math.IsNaN(size) || math.IsInf(size, 0) {
			return diverged(done+1, o)
		}
		if o.Progress != nil && ((done+1)%progressEvery == 0 || done+1 == o.Iterations) {
			kl, err := objective.kl(ctx, y, z)
			if err != nil {
				return err
			}
			o.Progress(Progress{Iteration: done + 1, Iterations: o.Iterations, KL: kl, GradientNorm: size})
		}
		step(y, gradient, update, gain, momentum, o.LearningRate)
		if spread := norm(y) / math.Sqrt(float64(2*len(y))); done < early && spread < collapsed*startSize {
			early = done
			rescale(y, startSize/spread)
			clear(update)
		}
	}
	if size := norm(y); math.IsNaN(size) || math.IsInf(size, 0) { // the last update has no gradient after it
		return diverged(o.Iterations, o)
	}
	return nil
}

func diverged(iteration int, o Options) error {
	return fmt.Errorf("tsne: the embedding diverged in iteration %d; lower LearningRate = %v", iteration, o.LearningRate)
}

func rescale(v [][2]float64, factor float64) {
	for i := range v {
		v[i][0] *= factor
		v[i][1] *= factor
	}
}

// step updates y and keeps its mean at 0.
func step(y, gradient, update, gain [][2]float64, momentum, rate float64) {
	var mean [2]float64
	for i := range y {
		for a, g := range gradient[i] {
			if (g > 0) != (update[i][a] > 0) {
				gain[i][a] += 0.2
			} else {
				gain[i][a] = max(0.8*gain[i][a], 0.01)
			}
			update[i][a] = momentum*update[i][a] - rate*gain[i][a]*g
			y[i][a] += update[i][a]
			mean[a] += y[i][a] / float64(len(y))
		}
	}
	for i := range y {
		y[i][0] -= mean[0]
		y[i][1] -= mean[1]
	}
}

func norm(v [][2]float64) float64 {
	sum := 0.0
	for _, p := range v {
		sum += p[0]*p[0] + p[1]*p[1]
	}
	return math.Sqrt(sum)
}
