package method

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// linearLab is a Lab for a linear softmax model, logits Wx and features x, with what of an engine a run
// needs. Class c has output c. Losses, gradients and pixel gradients are exact, in float64.
type linearLab struct {
	method          Method
	batch, made     int
	outputs, inputs int
	byTask          bool // task-incremental
	store           *memory.Store
	rng             *seed.Source
	at              map[rehearsal.Point][]float64 // W, row-major
	overThen        []int                         // finished tasks when Remember was called
	velocity        []float64
	tasks           []*linearTask
	updates, steps  int // by Lab.Update, and by step
	gradients       int // calls of Lab.Gradient
	descents        []descent
}

type linearTask struct {
	id         int
	classes    []int
	data       []memory.Item // what its stream still delivers
	candidates []memory.Item
	over       bool
}

type descent struct {
	samples []memory.Item
	shares  []float64
	sgd     rehearsal.SGD
}

const linearLR = 1.0

func newLinearLab(t testing.TB, m Method, c memory.Config) *linearLab {
	t.Helper()
	store, err := memory.NewStore(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := &linearLab{method: m, batch: 8, outputs: 6, inputs: 12, store: store, rng: seed.New(1, "run"), at: map[rehearsal.Point][]float64{}}
	l.at[rehearsal.Now] = l.drawn(seed.New(1, "init"))
	return l
}

func (l *linearLab) drawn(s *seed.Source) []float64 {
	w := make([]float64, l.outputs*l.inputs)
	for p := range w {
		w[p] = 0.3 * s.NormFloat64()
	}
	return w
}

// attach starts a task of n samples in each class: noise around a centre of the class, within [0,1].
func (l *linearLab) attach(n int, classes ...int) *linearTask {
	t := &linearTask{id: len(l.tasks) + 1, classes: classes}
	r := seed.New(7, "data", t.id)
	for range n {
		for _, c := range classes {
			x := make([]float32, l.inputs)
			for p := range x {
				x[p] = float32(min(max(0.5+0.35*math.Sin(float64((3*c+5)*(p+1)))+0.1*r.NormFloat64(), 0), 1))
			}
			t.data = append(t.data, memory.Item{Task: t.id, Class: c, Pixels: x})
		}
	}
	l.tasks = append(l.tasks, t)
	return t
}

func (t *linearTask) current(batch int) []memory.Item { return t.data[:min(batch, len(t.data))] }

// pool is how many candidates of each class a task keeps.
func (l *linearLab) pool(t *linearTask) int {
	n := l.store.Quota(t.classes)
	if c, ok := As[rehearsal.Curator](l.method); ok {
		n = c.Pool(n)
	}
	return n
}

func (l *linearLab) lossOf(id int) rehearsal.Loss {
	if o, ok := As[rehearsal.Objective](l.method); ok {
		return o.Loss(id)
	}
	return rehearsal.Loss{}
}

type linearRow struct {
	id      int
	samples []memory.Item
}

// step makes one step of the run and ends the tasks whose data is spent.
func (l *linearLab) step(t testing.TB) (*Step, []float64) {
	t.Helper()
	var s *Step
	var w []float64
	if i, ok := As[Idler](l.method); !ok || !i.Idle() {
		s, w = l.train(t)
	}
	if k, ok := As[rehearsal.Storer](l.method); ok {
		must(t, k.Store(l))
	}
	l.made++
	for _, task := range l.tasks {
		if !task.over {
			l.pass(t, task)
		}
	}
	return s, w
}

func (l *linearLab) train(t testing.TB) (*Step, []float64) {
	t.Helper()
	rows := l.memoryRows(t)
	for _, task := range l.tasks {
		if !task.over {
			rows = append(rows, linearRow{task.id, task.current(l.batch)})
		}
	}
	s := &Step{Rand: l.rng.Rand}
	for _, r := range rows {
		s.IDs = append(s.IDs, r.id)
		s.Losses = append(s.Losses, l.mean(l.at[rehearsal.Now], r.samples, l.lossOf(r.id)))
		s.Rows = append(s.Rows, l.gradient(l.at[rehearsal.Now], r.samples, l.lossOf(r.id)))
	}
	s.Gram = gramOf(s.Rows)
	w, d := act(t, l.method, s)
	add(l.at[rehearsal.Now], -linearLR, d)
	l.steps++
	if f, ok := As[Follower](l.method); ok {
		var after []float64
		for _, r := range rows {
			after = append(after, l.mean(l.at[rehearsal.Now], r.samples, l.lossOf(r.id)))
		}
		must(t, f.Follow(s.IDs, after))
	}
	return s, w
}

func (l *linearLab) memoryRows(t testing.TB) (rows []linearRow) {
	t.Helper()
	var replays []rehearsal.Replay
	if r, ok := As[rehearsal.Replayer](l.method); ok {
		var err error
		replays, err = r.Replays(l)
		must(t, err)
	} else {
		if drawn := l.store.Draw(l.batch); len(drawn) > 0 {
			replays = []rehearsal.Replay{{ID: Memory, Indices: drawn}}
		}
	}
	for _, r := range replays {
		if n := len(r.Indices); r.ID > 0 || n == 0 || n > l.batch || len(slices.Compact(sortedInts(r.Indices))) != n {
			t.Fatalf("a memory row %d of %v; want distinct samples, at most %d", r.ID, r.Indices, l.batch)
		}
		rows = append(rows, linearRow{r.ID, l.store.Items(r.Indices)})
	}
	return rows
}

// role is one that the test cannot do without.
func role[T any](t testing.TB, m Method) T {
	t.Helper()
	r, ok := As[T](m)
	if !ok {
		t.Fatalf("%s is no %T", m.Info().Name, &r)
	}
	return r
}

// replays are the memory rows that the method asks for.
func (l *linearLab) replays(t testing.TB) []rehearsal.Replay {
	t.Helper()
	rows, err := role[rehearsal.Replayer](t, l.method).Replays(l)
	must(t, err)
	return rows
}

// everyIndex lists the samples of a store.
func everyIndex(s *memory.Store) []int {
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// stored is the id of the row of stored logits.
const stored = -1

func sortedInts(x []int) []int { return slices.Sorted(slices.Values(x)) }

// pass moves a task's stream on, and ends it after its last batch.
func (l *linearLab) pass(t testing.TB, task *linearTask) {
	t.Helper()
	now := task.current(l.batch)
	task.data = task.data[len(now):]
	if _, keeps := As[rehearsal.Storer](l.method); !keeps {
		for _, it := range now {
			if n := l.pool(task); countClass(task.candidates, it.Class) < n {
				task.candidates = append(task.candidates, it)
			}
		}
	}
	if len(task.data) > 0 {
		return
	}
	task.over = true
	if c, ok := As[rehearsal.Curator](l.method); ok {
		must(t, c.Curate(l, task.id, task.candidates))
	} else {
		l.store.Add(task.candidates)
	}
	task.candidates = nil
	if s, ok := As[Stateful](l.method); ok {
		s.End(task.id)
	}
}

func countClass(items []memory.Item, class int) (n int) {
	for _, it := range items {
		if it.Class == class {
			n++
		}
	}
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run plays a second task beside the end of the first, and a third after both. Before step stop, if it
// is positive, the run is saved and restored.
func run(t testing.TB, name string, p values, c memory.Config, stop int) *linearLab {
	t.Helper()
	return runOf(t, func() Method { return build(t, name, p) }, c, stop)
}

func runOf(t testing.TB, make func() Method, c memory.Config, stop int) *linearLab {
	t.Helper()
	l := newLinearLab(t, make(), c)
	l.attach(40, 0, 1)
	for i := 0; i < 15 || len(l.Running()) > 0; i++ {
		if i == stop && stop > 0 {
			l = l.reborn(t, make())
		}
		switch i {
		case 6:
			l.attach(32, 2, 3)
		case 14:
			l.attach(24, 4, 5)
		}
		l.step(t)
	}
	return l
}

// oneByOne plays the tasks one after another.
func (l *linearLab) oneByOne(t testing.TB) *linearLab {
	t.Helper()
	for c := 0; c < l.outputs; c += 2 {
		l.attach(40, c, c+1)
		for len(l.Running()) > 0 {
			l.step(t)
		}
	}
	return l
}

// accuracy is over new samples of all tasks.
func (l *linearLab) accuracy(t testing.TB) float64 {
	t.Helper()
	var samples []memory.Item
	tasks := l.tasks
	for _, task := range tasks {
		fresh := l.attach(20, task.classes...)
		for _, it := range fresh.data {
			it.Task = task.id
			samples = append(samples, it)
		}
	}
	l.tasks = tasks
	predict := func() ([]int, error) { return l.Predict(rehearsal.Now, samples) }
	if p, ok := As[rehearsal.Predictor](l.method); ok {
		must(t, p.Prepare(l))
		predict = func() ([]int, error) { return p.Predict(l, samples) }
	}
	classes, err := predict()
	must(t, err)
	right := 0.0
	for i, it := range samples {
		if classes[i] == it.Class {
			right++
		}
	}
	return right / float64(len(samples))
}

// reborn is the run as it goes on after it was saved: method, store and random state are restored.
func (l *linearLab) reborn(t testing.TB, m Method) *linearLab {
	t.Helper()
	next := *l
	next.method = m
	if old, ok := As[Stateful](l.method); ok {
		state, err := old.MarshalState()
		must(t, err)
		must(t, stateful(t, next.method).UnmarshalState(state))
	}
	saved, err := l.store.State()
	must(t, err)
	logits, origin := l.store.Extras()
	next.store, err = memory.Restore(saved, l.store.Pixels(), logits, origin, l.inputs)
	must(t, err)
	bits, err := l.rng.MarshalBinary()
	must(t, err)
	next.rng = seed.New(0, "")
	must(t, next.rng.UnmarshalBinary(bits))
	return &next
}

func (l *linearLab) Batch() int            { return l.batch }
func (l *linearLab) Step() int             { return l.made }
func (l *linearLab) Memory() *memory.Store { return l.store }
func (l *linearLab) Rand() *rand.Rand      { return l.rng.Rand }

func (l *linearLab) Image() (height, width, channels int) { return 2, 2, l.inputs / 4 }

func (l *linearLab) Current() (batches [][]memory.Item) {
	for _, t := range l.tasks {
		if !t.over {
			batches = append(batches, t.current(l.batch))
		}
	}
	return batches
}

func (l *linearLab) Running() []int  { return l.those(false) }
func (l *linearLab) Finished() []int { return l.those(true) }

func (l *linearLab) those(over bool) (ids []int) {
	for _, t := range l.tasks {
		if t.over == over {
			ids = append(ids, t.id)
		}
	}
	return ids
}

func (l *linearLab) Candidates(task int) []memory.Item { return l.tasks[task-1].candidates }

func (l *linearLab) OneTask() bool { return l.byTask }

func (l *linearLab) Competing(task int) []int {
	if l.byTask {
		return l.tasks[task-1].classes
	}
	return l.arrived()
}

func (l *linearLab) Output(_, class int) (int, error) { return class, nil }

func (l *linearLab) arrived() (classes []int) {
	for _, t := range l.tasks {
		classes = append(classes, t.classes...)
	}
	return classes
}

// current is g_cur.
func (l *linearLab) current() []float64 {
	running := l.Running()
	g := make([]float64, l.outputs*l.inputs)
	for _, id := range running {
		add(g, 1/float64(len(running)), l.gradient(l.at[rehearsal.Now], l.tasks[id-1].current(l.batch), l.lossOf(id)))
	}
	return g
}

func (l *linearLab) StepAhead(gamma float64) error {
	l.at[rehearsal.Ahead] = slices.Clone(l.at[rehearsal.Now])
	add(l.at[rehearsal.Ahead], -gamma, l.current())
	return nil
}

func (l *linearLab) Update() error {
	l.updates++
	add(l.at[rehearsal.Now], -linearLR, l.current())
	return nil
}

func (l *linearLab) Remember() error {
	l.at[rehearsal.Remembered], l.overThen = slices.Clone(l.at[rehearsal.Now]), l.Finished()
	return nil
}

func (l *linearLab) point(at rehearsal.Point) []float64 {
	if at == rehearsal.Remembered && l.at[at] == nil {
		at = rehearsal.Now
	}
	if l.at[at] == nil {
		panic("parameters that were never made")
	}
	return l.at[at]
}

func (l *linearLab) Losses(at rehearsal.Point, samples []memory.Item) (out []float64, err error) {
	for _, it := range samples {
		out = append(out, l.loss(l.point(at), it, l.lossOf(Memory)))
	}
	return out, nil
}

func (l *linearLab) Logits(at rehearsal.Point, samples []memory.Item) (out [][]float32, err error) {
	for _, it := range samples {
		out = append(out, single(l.scores(l.point(at), it.Pixels, l.lossOf(Memory))))
	}
	return out, nil
}

func (l *linearLab) Features(_ rehearsal.Point, samples []memory.Item) (out [][]float32, err error) {
	for _, it := range samples {
		out = append(out, it.Pixels)
	}
	return out, nil
}

func (l *linearLab) Gradient(at rehearsal.Point, samples []memory.Item) ([]float32, error) {
	if len(samples) == 0 || len(samples) > l.batch {
		return nil, errors.New("no single batch")
	}
	l.gradients++
	return single(l.gradient(l.point(at), samples, l.lossOf(Memory))), nil
}

func (l *linearLab) PixelGradients(at rehearsal.Point, samples []memory.Item) (out [][]float32, err error) {
	w := l.point(at)
	for _, it := range samples {
		g := make([]float64, l.inputs)
		for o, d := range l.slope(w, it, l.lossOf(Memory)) {
			add(g, d, w[o*l.inputs:(o+1)*l.inputs])
		}
		out = append(out, single(g))
	}
	return out, nil
}

func (l *linearLab) Predict(at rehearsal.Point, samples []memory.Item) (classes []int, err error) {
	for _, it := range samples {
		z, best := l.scores(l.point(at), it.Pixels, l.lossOf(Memory)), -1
		for _, c := range l.Competing(it.Task) {
			if best < 0 || z[c] > z[best] {
				best = c
			}
		}
		classes = append(classes, best)
	}
	return classes, nil
}

func (l *linearLab) Restart() error {
	l.at[rehearsal.Apart] = l.drawn(seed.New(1, "restart", l.made))
	l.velocity = make([]float64, len(l.at[rehearsal.Apart]))
	l.descents = nil
	return nil
}

func (l *linearLab) Descend(samples []memory.Item, shares []float64, s rehearsal.SGD) error {
	if len(samples) == 0 || len(samples) > l.batch {
		return errors.New("no single batch")
	}
	l.descents = append(l.descents, descent{samples, shares, s})
	w, g := l.at[rehearsal.Apart], make([]float64, len(l.velocity))
	for i, it := range samples {
		share := 1 / float64(len(samples))
		if shares != nil {
			share = shares[i]
		}
		add(g, share, l.gradient(w, []memory.Item{it}, l.lossOf(Memory)))
	}
	if norm := math.Sqrt(inner(g, g)); s.Clip > 0 && norm > s.Clip {
		scaled([][]float64{g}, s.Clip/norm)
	}
	scaled([][]float64{l.velocity}, s.Momentum)
	add(l.velocity, 1, g)
	add(l.velocity, s.Decay, w)
	add(w, -s.LR, l.velocity)
	return nil
}

func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// scores are the logits, or the sharpened cosines.
func (l *linearLab) scores(w []float64, x []float32, loss rehearsal.Loss) []float64 {
	z := make([]float64, l.outputs)
	for o := range z {
		for p, v := range x {
			z[o] += w[o*l.inputs+p] * float64(v)
		}
	}
	if loss.Cosine {
		features := 0.0
		for _, v := range x {
			features += float64(v) * float64(v)
		}
		for o := range z {
			norm := math.Sqrt(inner(w, w))
			if row := w[o*l.inputs : (o+1)*l.inputs]; !loss.Frobenius {
				norm = math.Sqrt(inner(row, row))
			}
			z[o] *= loss.Sharpness / norm / math.Sqrt(features)
		}
	}
	return z
}

// competing says which outputs a loss compares for a sample.
func (l *linearLab) competing(it memory.Item, loss rehearsal.Loss) []int {
	switch {
	case loss.Seen:
		return l.arrived()
	case loss.Own:
		return l.tasks[it.Task-1].classes
	}
	return l.Competing(it.Task)
}

// loss is that of one sample.
func (l *linearLab) loss(w []float64, it memory.Item, loss rehearsal.Loss) float64 {
	z, total := l.scores(w, it.Pixels, loss), 0.0
	switch loss.Kind {
	case rehearsal.StoredLogits:
		total = l.distance(w, it, loss)
	case rehearsal.Sigmoid:
		for _, o := range l.competing(it, loss) {
			total += math.Log1p(math.Exp(-math.Abs(z[o]))) + max(z[o], 0) - l.target(it, o)*z[o]
		}
	default:
		if loss.Cosine {
			l.addMargins(z, it, loss)
		}
		top, sum := math.Inf(-1), 0.0
		for _, o := range l.competing(it, loss) {
			top = max(top, z[o])
		}
		for _, o := range l.competing(it, loss) {
			sum += math.Exp(z[o] - top)
		}
		total = top + math.Log(sum) - z[it.Class]
	}
	total = loss.Factor()*total + loss.Distill*l.distance(w, it, loss)
	if loss.Teacher > 0 {
		total += loss.Teacher * l.unlike(w, it, loss)
	}
	return total
}

// unlike is the cross-entropy between the softmax of the old model's scores and that of the present ones, over the
// outputs of tasks that had ended then, all divided by the temperature.
func (l *linearLab) unlike(w []float64, it memory.Item, loss rehearsal.Loss) (total float64) {
	p, q, outputs := l.soft(w, it, loss), l.soft(l.point(rehearsal.Remembered), it, loss), l.old()
	for i := range outputs {
		total -= q[i] * math.Log(p[i])
	}
	return total
}

// soft is the softmax of the scores of the old outputs.
func (l *linearLab) soft(w []float64, it memory.Item, loss rehearsal.Loss) (p []float64) {
	z := l.scores(w, it.Pixels, loss)
	for _, o := range l.old() {
		p = append(p, z[o]/loss.Temperature)
	}
	softmax(p)
	return p
}

// old lists the outputs of tasks that had ended when Remember was called.
func (l *linearLab) old() (outputs []int) {
	for _, id := range l.overThen {
		outputs = append(outputs, l.tasks[id-1].classes...)
	}
	return outputs
}

// distance is the mean squared difference of the scores to those that are stored.
func (l *linearLab) distance(w []float64, it memory.Item, loss rehearsal.Loss) (total float64) {
	z := l.scores(w, it.Pixels, loss)
	for o, target := range it.Logits {
		total += (z[o] - float64(target)) * (z[o] - float64(target)) / float64(len(it.Logits))
	}
	return total
}

func (l *linearLab) addMargins(z []float64, it memory.Item, loss rehearsal.Loss) {
	for o := range z {
		angle := math.Acos(min(max(z[o]/loss.Sharpness, -1), 1))
		if slices.Contains(l.tasks[it.Task-1].classes, o) {
			angle += loss.TaskMargin
		}
		if o == it.Class {
			angle += loss.ClassMargin
		}
		z[o] = loss.Sharpness * math.Cos(angle)
	}
}

// target of a sigmoid output.
func (l *linearLab) target(it memory.Item, o int) float64 {
	for _, id := range l.overThen {
		if slices.Contains(l.tasks[id-1].classes, o) {
			return 1 / (1 + math.Exp(-l.scores(l.at[rehearsal.Remembered], it.Pixels, rehearsal.Loss{})[o]))
		}
	}
	if o == it.Class {
		return 1
	}
	return 0
}

// slope is ∂loss/∂logits; losses on cosines have none here.
func (l *linearLab) slope(w []float64, it memory.Item, loss rehearsal.Loss) []float64 {
	z, g := l.scores(w, it.Pixels, loss), make([]float64, l.outputs)
	switch loss.Kind {
	case rehearsal.StoredLogits:
		for o, target := range it.Logits {
			g[o] = 2 * (z[o] - float64(target)) / float64(len(it.Logits))
		}
	case rehearsal.Sigmoid:
		for _, o := range l.competing(it, loss) {
			g[o] = 1/(1+math.Exp(-z[o])) - l.target(it, o)
		}
	default:
		top, sum := math.Inf(-1), 0.0
		for _, o := range l.competing(it, loss) {
			top = max(top, z[o])
		}
		for _, o := range l.competing(it, loss) {
			g[o] = math.Exp(z[o] - top)
			sum += g[o]
		}
		scaled([][]float64{g}, 1/sum)
		g[it.Class]--
	}
	scaled([][]float64{g}, loss.Factor())
	if loss.Distill > 0 {
		for o, target := range it.Logits {
			g[o] += loss.Distill * 2 * (z[o] - float64(target)) / float64(len(it.Logits))
		}
	}
	if loss.Teacher > 0 {
		p, q := l.soft(w, it, loss), l.soft(l.point(rehearsal.Remembered), it, loss)
		for i, o := range l.old() {
			g[o] += loss.Teacher * (p[i] - q[i]) / loss.Temperature
		}
	}
	return g
}

func (l *linearLab) mean(w []float64, samples []memory.Item, loss rehearsal.Loss) (sum float64) {
	for _, it := range samples {
		sum += l.loss(w, it, loss) / float64(len(samples))
	}
	return sum
}

// gradient is that of the mean loss over W.
func (l *linearLab) gradient(w []float64, samples []memory.Item, loss rehearsal.Loss) []float64 {
	if loss.Cosine {
		return numericGradient(w, 1e-5, func(w []float64) float64 { return l.mean(w, samples, loss) })
	}
	g := make([]float64, len(w))
	for _, it := range samples {
		for o, d := range l.slope(w, it, loss) {
			for p, x := range it.Pixels {
				g[o*l.inputs+p] += d * float64(x) / float64(len(samples))
			}
		}
	}
	return g
}

// numericGradient is by central differences.
func numericGradient(x []float64, h float64, f func([]float64) float64) []float64 {
	g, x := make([]float64, len(x)), slices.Clone(x)
	for p := range x {
		keep := x[p]
		x[p] = keep + h
		up := f(x)
		x[p] = keep - h
		g[p] = (up - f(x)) / (2 * h)
		x[p] = keep
	}
	return g
}

// wide is x in float64.
func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for p, v := range x {
		out[p] = float64(v)
	}
	return out
}

// TestLinearLab compares the gradients that the other tests rely on with differences of the losses.
func TestLinearLab(t *testing.T) {
	l := newLinearLab(t, build(t, "er", nil), memory.Config{Policy: memory.PerClass, Budget: 4})
	l.attach(4, 0, 1)
	l.attach(4, 2, 3)
	l.tasks[0].over = true
	must(t, l.Remember())
	add(l.at[rehearsal.Now], 1, l.drawn(seed.New(2, "moved")))
	samples := slices.Concat(l.tasks[0].data[:3], l.tasks[1].data[:3])
	for i := range samples {
		samples[i].Logits = []float32{1, -2, 0.5}
	}
	for _, byTask := range []bool{false, true} {
		l.byTask = byTask
		for _, loss := range []rehearsal.Loss{{}, {Seen: true, Scale: 3}, {Kind: rehearsal.Sigmoid, Seen: true}, {Kind: rehearsal.StoredLogits, Scale: 0.4}, {Scale: 0.5, Distill: 0.7}, {Own: true, Teacher: 0.6, Temperature: 2}} {
			want := numericGradient(l.at[rehearsal.Now], 1e-5, func(w []float64) float64 { return l.mean(w, samples, loss) })
			if got := l.gradient(l.at[rehearsal.Now], samples, loss); !near(got, want, 1e-8) {
				t.Errorf("%+v: gradient %v, differences %v", loss, got, want)
			}
		}
		for _, it := range samples {
			got, err := l.PixelGradients(rehearsal.Now, []memory.Item{it})
			must(t, err)
			want := numericGradient(wide(it.Pixels), 1e-2, func(x []float64) float64 {
				it.Pixels = single(x)
				return l.loss(l.at[rehearsal.Now], it, rehearsal.Loss{})
			})
			if !near(wide(got[0]), want, 1e-3) { // pixels are float32, so differences are rough
				t.Errorf("pixel gradient %v, differences %v", got[0], want)
			}
		}
	}
}
