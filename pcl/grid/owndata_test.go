package grid

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// goMachine computes in pure Go. All tests share it, so that the data set is drawn once.
var goMachine = &experiment.Machine{Open: openGo}

func openGo(ctx context.Context) (*backend.Backend, error) {
	return backend.Open(ctx, backend.Options{Name: backend.Go})
}

// TestOwnFiles: runs are named by the content of the files, and are left, not failed, if that has
// changed since.
func TestOwnFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write := func(first int) {
		text := "a,b,label\n"
		for i := range 80 {
			text += fmt.Sprintf("%d,%d,c%d\n", first+i%4, i%4*i%7, i%4)
		}
		put(t, path, text)
	}
	grid := func() *Grid {
		g := tiny(t, 2, "")
		g.Set, g.Dataset["G"] = table{"hidden": []any{int64(8)}}, table{"dataset": "csv:" + filepath.ToSlash(path)}
		return g
	}
	write(0)
	before := expanded(t, grid())
	write(5)
	p := expanded(t, grid())
	switch {
	case before.Rows[0].Cell == p.Rows[0].Cell:
		t.Fatalf("before.Rows[0].Cell is %q", p.Rows[0].Cell)
	case p.Runs[0].Config().DataSHA256 == "":
		t.Fatal("p.Runs[0].Config().DataSHA256 is empty")
	case before.Runs[0].Folder() != p.Runs[0].Folder():
		t.Fatalf("before.Runs[0].Folder() is %q; want %q", before.Runs[0].Folder(), p.Runs[0].Folder())
	}
	dir := t.TempDir()
	store, schedule := experiment.Store{Dir: dir, Attempts: 3}, experiment.Schedule{Machine: goMachine}
	expect.Refusal(t, "on other files", before.Work(t.Context(), store, schedule), experiment.ErrData)
	must.Do(t, p.Work(t.Context(), store, schedule))
	r, err := p.Results(dir)
	switch {
	case err != nil:
		t.Error(err)
	case r.Status(experiment.Shard{}).Done != 2:
		t.Errorf("%+v, %v", r.Status(experiment.Shard{}), err)
	}
}
