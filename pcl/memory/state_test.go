package memory

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// asJSON is a round trip through the form that checkpoints hold.
func asJSON[T any](t *testing.T, in T) (out T) {
	t.Helper()
	data := must.Get(json.Marshal(in))(t)
	must.Do(t, json.Unmarshal(data, &out))
	return out
}

// TestStoreContinues saves a store in the middle of a pass; the restored one goes on as the first.
func TestStoreContinues(t *testing.T) {
	s := newStore(t, FixedTotal, 30)
	add(t, s, candidates(1, 40, 0, 1))
	s.items[3].Logits, s.items[5].Logits = []float32{1, 2}, []float32{3}
	s.items[4].Score = 0.1
	s.Edit(2, []float32{7})
	s.Draw(7)
	saved := s.State()
	read := asJSON(t, saved)
	read.AllPixels, read.AllLogits, read.AllOrigins = saved.AllPixels, saved.AllLogits, saved.AllOrigins
	back := must.Get(Restore(read, 1))(t)
	for i := range 12 {
		if a, b := s.Draw(7), back.Draw(7); !slices.Equal(a, b) {
			t.Fatalf("draw %d: %v before, %v after", i, a, b)
		}
		if i == 5 {
			add(t, s, candidates(2, 40, 2))
			add(t, back, candidates(2, 40, 2))
		}
	}
	if !reflect.DeepEqual(s.items, back.items) {
		t.Error("the stored samples differ")
	}
}

// TestReservoirContinues saves a reservoir that is full in one class and not in the other.
func TestReservoirContinues(t *testing.T) {
	a := NewReservoir(2, 4, 7)
	for i := range 60 {
		a.Offer(i%20/19, []float32{float32(i), -1})
	}
	saved := a.State()
	read := asJSON(t, saved)
	read.Pixels = saved.Pixels
	b := must.Get(RestoreReservoir(read, 2))(t)
	for i := range 60 {
		x := []float32{float32(100 + i), -1}
		a.Offer(i%3, x)
		b.Offer(i%3, x)
	}
	if !reflect.DeepEqual(a.Items(), b.Items()) {
		t.Errorf("the restored reservoir holds\n%v, the other\n%v", b.Items(), a.Items())
	}
}

func TestDamagedStoreIsRefused(t *testing.T) {
	s := newStore(t, PerClass, 3)
	add(t, s, candidates(1, 3, 0))
	s.Draw(2)
	if _, err := Restore(State{Config: s.config, AllLogits: []float32{1}}, 1); err == nil {
		t.Error("logits of nothing: no error")
	}
	for name, damage := range map[string]func(*State){
		"policy":       func(st *State) { st.Config.Policy = "x" },
		"classes":      func(st *State) { st.Class = st.Class[1:] },
		"samples":      func(st *State) { st.Class, st.Task = st.Class[1:], st.Task[1:] },
		"order":        func(st *State) { st.Order = st.Order[1:] },
		"order range":  func(st *State) { st.Order = []int{0, 1, 3} },
		"order twice":  func(st *State) { st.Order = []int{0, 1, 1} },
		"negative":     func(st *State) { st.Order = []int{0, 1, -1} },
		"position":     func(st *State) { st.Next = 4 },
		"scores":       func(st *State) { st.Score = []float64{1} },
		"edits":        func(st *State) { st.Edits = []int{1} },
		"logits":       func(st *State) { st.Logits = []int{1, 0, 0} },
		"old pixels":   func(st *State) { st.Origin = []int{1, 0, 0} },
		"no logits":    func(st *State) { st.Logits = []int{-1, 0, 0} },
		"before start": func(st *State) { st.Next = -1 },
		"random state": func(st *State) { st.Rand = st.Rand[1:] },
	} {
		saved := s.State()
		st := asJSON(t, saved)
		st.AllPixels = saved.AllPixels
		damage(&st)
		if _, err := Restore(st, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDamagedReservoirIsRefused(t *testing.T) {
	r := NewReservoir(1, 2, 1)
	for i := range 9 {
		r.Offer(i%2, []float32{float32(i)})
	}
	pixels := flatten(r.Items())
	for name, damage := range map[string]func(*ReservoirState){
		"quota":        func(s *ReservoirState) { s.Quota = -1 },
		"seen":         func(s *ReservoirState) { s.Seen = s.Seen[1:] },
		"kept":         func(s *ReservoirState) { s.Kept = s.Kept[1:] },
		"few seen":     func(s *ReservoirState) { s.Seen[0] = 1 },
		"never seen":   func(s *ReservoirState) { s.Seen[0] = -4 },
		"few kept":     func(s *ReservoirState) { s.Kept[0] = 1 },
		"negative":     func(s *ReservoirState) { s.Kept[0] = -1 },
		"twice":        func(s *ReservoirState) { s.Order[1] = s.Order[0] },
		"random state": func(s *ReservoirState) { s.Rand = nil },
	} {
		saved := r.State()
		s := asJSON(t, saved)
		s.Pixels = pixels
		damage(&s)
		if _, err := RestoreReservoir(s, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good := r.State()
	for name, wrong := range map[string][]float32{"missing": pixels[1:], "too many": append(slices.Clone(pixels), 0)} {
		good.Pixels = wrong
		if _, err := RestoreReservoir(good, 1); err == nil {
			t.Errorf("pixels %s: no error", name)
		}
	}
}

// TestPoisonedStateIsRefused: older programs could save samples with values that are not finite.
func TestPoisonedStateIsRefused(t *testing.T) {
	s := newStore(t, FixedTotal, 30)
	add(t, s, candidates(1, 5, 0))
	saved := s.State()
	saved.AllPixels[2] = float32(math.NaN())
	if _, err := Restore(saved, 1); err == nil {
		t.Errorf("store: %v", err)
	}
	r := NewReservoir(2, 4, 7)
	r.Offer(0, []float32{1})
	state := r.State()
	state.Pixels[0] = float32(math.Inf(1))
	if _, err := RestoreReservoir(state, 1); err == nil {
		t.Errorf("reservoir: %v", err)
	}
}
