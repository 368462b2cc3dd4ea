package grid

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnFiles: cells are named by the content of the files, and workers refuse files that changed after the plan.
func TestOwnFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write := func(first int) {
		text := "a,b,label\n"
		for i := range 80 {
			text += fmt.Sprintf("%d,%d,c%d\n", first+i%4, i%4*i%7, i%4)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	grid := func() *Grid {
		return parse(t, "own", `
			title = "A table"
			datasets = ["T"]
			methods = ["AvgGrad"]
			increments = ["task"]
			labelsets = [0]
			timelines = [0]
			seeds = [1, 2]
			[set]
			hidden = [8]
			[dataset.T]
			dataset = "csv:`+filepath.ToSlash(path)+`"
			[method.AvgGrad]
			method = "avggrad"
		`)
	}
	write(0)
	_, before := planned(t, grid())
	write(5)
	f, m := planned(t, grid())
	if before.Cells[0].ID == m.Cells[0].ID || m.Cells[0].Config.DataSHA256 == "" {
		t.Fatalf("the cells are %v and, on other files, %v", before.Cells[0].ID, m.Cells[0].ID)
	}
	var said []string
	engine := NewEngine(EngineOptions{Compute: m.Compute})
	defer engine.Close()
	write(0)
	_, err := f.Work(t.Context(), m, engine, WorkOptions{Say: func(s string) { said = append(said, s) }})
	if text := fmt.Sprint(said, err); !strings.Contains(text, "have changed since the grid was planned: plan it again") {
		t.Errorf("on other files the worker says: %v, %v", said, err)
	}
	engine.Close()
	write(5)
	again := NewEngine(EngineOptions{Compute: m.Compute})
	defer again.Close()
	if s := work(t, f, m, again, WorkOptions{}); s.Done != 2 {
		t.Errorf("%+v", s)
	}
}
