package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// maker leaves a result that follows from the configuration, apart from the time.
type maker struct{}

func (maker) Make(_ context.Context, c experiment.Config, _ string, progress func(experiment.Progress)) (*results.Run, error) {
	if c.Seed == 3 {
		return nil, fmt.Errorf("seed %d is not made", c.Seed)
	}
	progress(experiment.Progress{Step: 1, Steps: 1})
	config, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	acc := float64(c.Seed) / 4
	return &results.Run{
		Schema: results.Schema, ID: c.ID(), Method: c.Method, Dataset: c.Dataset, Increment: string(c.Increment), Seed: c.Seed, Config: config, Steps: 5,
		Tasks: []results.Task{{ID: 1, Classes: []int{2, 1}, End: 4, AccEnd: acc, AccFinal: acc, ByClass: []results.Class{{Class: 2, Test: 3, AccFinal: acc}, {Class: 1}}}, {ID: 2, Classes: []int{0}, Start: 3, End: 4, AccEnd: acc, AccFinal: acc}},
		A:     100 * acc, AFirst: 100 * acc, Curve: []results.Point{{Step: 2, Acc: []*float64{&acc, nil}, Mean: acc}, {Step: 4, Acc: []*float64{&acc, &acc}, Mean: acc}},
		Measured: results.Measured{Finished: time.Now(), Maker: results.Maker{Backend: "go"}},
	}, nil
}

// made makes a grid in a new folder with a number of workers, one after another, and returns its results.
func made(t *testing.T, shards int) *grid.Results {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.toml")
	text := `
		title = "A grid"
		datasets = ["G"]
		methods = ["AvgGrad", "Same"]
		increments = ["task", "class"]
		labelsets = [0]
		timelines = [0]
		seeds = [1, 2, 3]
		vary.params.rescale = ["native", "mean"]
		[dataset.G]
		dataset = "glyphs"
		[method.AvgGrad]
		method = "avggrad"
		[method.Same]
		method = "avggrad"
	`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := grid.Load(path, grid.Full)
	if err != nil {
		t.Fatal(err)
	}
	f := grid.Folder{Dir: t.TempDir()}
	m, err := f.Plan(g, grid.PlanOptions{Compute: grid.Compute{Backend: "go"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range shards {
		if _, err := f.Work(context.Background(), m, maker{}, grid.WorkOptions{Shard: grid.Shard{I: shards - 1 - i, N: shards}}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := f.Collect(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// query returns the lines that a query gives, as text.
func query(t *testing.T, path, statement string) (lines []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+url.PathEscape(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, v := range values {
			parts = append(parts, fmt.Sprint(*v.(*any)))
		}
		lines = append(lines, strings.Join(parts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestQueries asks a database what people will ask.
func TestQueries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?.sqlite")
	for range 2 { // the second time it replaces the file
		if err := Write(path, []*grid.Results{made(t, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for statement, want := range map[string][]string{
		"SELECT method, increment, json_extract(vary, '$.\"params.rescale\"'), count(*), avg(A) FROM results GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 2": {
			"AvgGrad|class|mean|2|37.5", "AvgGrad|class|native|2|37.5"},
		"SELECT count(*) FROM places":                        {"24"},
		"SELECT count(*) FROM cells":                         {"12"}, // two names for one method share them
		"SELECT count(*), count(DISTINCT cell) FROM results": {"16|8"},
		"SELECT count(*), min(reason) FROM failures":         {"4|seed 3 is not made"},
		"SELECT task, step, acc FROM accuracies NATURAL JOIN (SELECT cell FROM runs WHERE A = 25 LIMIT 1) ORDER BY step, task": {
			"1|2|0.25", "1|4|0.25", "2|4|0.25"},
		"SELECT DISTINCT task, classes, first_step, last_step FROM tasks ORDER BY task": {"1|[2,1]|0|4", "2|[0]|3|4"},
		"SELECT count(*), max(acc_final) FROM classes WHERE class = 2 AND test = 3":     {"8|0.5"},
		"SELECT DISTINCT backend FROM measured":                                         {"go"},
		"SELECT name, backend FROM grids":                                               {"g-full|go"},
		"PRAGMA integrity_check":                                                        {"ok"},
	} {
		if diff := cmp.Diff(want, query(t, path, statement)); diff != "" {
			t.Errorf("%s:\n%s", statement, diff)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v (%v) are left, want the one file", left, err)
	}
}

// TestSameDatabase makes a grid as one shard and as five: except for what is measured, the databases are the same.
func TestSameDatabase(t *testing.T) {
	var all [2]string
	for i, shards := range []int{1, 5} {
		all[i] = filepath.Join(t.TempDir(), "r.sqlite")
		if err := Write(all[i], []*grid.Results{made(t, shards)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"grids", "places", "cells", "runs", "tasks", "classes", "accuracies", "failures", "results"} {
		statement := "SELECT * FROM " + table
		one, five := query(t, all[0], statement), query(t, all[1], statement)
		if diff := cmp.Diff(one, five); diff != "" || len(one) == 0 {
			t.Errorf("%s, %d lines:\n%s", table, len(one), diff)
		}
	}
}

// TestOtherPlaces: a folder that is not there is created, and a link is followed.
func TestOtherPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "r.sqlite")
	if err := Write(path, nil); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.sqlite")
	if err := errors.Join(os.Truncate(path, 0), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []*grid.Results{made(t, 1)}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v now (%v)", info.Mode(), err)
	}
	if lines := query(t, path, "SELECT * FROM cells"); len(lines) == 0 {
		t.Error("what the link points to was not written")
	}
	under := filepath.Join(path, "r.sqlite")
	if err := Write(under, nil); err == nil || !strings.Contains(err.Error(), under) {
		t.Errorf("a file as a folder: %v", err)
	}
}
