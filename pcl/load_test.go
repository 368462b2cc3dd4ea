package pcl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// refused fails the test unless there is an error that says what is wanted.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want %q", want)
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q; want %q", expect.Text(err), want)
	}
}

// perClass counts the stored samples of each class.
func perClass(l *Learner) map[int]int {
	n := map[int]int{}
	for i := range l.memory.Len() {
		n[l.memory.Item(i).Class]++
	}
	return n
}

// TestLoadTakesBudget: the memory has the budget of the new learner's options.
func TestLoadTakesBudget(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	state := must.Get(l.State())(t)
	for budget, old := range map[int]int{10: 3, 3: 3, 2: 2, 0: 0} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			next := smallLearner(t, b, "avggrad", Options{Memory: memory.Config{Policy: "per_class", Budget: budget}})
			must.Do(t, next.Restore(state, nil))
			if n := perClass(next); n[0] != old || n[1] != old {
				t.Errorf("with a budget of %d, the memory is loaded with %v", budget, n)
			}
			attach(t, next, blobTask(t, d, 2, 2, 3))
			playOut(t, next)
			if n := perClass(next); n[2] != budget || n[3] != budget {
				t.Errorf("with a budget of %d, a new task leaves %v", budget, n)
			}
		})
	}
}

// TestRestoreRefuses: a state that is damaged, or would mean something else to a learner, is
// refused, and changes nothing; what may differ may differ.
func TestRestoreRefuses(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "emgd-gmc", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 2, 3)) // with a batch that was fetched
	nothing := func(*State) {}
	replaced := func(old, new string) func(*State) {
		return func(s *State) { s.JSON = []byte(strings.Replace(string(s.JSON), old, new, 1)) }
	}
	const otherOptions = "make the learner with the same options"
	for what, c := range map[string]struct {
		want   string // "" if the state is taken
		method string
		o      Options
		spoil  func(*State)
	}{
		"the same": {"", "", Options{}, nothing},
		"what may differ": {"", "", Options{
			Optimizer: optim.Adam{LR: .5}, Memory: memory.Config{Policy: "per_class", Budget: 9}, Seed: 8,
		}, nothing},
		"a file without key":  {"", "", Options{}, replaced(`,"model":"mlp-64-[16 8]-6"`, "")},
		"an older AdamW":      {"", "", Options{}, replaced(`"optimizer":"adam `, `"optimizer":"adamw 0 adam `)},
		"another shape":       {otherOptions, "", Options{Model: must.Get(model.NewMLP(64, []int{15, 11}, 6))(t)}, nothing},
		"another method":      {"it was saved by method emgd-gmc, this learner has avggrad", "avggrad", Options{}, nothing},
		"smaller batches":     {"make the learner with Options.Batch of at least that", "", Options{Batch: 4}, nothing},
		"another mode":        {otherOptions, "", Options{Increment: "class"}, nothing},
		"other shared layers": {otherOptions, "", Options{Shared: "all"}, nothing},
		"another optimiser":   {otherOptions, "", Options{Optimizer: optim.SGD{LR: .01}}, nothing},
		"another loss":        {otherOptions, "", Options{Loss: model.SquaredError(2)}, nothing},
		"another policy":      {"fixed_total", "", Options{Memory: memory.Config{Policy: "fixed_total", Budget: 3}}, nothing},
		"a NaN in the memory": {"not finite", "", Options{}, func(s *State) { s.Arrays["memory"][3] = float32(math.NaN()) }},
	} {
		t.Run(what, func(t *testing.T) {
			state := must.Get(l.State())(t)
			c.spoil(&state)
			next := smallLearner(t, b, cmp.Or(c.method, "emgd-gmc"), c.o)
			before := must.Get(next.Parameters())(t)
			err := next.Restore(state, pairs(t, d))
			if c.want == "" {
				must.Do(t, err)
				return
			}
			refused(t, err, c.want)
			if next.LastID() != 0 {
				t.Errorf("the state was refused, and yet %d tasks have arrived", next.LastID())
			}
			if n := next.Memory().Len(); n != 0 {
				t.Errorf("the state was refused, and yet %d samples are stored", n)
			}
			if !slices.Equal(must.Get(next.Parameters())(t), before) {
				t.Error("the state was refused, and yet the parameters have changed")
			}
		})
	}
}

