package memory

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// damaged is a state with something changed.
func damaged[T any](t *testing.T, text json.RawMessage, damage func(*T)) json.RawMessage {
	t.Helper()
	var s T
	must.Do(t, json.Unmarshal(text, &s))
	damage(&s)
	return must.Get(json.Marshal(s))(t)
}

// TestStoreContinues saves a store in the middle of a pass; the restored one goes on as the first.
func TestStoreContinues(t *testing.T) {
	s := newStore(t, "fixed_total", 30)
	add(t, s, candidates(1, 40, 0, 1))
	s.items[3].Logits, s.items[5].Logits = []float32{1, 2}, []float32{3}
	s.items[4].Score = 0.1
	s.Edit(2, []float32{7})
	s.Draw(7)
	text, arrays := s.State()
	back := must.Get(Restore(text, arrays, s.config, 1))(t)
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
	text, pixels := a.State()
	b := must.Get(RestoreReservoir(text, pixels, 2))(t)
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
	s := newStore(t, "per_class", 3)
	add(t, s, candidates(1, 3, 0))
	s.Draw(2)
	text, arrays := s.State()
	for name, damage := range map[string]func(*state){
		"everything":   func(st *state) { *st = state{Config: s.config} },
		"policy":       func(st *state) { st.Config.Policy = "x" },
		"classes":      func(st *state) { st.Class = st.Class[1:] },
		"samples":      func(st *state) { st.Class, st.Task = st.Class[1:], st.Task[1:] },
		"order":        func(st *state) { st.Order = st.Order[1:] },
		"order range":  func(st *state) { st.Order = []int{0, 1, 3} },
		"order twice":  func(st *state) { st.Order = []int{0, 1, 1} },
		"negative":     func(st *state) { st.Order = []int{0, 1, -1} },
		"position":     func(st *state) { st.Next = 4 },
		"scores":       func(st *state) { st.Score = []float64{1} },
		"edits":        func(st *state) { st.Edits = []int{1} },
		"logits":       func(st *state) { st.Logits = []int{1, 0, 0} },
		"old pixels":   func(st *state) { st.Origin = []int{1, 0, 0} },
		"no logits":    func(st *state) { st.Logits = []int{-1, 0, 0} },
		"before start": func(st *state) { st.Next = -1 },
		"random state": func(st *state) { st.Rand = st.Rand[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Restore(damaged(t, text, damage), arrays, s.config, 1); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestDamagedReservoirIsRefused(t *testing.T) {
	r := NewReservoir(1, 2, 1)
	for i := range 9 {
		r.Offer(i%2, []float32{float32(i)})
	}
	text, pixels := r.State()
	for name, damage := range map[string]func(*reservoirState){
		"quota":        func(s *reservoirState) { s.Quota = -1 },
		"seen":         func(s *reservoirState) { s.Seen = s.Seen[1:] },
		"kept":         func(s *reservoirState) { s.Kept = s.Kept[1:] },
		"few seen":     func(s *reservoirState) { s.Seen[0] = 1 },
		"never seen":   func(s *reservoirState) { s.Seen[0] = -4 },
		"few kept":     func(s *reservoirState) { s.Kept[0] = 1 },
		"negative":     func(s *reservoirState) { s.Kept[0] = -1 },
		"twice":        func(s *reservoirState) { s.Order[1] = s.Order[0] },
		"random state": func(s *reservoirState) { s.Rand = nil },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := RestoreReservoir(damaged(t, text, damage), pixels, 1); err == nil {
				t.Error("no error")
			}
		})
	}
	for name, wrong := range map[string][]float32{"missing": pixels[1:], "too many": append(slices.Clone(pixels), 0)} {
		t.Run(name, func(t *testing.T) {
			_, err := RestoreReservoir(text, wrong, 1)
			expect.Refusal(t, fmt.Sprintf("pixels %s", name), err, "memory: a damaged state")
		})
	}
}

// TestPoisonedStateIsRefused: older programs could save samples with values that are not finite.
func TestPoisonedStateIsRefused(t *testing.T) {
	s := newStore(t, "fixed_total", 30)
	add(t, s, candidates(1, 5, 0))
	text, arrays := s.State()
	arrays["memory"][2] = float32(math.NaN())
	_, err := Restore(text, arrays, s.config, 1)
	expect.Refusal(t, "store", err, "memory: a damaged state: sample 2 of class 0 lacks values")
	r := NewReservoir(2, 4, 7)
	r.Offer(0, []float32{1})
	text, pixels := r.State()
	pixels[0] = float32(math.Inf(1))
	_, err = RestoreReservoir(text, pixels, 1)
	expect.Refusal(t, "reservoir", err, "memory: a damaged state")
}
