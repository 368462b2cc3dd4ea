package glyphs

import (
	"math"
	"math/rand/v2"
)

// linearProbe trains a softmax regression on the given classes and returns its test accuracy: a
// measure of how hard the images are.
func linearProbe(train, test Images, classes []int32, epochs int) float64 {
	column := map[int32]int{}
	for i, c := range classes {
		column[c] = i
	}
	in, k := Bytes+1, len(classes)
	w := make([]float32, k*in)
	m, v := make([]float32, k*in), make([]float32, k*in)
	grad := make([]float32, k*in)
	var rows []int
	for i, l := range train.Labels {
		if _, ok := column[l]; ok {
			rows = append(rows, i)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, logits := make([]float32, in), make([]float64, k)
	step := 0
	for range epochs {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for start := 0; start < len(rows); start += 128 {
			batch := rows[start:min(start+128, len(rows))]
			clear(grad)
			for _, r := range batch {
				load(x, train, r)
				scores(logits, w, x)
				softmax(logits)
				logits[column[train.Labels[r]]]--
				for c, g := range logits {
					row := grad[c*in : (c+1)*in]
					for j, xj := range x {
						row[j] += float32(g) / float32(len(batch)) * xj
					}
				}
			}
			step++
			b1, b2 := 1-math.Pow(0.9, float64(step)), 1-math.Pow(0.999, float64(step))
			for j, g := range grad {
				m[j] = 0.9*m[j] + 0.1*g
				v[j] = 0.999*v[j] + 0.001*g*g
				w[j] -= 0.003 * float32(float64(m[j])/b1/(math.Sqrt(float64(v[j])/b2)+1e-8))
			}
		}
	}
	right, n := 0, 0
	for i, l := range test.Labels {
		c, ok := column[l]
		if !ok {
			continue
		}
		load(x, test, i)
		scores(logits, w, x)
		best := 0
		for j := range logits {
			if logits[j] > logits[best] {
				best = j
			}
		}
		n++
		if best == c {
			right++
		}
	}
	return float64(right) / float64(n)
}

func load(x []float32, s Images, i int) {
	for j, p := range s.Pixels[i*Bytes : (i+1)*Bytes] {
		x[j] = float32(p) / 255
	}
	x[Bytes] = 1
}

func scores(out []float64, w, x []float32) {
	for c := range out {
		var sum float32
		row := w[c*len(x) : (c+1)*len(x)]
		for j, xj := range x {
			sum += row[j] * xj
		}
		out[c] = float64(sum)
	}
}

func softmax(z []float64) {
	top, sum := z[0], 0.0
	for _, v := range z {
		top = max(top, v)
	}
	for i, v := range z {
		z[i] = math.Exp(v - top)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
}

func subset(seed uint64, n int) []int32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	var classes []int32
	for _, c := range rng.Perm(len(Classes))[:n] {
		classes = append(classes, int32(c))
	}
	return classes
}
