package pcl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// camera is a stream of 40 batches. One of them cannot be read, and is left out.
type camera struct {
	of dots
	at int // the next batch
}

// Next fills the batch b, which has room for len(b.Class) samples.
func (c *camera) Next(b *data.Batch) error {
	if c.at == 40 {
		return io.EOF
	}
	c.at++
	if c.at == 7 {
		return errors.New("the camera does not answer")
	}
	b.N = len(b.Class)
	inputs := len(b.X) / len(b.Class)
	for i := range b.N {
		b.Class[i] = c.of.Sample((c.at*b.N+i)%c.of.Len(), b.X[i*inputs:(i+1)*inputs])
	}
	return nil
}

// State and SetState make it a data.Resumable, so that a learner that reads it can be saved.
func (c *camera) State() (json.RawMessage, error)      { return json.Marshal(c.at) }
func (c *camera) SetState(state json.RawMessage) error { return json.Unmarshal(state, &c.at) }

// A stream of one's own fails once; the learner is saved while it runs, and another one goes on
// from the file.
func ExampleLearner_Load() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := newLearner(device)
	defer learner.Close()
	task := dots{0, 1}
	id := must(learner.Attach(pcl.Task{Name: "door", Classes: task, Stream: &camera{of: task}, Test: task}))
	for learner.Steps() < 20 {
		_, err := learner.Step()
		if failed := new(pcl.StreamError); errors.As(err, &failed) {
			fmt.Println(failed.Name, "failed:", failed.Err) // the next step asks it again; Detach(failed.ID, true) drops it
			continue
		}
		check(err)
	}
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "learner.pcl")
	check(learner.Save(file))

	other := newLearner(device)
	defer other.Close()
	check(other.Load(file, func(id int) (pcl.Task, error) { // Load moves the stream to where it was
		return pcl.Task{Name: "door", Classes: task, Stream: &camera{of: task}, Test: task}, nil
	}))
	check(other.Run(context.Background(), pcl.Hooks{}))
	recall, classes := 0.0, must(other.EvaluateByClass(id))
	for _, c := range classes {
		recall += float64(c.Right) / float64(c.Test) / float64(len(classes))
	}
	fmt.Println(other.Steps(), "steps; mean recall above 90 %:", recall > 0.9)
	// Output:
	// door failed: the camera does not answer
	// 39 steps; mean recall above 90 %: true
}
