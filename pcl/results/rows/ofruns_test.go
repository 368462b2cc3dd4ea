package rows_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/tables"
)

// TestRunsAsTable: what package tables writes of runs is read with the same numbers, beside lines
// that were added by hand.
func TestRunsAsTable(t *testing.T) {
	runs := []*results.Run{
		{ID: "a1", Method: "emgd-gmc", Params: map[string]any{"tau": 5.0}, Dataset: "glyphs", Increment: "class", LabelSet: 3,
			Seed: 1, A: 60.25, F: -10.5, AFirst: 70.75, Steps: 90, ModelSHA256: "m"},
		{ID: "a2", Method: "sum", Variant: "edit η=0.003", Dataset: "glyphs", Increment: "class", Seed: 2, A: 50, F: 0,
			AFirst: 50},
	}
	for _, r := range runs {
		r.Config = []byte("{}")
	}
	var written bytes.Buffer
	must.Do(t, tables.CSV(&written, "runs", runs, nil))
	columns := strings.Count(strings.SplitN(written.String(), "\n", 2)[0], ",")
	byHand := ",glyphs,class,Replay,,,3.0,0,1,,,120.0,55.5,-4.5"
	written.WriteString(byHand + strings.Repeat(",", columns-strings.Count(byHand, ",")) + "\n")
	got, err := rows.Files(file(t, written.String()))
	must.Do(t, err)
	for i, want := range []string{
		"emgd-gmc tau=5 60.25 -10.5 70.75 3 1 a1 m", "sum edit η=0.003 50 0 50 0 2 a2 ",
		"Replay (foreign) 55.5 -4.5 60 3 1  ",
	} {
		t.Run(want, func(t *testing.T) {
			r := got[i]
			if s := fmt.Sprint(r.Method, " ", r.Run.A, " ", r.Run.F, " ", r.Run.AFirst, " ", r.LabelSet, " ", r.Seed, " ",
				r.Run.ID, " ", r.Run.ModelSHA256); s != want {
				t.Errorf("row %d: %s; want %s", i, s, want)
			}
			switch {
			case r.State != rows.Done:
				t.Errorf("row %d: r.State is %q; want %q", i, r.State, rows.Done)
			case r.Grid != "runs":
				t.Errorf("row %d: r.Grid is %q; want %q", i, r.Grid, "runs")
			case r.Cell == "":
				t.Errorf("row %d: r.Cell is empty", i)
			}
		})
	}
}

// TestWrongTableOfRuns: the error names the line, the column and what is wanted.
func TestWrongTableOfRuns(t *testing.T) {
	for want, text := range map[string]string{
		`its column "score" is not one`:                   "dataset,increment,method,a_percent,score\n",
		`it has no column "increment"`:                    "dataset,method,a_percent\n",
		"line 2: it has neither f_percent nor":            "dataset,increment,method,a_percent\nglyphs,class,X,50\n",
		"line 3: a_percent is empty":                      "dataset,increment,method,a_percent,f_percent\nglyphs,class,X,50,0\nglyphs,class,X,,0\n",
		"line 2: A is 150; want 0 to 100":                 "dataset,increment,method,a_percent,f_percent\nglyphs,class,X,150,0\n",
		`line 2: f_percent: "NaN" is not a finite number`: "dataset,increment,method,a_percent,f_percent\nglyphs,class,X,50,NaN\n",
		"line 2: seed: ":                                  "dataset,increment,method,a_percent,f_percent,seed\nglyphs,class,X,50,0,1.5\n",
		`line 2: params: want a JSON object such as`:      "dataset,increment,method,a_percent,f_percent,params\nglyphs,class,X,50,0,tau=5\n",
		"line 2: F is 5, and A - A_first -10":             "dataset,increment,method,a_percent,f_percent,a_first_percent\nglyphs,class,X,50,5,60\n",
		`line 2: params: want a JSON object such as {"tau":5}: `: "dataset,increment,method,a_percent,f_percent,settings,params\n" +
			"glyphs,class,X,50,0,width=2,tau=5\n", // not settings, which is wrong as well
	} {
		t.Run(want, func(t *testing.T) {
			_, err := rows.Files(file(t, text))
			expect.Refusal(t, "Files", err, want)
		})
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.csv")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