// settled is a method whose state fits only one with the same setting.
type settled struct {
	method.Method
	setting string
}

func (settled) End(int) {}

func (s settled) MarshalState() (json.RawMessage, error) { return json.Marshal(s.setting) }

func (s settled) UnmarshalState(state json.RawMessage) error {
	if want, _ := s.MarshalState(); !bytes.Equal(want, state) {
		return errors.New("it is of another setting")
	}
	return nil
}

// TestLoadOtherParameters: a state that the method refuses changes nothing, and the learner goes on
// as it was.
func TestLoadOtherParameters(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	of := func(setting string, made int) *Learner {
		l := smallLearner(t, b, "", Options{Method: settled{newMethod(t, "rlw", nil), setting}})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		attach(t, l, blobTask(t, d, 2, 2, 3))
		steps(t, l, made)
		return l
	}
	l, want := of("one", 1), of("one", 1)
	refused(t, l.Restore(must.Get(of("another", 2).State())(t), pairs(t, d)), "it is of another setting")
	playOut(t, l)
	playOut(t, want)
	same(t, l, want)
}

// growing returns learners of one hidden layer whose two outputs grow.
func growing(t *testing.T, b *backend.Backend, hidden int) *Learner {
	t.Helper()
	return smallLearner(t, b, "avggrad", Options{Model: must.Get(model.NewMLP(64, []int{hidden}, 2))(t), Grow: true})
}

// TestLoadGrown: a learner takes on the outputs of a file, whether more or fewer, also after it had
// stopped; it keeps its own if the file is refused.
func TestLoadGrown(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 20, 5)
	task := func(id int) (Task, error) { return blobTask(t, d, id, [][]int{{0, 1}, {2, 3, 4}}[id-1]...), nil }
	l := growing(t, b, 8)
	attach(t, l, must.Get(task(1))(t))
	playOut(t, l)
	early, at := must.Get(l.State())(t), must.Get(l.Parameters())(t)
	attach(t, l, must.Get(task(2))(t))
	playOut(t, l)
	late := must.Get(l.State())(t)

	other := growing(t, b, 9)
	refused(t, other.Restore(late, nil), "it was saved by a learner with")
	late.JSON = []byte(strings.Replace(string(late.JSON), `,"model":"mlp-64-[8]-5"`, "", 1))
	refused(t, other.Restore(late, nil), "entries; the model has")
	huge := late
	huge.JSON = []byte(strings.Replace(string(late.JSON), `"outputs":5`, `"outputs":1000000000000`, 1))
	refused(t, other.Restore(huge, nil), "outputs has 565 parameters")
	if n := other.Options().Model.Outputs(); n != 2 {
		t.Errorf("a refused file leaves %d outputs, want 2", n)
	}

	stopped := growing(t, b, 8)
	attach(t, stopped, must.Get(task(1))(t))
	stopped.network.free() // as after a failure of the device
	stopped.turns.failure = errors.New("device")
	must.Do(t, stopped.Restore(late, nil))
	same(t, stopped, l)

	path := filepath.Join(t.TempDir(), "late.pcl")
	must.Do(t, l.Save(path))
	must.Do(t, l.Restore(early, nil))
	if got := must.Get(l.Parameters())(t); !slices.Equal(got, at) || l.Options().Model.Outputs() != 2 {
		t.Error("it is not what it was before it grew")
	}
	attach(t, l, must.Get(task(2))(t)) // it grows again
	playOut(t, l)
	must.Do(t, stopped.Load(path, nil))
	same(t, l, stopped)
}
