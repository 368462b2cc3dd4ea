package tsne

// tree is a quadtree over points of the plane for sums over w (van der Maaten 2014, §4.2). Its cells
// stand in depth-first order, so a walk that skips a cell jumps to cell.next, and the points in the
// order of the leaves, so that each cell's points are neighbours in memory.
type tree struct {
	cells []cell
	order []int32 // the point at each place
	at    [][2]float64
}

type cell struct {
	x, y, count float64 // centre of mass and number of points
	width2      float64
	lo, hi      int32 // its points' places
	next        int32 // the cell after its last descendant
}

const (
	leafSize = 4
	maxDepth = 40 // beyond it points count as coincident
)

// build makes the tree of the points y, reusing memory.
func (t *tree) build(y [][2]float64) {
	if len(t.order) != len(y) {
		t.order, t.at = make([]int32, len(y)), make([][2]float64, len(y))
		for i := range t.order {
			t.order[i] = int32(i)
		}
	}
	low, high := y[0], y[0]
	for place, i := range t.order {
		p := y[i]
		t.at[place] = p
		low[0], low[1] = min(low[0], p[0]), min(low[1], p[1])
		high[0], high[1] = max(high[0], p[0]), max(high[1], p[1])
	}
	t.cells = t.cells[:0]
	centre := [2]float64{(low[0] + high[0]) / 2, (low[1] + high[1]) / 2}
	t.grow(0, len(y), centre, max(high[0]-low[0], high[1]-low[1]), 0)
}

// grow appends the cell of the points at [lo, hi), and those below it.
func (t *tree) grow(lo, hi int, centre [2]float64, width float64, depth int) {
	if lo == hi {
		return
	}
	id := len(t.cells)
	c := cell{count: float64(hi - lo), width2: width * width, lo: int32(lo), hi: int32(hi)}
	for _, p := range t.at[lo:hi] {
		c.x += p[0]
		c.y += p[1]
	}
	c.x /= c.count
	c.y /= c.count
	t.cells = append(t.cells, c)
	if hi-lo > leafSize && depth < maxDepth {
		w := width / 4
		south := t.split(lo, hi, 1, centre[1])
		for _, half := range [2]struct {
			lo, hi int
			y      float64
		}{{lo, south, centre[1] - w}, {south, hi, centre[1] + w}} {
			west := t.split(half.lo, half.hi, 0, centre[0])
			t.grow(half.lo, west, [2]float64{centre[0] - w, half.y}, width/2, depth+1)
			t.grow(west, half.hi, [2]float64{centre[0] + w, half.y}, width/2, depth+1)
		}
	}
	t.cells[id].next = int32(len(t.cells))
}

// split brings the points at [lo, hi) whose coordinate is below v to the front; the rest starts at the
// place returned.
func (t *tree) split(lo, hi, axis int, v float64) int {
	for i := lo; i < hi; i++ {
		if t.at[i][axis] < v {
			t.at[i], t.at[lo] = t.at[lo], t.at[i]
			t.order[i], t.order[lo] = t.order[lo], t.order[i]
			lo++
		}
	}
	return lo
}

// sums returns Σ_j w_ij² (y_i − y_j) and Σ_j w_ij over j ≠ i, for the point i at a place. A cell that
// does not hold i stands for its points where width/distance < √theta2; with 0 none does, and the sums are exact.
func (t *tree) sums(place int32, theta2 float64) (f [2]float64, z float64) {
	var fx, fy float64
	x0, y0 := t.at[place][0], t.at[place][1]
	for id := int32(0); id < int32(len(t.cells)); {
		c := &t.cells[id]
		dx, dy := x0-c.x, y0-c.y
		d2 := dx*dx + dy*dy
		if c.width2 < theta2*d2 && (place < c.lo || place >= c.hi) {
			w := 1 / (1 + d2)
			z += c.count * w
			w *= c.count * w
			fx += w * dx
			fy += w * dy
			id = c.next
			continue
		}
		id++
		if id == c.next {
			for other := c.lo; other < c.hi; other++ {
				if other == place {
					continue
				}
				dx, dy := x0-t.at[other][0], y0-t.at[other][1]
				w := 1 / (1 + dx*dx + dy*dy)
				z += w
				w *= w
				fx += w * dx
				fy += w * dy
			}
		}
	}
	return [2]float64{fx, fy}, z
}
