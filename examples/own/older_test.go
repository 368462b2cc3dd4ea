package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// small is a ctx of a memory of three samples, from which batches of one are drawn.
type small struct {
	rehearsal.ReplayContext
	store *memory.Store
	rng   *rand.Rand
}

func (s small) Batch() int            { return 1 }
func (s small) Memory() *memory.Store { return s.store }
func (s small) Rand() *rand.Rand      { return s.rng }

// TestOlder: samples are drawn as often as their weights 1, 1/2 and 1/3 say.
func TestOlder(t *testing.T) {
	store, err := memory.NewStore(memory.Config{Policy: "per_class", Budget: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for task := 1; task <= 3; task++ {
		store.Put(store.Len(), memory.Item{Task: task, Class: task, Pixels: []float32{0}})
	}
	ctx, drawn := small{store: store, rng: rand.New(rand.NewPCG(1, 2))}, map[int]float64{}
	const draws = 11000
	for range draws {
		drawn[store.Item(drawOlder(ctx, 1)[0]).Task]++
	}
	for task, share := range map[int]float64{1: 6. / 11, 2: 3. / 11, 3: 2. / 11} {
		t.Run(fmt.Sprint(task), func(t *testing.T) {
			if got := drawn[task] / draws; math.Abs(got-share) > 5*math.Sqrt(share/draws) {
				t.Errorf("task %d has %.3f of the draws, want %.3f", task, got, share)
			}
		})
	}
}

// TestJoined: the rule and the part of this program are joined with those of pcl by types, as they
// are by names.
func TestJoined(t *testing.T) {
	m, err := method.Start(method.Compose(&sameLength{}, &older{Power: new(0.5)}, &rehearsal.Distill{}))
	switch {
	case err != nil:
		t.Error(err)
	case m.Info.Name != "same-length+older+der-pp":
		t.Errorf("m.Info.Name is %q; want %q", m.Info.Name, "same-length+older+der-pp")
	case m.Replayer == nil:
		t.Error("m.Replayer is nil")
	}
	for what, m := range map[string]method.Method{
		"a power below 0":                        method.Compose(&sameLength{}, &older{Power: new(-1.0)}),
		"two parts that choose what is replayed": method.Compose(&sameLength{}, &older{}, &rehearsal.MIR{}),
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := method.Start(m); err == nil {
				t.Error("no error")
			}
		})
	}
}
