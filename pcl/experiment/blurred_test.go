package experiment

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// blurred has three tasks of four of the eight classes, of which neighbours share two.
func blurred(increment string, duplicate bool) Config {
	c := blobConfig("emgd-gmc")
	c.Increment, c.MinClasses, c.MaxClasses, c.Overlap, c.Duplicate = increment, 4, 4, 2, duplicate
	c.Epochs, c.Memory = 1, memory.Config{Policy: "per_class", Budget: 3}
	return c
}

// TestBlurred looks at the training images of tasks that share classes, and trains on them.
func TestBlurred(t *testing.T) {
	const perClass = 41 // an odd number: one half is larger
	d := pcltest.Blobs(8, perClass, 10)
	for _, duplicate := range []bool{false, true} {
		t.Run(fmt.Sprint(duplicate), func(t *testing.T) {
			for _, increment := range []string{"task", "class"} {
				c := blurred(increment, duplicate)
				s := must.Get(NewScenario(c, d))(t)
				times := map[string]int{} // how often each image is trained on
				for i, task := range s.Tasks {
					images := imagesOf(t, c, d, i+1, task)
					if len(images) != task.Train {
						t.Errorf("task %d has %d images, its scenario says %d", i+1, len(images), task.Train)
					}
					for _, x := range images {
						times[x]++
					}
				}
				twice := 0
				for _, n := range times {
					twice += n - 1
				}
				if want := map[bool]int{false: 0, true: 4 * perClass}[duplicate]; len(times) != 8*perClass || twice != want {
					t.Errorf("duplicate %t: %d of %d images are trained on, %d of them twice, want %d", duplicate, len(times),
						8*perClass, twice, want)
				}
				r := must.Get(made(t.Context(), c, work{Schedule: Schedule{Machine: on(t, pcltest.Backend(t, backend.Go), d)}}))(t)
				switch {
				case r.A < 50:
					t.Errorf("%s-incremental, duplicate %t: r.A is %g; want at least 50", increment, duplicate, r.A)
				case len(r.Tasks) != 3:
					t.Errorf("%s-incremental, duplicate %t: len(r.Tasks) is %d; want 3", increment, duplicate, len(r.Tasks))
				case r.Tasks[1].Test != 40:
					t.Errorf("%s-incremental, duplicate %t: r.Tasks[1].Test is %d; want 40", increment, duplicate, r.Tasks[1].Test)
				}
				checkFigures(t, r)
			}
		})
	}
}

// imagesOf returns the training images that a task's stream delivers, which must be of its classes.
func imagesOf(t *testing.T, c Config, d *datasets.Dataset, id int, task scenario.Task) (images []string) {
	t.Helper()
	made, size := must.Get(c.newTask(d, id, task))(t), d.ImageSize()
	b := data.Batch{X: make([]float32, 16*size), Class: make([]int, 16)}
	err := made.Stream.Next(&b)
	for ; err == nil; err = made.Stream.Next(&b) {
		for i, class := range b.Class[:b.N] {
			images = append(images, fmt.Sprint(b.X[i*size:(i+1)*size]))
			if !slices.Contains(task.Classes, class) {
				t.Errorf("task %d has an image of class %d", id, class)
			}
		}
	}
	if err != io.EOF {
		t.Error(err)
	}
	return images
}
