package grid

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// TestStatus looks at a grid while a worker is at it.
func TestStatus(t *testing.T) {
	f, m := planned(t, small(t, 2))
	watcher, err := f.Watch(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	look := func() *Status {
		t.Helper()
		s, err := watcher.Status()
		if err != nil {
			t.Fatal(err)
		}
		if s.Done+s.Failed+s.Running+s.Saved+s.Untouched != s.Cells || s.Cells != 8 {
			t.Errorf("the parts do not add up: %+v", s)
		}
		return s
	}
	if s := look(); s.Untouched != 8 || s.Unmeasured != 8 || s.ETA() != 0 {
		t.Errorf("at the beginning: %+v", s)
	}
	maker := &fake{steps: 4, step: time.Millisecond, fail: func(c experiment.Config, step int) error {
		switch {
		case c.ID() == m.Cells[1].Config.ID():
			return errors.New("no")
		case c.ID() == m.Cells[2].Config.ID() && step == 2:
			s := look()
			if s.Done != 1 || s.Failed != 1 || s.Running != 1 || s.Untouched != 5 || len(s.Failures) != 1 || s.Failures[0].Reason != "no" || s.Failures[0].Place == s.Failures[0].Cell.Name() || !strings.Contains(s.Failures[0].Place, "-incremental, label set") {
				t.Errorf("in the third cell: %+v", s)
			}
			if len(s.Workers) != 1 || s.Workers[0].Cell.ID != m.Cells[2].ID || s.SecondsLeft <= 0 || s.ETA() <= 0 || s.Unmeasured != 0 {
				t.Errorf("in the third cell: workers %+v, %g s left", s.Workers, s.SecondsLeft)
			}
		}
		return nil
	}}
	work(t, f, m, maker, WorkOptions{})
	if s := look(); s.Done != 7 || s.Failed != 1 || s.Left != 0 || s.SecondsLeft != 0 {
		t.Errorf("at the end: %+v", s)
	}
}

// TestStatusByPace: before any cell of a kind is finished, the one in progress tells how long they take.
func TestStatusByPace(t *testing.T) {
	f, m := planned(t, small(t, 2))
	now := time.Hour
	all := f.leases(DefaultExpiry)
	all.clock = func() time.Duration { return now }
	l, err := all.take(m.Cells[0].ID)
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	defer l.release()
	look := func(steps int) *Status {
		t.Helper()
		if err := l.beat(steps, 10); err != nil {
			t.Fatal(err)
		}
		s, err := f.Status(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	l.holder.From = 2 // it goes on with what another worker began
	now += 30 * time.Second
	if s := look(2); s.Unmeasured != 8 || s.SecondsLeft != 0 {
		t.Errorf("before the first step: %d unmeasured, %g s left", s.Unmeasured, s.SecondsLeft)
	}
	now += 30 * time.Second
	// Three steps took a minute, so that ten take 200 s, of which half are left. The other cells are alike but for the method.
	if s := look(5); s.Unmeasured != 0 || math.Abs(s.SecondsLeft-(100+7*200)) > 1e-9 {
		t.Errorf("after three steps: %d unmeasured, %g s left", s.Unmeasured, s.SecondsLeft)
	}
}

// TestShardsByTime computes the number of shards from what finished cells took.
func TestShardsByTime(t *testing.T) {
	f, m := planned(t, small(t, 2))
	if _, err := f.Shards(m, 60); err == nil || !strings.Contains(err.Error(), "measured") {
		t.Errorf("before anything was measured: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.Work(ctx, m, &fake{steps: 4, step: 5 * time.Millisecond, fail: func(c experiment.Config, step int) error {
		if c.ID() == m.Cells[1].Config.ID() {
			cancel()
		}
		return nil
	}}, WorkOptions{})
	few, err := f.Shards(m, 3600)
	if err != nil || few != 1 {
		t.Errorf("shards of an hour: %d (%v)", few, err)
	}
	// The shards are cut from all 8 cells, the finished one included.
	if many, err := f.Shards(m, 0.03); err != nil || many < 5 {
		t.Errorf("8 cells of 0.02 s or more, in shards of 0.03 s: %d (%v)", many, err)
	}
}

func TestCSV(t *testing.T) {
	g := small(t, 2)
	g.Vary = table{"batch": []any{int64(8), int64(16)}}
	f, m := planned(t, g)
	work(t, f, m, &fake{steps: 1, fail: func(c experiment.Config, step int) error {
		if c.Seed == 2 && c.Batch == 16 && c.Method == "mgda" {
			return errors.New("no")
		}
		return nil
	}}, WorkOptions{})
	r, err := f.Collect(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.CSV(&out); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(lines) != 1+16 {
		t.Fatalf("%d lines (%v)", len(lines), err)
	}
	value := func(line []string, name string) string {
		t.Helper()
		for i, n := range lines[0] {
			if n == name {
				return line[i]
			}
		}
		t.Fatalf("no column %s", name)
		return ""
	}
	first := lines[1]
	if value(first, "batch") != "8" || value(first, "method") != "AvgGrad" || value(first, "A") != fmt.Sprint(r.Runs[m.Cells[0].ID].A) || value(first, "cell") != m.Cells[0].ID {
		t.Errorf("first line: %v", first)
	}
	if value(first, "state") != "done" || value(first, "run_method") != "avggrad" || value(first, "ends") != fmt.Sprintf("%.3f", r.Runs[m.Cells[0].ID].A) || value(first, "seconds") == "0" {
		t.Errorf("first line: %v", first)
	}
	unmade := 0
	for _, line := range lines[1:] {
		if value(line, "state") == "failed" && value(line, "reason") == "no" && value(line, "A") == "" {
			unmade++
		}
	}
	if unmade != 2 {
		t.Errorf("%d lines say that their runs failed", unmade)
	}
	if r.Missing() != 2 || len(r.Failures) != 2 {
		t.Errorf("%d missing, %d failures", r.Missing(), len(r.Failures))
	}
}

// TestLaTeX compares a table with one worked out by hand.
func TestLaTeX(t *testing.T) {
	g := small(t, 2)
	g.LabelSets, g.Increments = []uint64{0, 1}, g.Increments[:1]
	g.Method["A & B_c"], g.Methods = g.Method["MGDA"], []string{"AvgGrad", "A & B_c", "MGDA"}
	g.Method["MGDA"] = table{"method": "mgda", "batch": int64(7)}
	f, m := planned(t, g)
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	r, err := f.Collect(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	a := []float64{10, 30, 20, 60} // label set 0 with seeds 1 and 2, then label set 1
	for i, row := range m.Rows {
		run := r.Runs[row.Cell]
		if run.A, run.F = a[i%4], -a[i%4]; row.Method == "MGDA" && i%4 != 0 {
			delete(r.Runs, row.Cell)
		}
		if row.Method == "AvgGrad" {
			run.A = 5
		}
	}
	var out strings.Builder
	if err := r.LaTeX(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`\multicolumn{2}{c}{G, task}`,
		`AvgGrad & $5.00 \pm 0.00$ & $-30.00 \pm 15.00$ \\`,
		`A \& B\_c & $30.00 \pm 15.00$ & $-30.00 \pm 15.00$ \\`,
		`MGDA & $10.00$ (1 of 4) & $-10.00$ (1 of 4) \\`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %s:\n%s", want, out.String())
		}
	}
}
