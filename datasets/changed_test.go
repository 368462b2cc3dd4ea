package datasets

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// onceRead is a context that calls change as soon as the files were summed up, and before their samples are read.
type onceRead struct {
	context.Context
	asked, at int
	change    func()
}

func (c *onceRead) Err() error {
	if c.asked++; c.asked == c.at {
		c.change()
	}
	return nil
}

// TestChangedWhileRead: a set never has the checksum of other files than those that its samples come from.
func TestChangedWhileRead(t *testing.T) {
	before, after := "x,label\n1,a\n2,a\n3,b\n4,b\n", "x,label\n5,a\n6,a\n7,b\n8,b\n9,b\n"
	for at := 1; ; at++ {
		path := filepath.Join(t.TempDir(), "t.csv")
		write(t, path, []byte(before))
		ctx := &onceRead{Context: context.Background(), at: at, change: func() { write(t, path, []byte(after)) }}
		d, err := Open(ctx, "csv:"+path, Options{})
		if ctx.asked < at {
			return // it was read completely before
		}
		if err != nil {
			if !strings.Contains(err.Error(), "changed") {
				t.Errorf("changed at check %d: %v", at, err)
			}
			continue
		}
		write(t, path, []byte(before))
		old := mustOpen(t, "csv:"+path)
		if (d.SHA256 == old.SHA256) != (d.Train.Len()+d.Test.Len() == old.Train.Len()+old.Test.Len()) {
			t.Errorf("changed at check %d: %d samples with the checksum of the other file", at, d.Train.Len()+d.Test.Len())
		}
	}
}

// TestPartChangedWhileRead is the same for a part of the official files.
func TestPartChangedWhileRead(t *testing.T) {
	var ten []byte
	for l := range byte(10) {
		ten = append(ten, cifarRecord([]byte{l}, 1, 2, 3)...)
	}
	for at := 1; ; at++ {
		dir := t.TempDir()
		folder := filepath.Join(dir, "cifar-10-batches-bin")
		writeFile(t, filepath.Join(folder, "batches.meta.txt"), lines(10))
		writeFile(t, filepath.Join(folder, "test_batch.bin"), ten)
		writeFile(t, filepath.Join(folder, cifar10Format.train[0]), ten)
		change := func() { writeFile(t, filepath.Join(folder, cifar10Format.train[0]), append(ten, ten...)) }
		ctx := &onceRead{Context: context.Background(), at: at, change: change}
		d, err := Open(ctx, "cifar-10", Options{Dir: dir})
		if ctx.asked < at {
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "changed") {
				t.Errorf("changed at check %d: %v", at, err)
			}
			continue
		}
		now, err := Open(context.Background(), "cifar-10", Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if d.SHA256 == now.SHA256 && d.Train.Len() != now.Train.Len() {
			t.Errorf("changed at check %d: %d samples with the checksum of %d", at, d.Train.Len(), now.Train.Len())
		}
	}
}
