package tables

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

func runs() []*results.Run {
	acc := func(x float64) *float64 { return &x }
	one := &results.Run{
		ID: "a1", Dataset: "glyphs", Increment: "task", Method: "emgd-gmc", Params: map[string]any{"tau": 5.0},
		Seed: 1, Steps: 4,
		A: 50.25, F: -1, AFirst: 51.25, Config: []byte(`{"seed":1,"method":"emgd-gmc"}`), ModelSHA256: "00",
		Tasks: []results.Task{{ID: 1, End: 1}, {ID: 2, End: 3}},
		Curve: []results.Point{{Step: 1, Acc: []*float64{acc(.5), nil}}, {Step: 3, Acc: []*float64{acc(.25), acc(1)}}},
	}
	two := *one
	two.ID, two.Seed, two.A, two.Config = "a2", 2, 51.25, []byte(`{"seed":2,"method":"emgd-gmc"}`)
	er := *one
	er.ID, er.Method, er.Params, er.Increment, er.Config = "b1", "a_b", nil, "class", []byte(`{"seed":1,"method":"a_b"}`)
	return []*results.Run{one, &two, &er}
}

func text(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRuns(t *testing.T) {
	metrics := results.Metrics
	results.Metrics = metrics[:3:3] // a further one would have a column
	defer func() { results.Metrics = metrics }()
	got := text(t, func(w io.Writer) error { return CSV(w, "runs", runs()[:1], nil) })
	want := "id,dataset,increment,method,params,variant,labelset,timeline,seed,settings,tasks,steps,a_percent,f_percent,a_first_percent,skipped_rows,diverged_at,step_ms,model_sha256,stored_bytes,statistics_bytes\n" +
		"a1,glyphs,task,emgd-gmc,\"{\"\"tau\"\":5}\",,0,0,1,,2,4,50.25,-1,51.25,0,,0,00,0,0\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestRunsHaveEachMetric: a further metric has a column of its own, the last one.
func TestRunsHaveEachMetric(t *testing.T) {
	metrics := results.Metrics
	defer func() { results.Metrics = metrics }()
	twice := &results.Metric{Name: "Twice_A", Of: func(r *results.Run) float64 { return 2 * r.A }}
	results.Metrics = append(metrics[:3:3], twice)
	lines := strings.Split(text(t, func(w io.Writer) error { return CSV(w, "runs", runs()[:1], nil) }), "\n")
	for i, want := range []string{",twice_a_percent", ",100.5"} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d is %q; want %q at its end", i+1, lines[i], want)
		}
	}
}

// TestSettings: runs with different settings are told apart, and settings that all have are left
// out.
func TestSettings(t *testing.T) {
	all := runs()[:2]
	all[0].Config = []byte(`{"seed":1,"method":"emgd-gmc","optimizer":{"lr":0.003},"batch":8}`)
	all[1].Config = []byte(`{"seed":2,"method":"emgd-gmc","optimizer":{"lr":0.01},"batch":8,"epochs":2}`)
	got := text(t, func(w io.Writer) error { return CSV(w, "runs", all, nil) })
	for _, want := range []string{`,1,"{""optimizer.lr"":""0.003""}",2,4,`,
		`,2,"{""epochs"":""2"",""optimizer.lr"":""0.01""}",2,4,`} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		})
	}
}

// TestScenarios: runs of two timelines that were written by hand are told apart.
func TestScenarios(t *testing.T) {
	all := runs()[:2]
	all[0].Config = []byte(`{"seed":1,"method":"emgd-gmc","scenario":{"tasks":[{"classes":[0,1]}]}}`)
	all[1].Config = []byte(`{"seed":1,"method":"emgd-gmc","scenario":{"tasks":[{"classes":[0,2]}]}}`)
	got := strings.Split(text(t, func(w io.Writer) error { return CSV(w, "runs", all, nil) }), "\n")
	one, other := strings.Split(got[1], ",")[9], strings.Split(got[2], ",")[9]
	if one == other || !strings.Contains(one, "sha256:") {
		t.Errorf("settings %s and %s", one, other)
	}
}

func TestAccuracy(t *testing.T) {
	got := text(t, func(w io.Writer) error { return CSV(w, "accuracy", runs()[2:], nil) })
	for _, want := range []string{"step,task,task_ended,its_last,accuracy_percent\n", ",1,,1,1,true,true,50\n",
		",1,,3,1,true,false,25\n", ",1,,3,2,true,true,100\n"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		})
	}
	if n := strings.Count(got, "\n"); n != 4 {
		t.Errorf("%d lines\n%s", n, got)
	}
}

func TestSteps(t *testing.T) {
	record := []results.Record{{Step: 7, IDs: []int{0, 2}, Losses: []float64{.5, 1e-20}, Weights: []float64{1, 2},
		Sigma: []float64{.25, .75}, NormD: 3}}
	got := text(t, func(w io.Writer) error {
		return CSV(w, "steps", runs()[2:], func(int) ([]results.Record, error) { return record, nil })
	})
	for _, want := range []string{",1,,7,0,0.5,,1,0.25,,,3\n", ",1,,7,2,1e-20,,2,0.75,,,3\n"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		})
	}
	expect.Refusal(t, "CSV", CSV(io.Discard, "steps", runs(), func(int) ([]results.Record, error) { return nil, nil }),
		"none of the runs has records of its steps: pcl run --record")
	if err := CSV(io.Discard, "steps", runs(), func(int) ([]results.Record, error) {
		return nil, io.ErrUnexpectedEOF
	}); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

func TestLaTeX(t *testing.T) {
	got := text(t, func(w io.Writer) error { return LaTeX(w, rows.Columns(rows.Of(runs()))) })
	for _, want := range []string{
		`\begin{tabular}{lrrrr}`, `\multicolumn{2}{c}{glyphs, task}`,
		`emgd-gmc tau=5 & $50.75 \pm 0.50$ & $-1.00 \pm 0.00$ & -- & -- \\`,
		`a\_b & -- & -- & $50.25$ & $-1.00$ \\`, `\end{tabular}`,
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		})
	}
	other := rows.Of(runs())
	at := 3
	other[1].Run.DivergedAt = &at
	note := "% 1 of 2 runs of \"emgd-gmc tau=5\" on \"glyphs\", task-incremental, diverged\n"
	if got := text(t, func(w io.Writer) error { return LaTeX(w, rows.Columns(other)) }); !strings.HasPrefix(got, note) {
		t.Error(got)
	}
	other[1].Timeline = 3 // another situation, without the other seed
	if got := text(t, func(w io.Writer) error {
		return LaTeX(w, rows.Columns(other))
	}); !strings.Contains(got, "emgd-gmc tau=5 & $50.75$ & ") {
		t.Error(got)
	}
	other[1].State = rows.Missing
	if got := text(t, func(w io.Writer) error {
		return LaTeX(w, rows.Columns(other))
	}); !strings.Contains(got, "emgd-gmc tau=5 & $50.25$ (1 of 2) & ") {
		t.Error(got)
	}
	expect.Refusal(t, "LaTeX", LaTeX(io.Discard, nil), "no runs")
}

// TestNamesInTeX: names are printed as they are, whatever TeX makes of their characters.
func TestNamesInTeX(t *testing.T) {
	var all []*rows.Row
	for _, name := range []string{"edit η=0.003 drift≤0.02", "[τ<1|x>2]", "*50 %"} {
		all = append(all, &rows.Row{Dataset: "a_b", Increment: "task", Method: name, State: rows.Missing})
	}
	got := text(t, func(w io.Writer) error { return LaTeX(w, rows.Columns(all)) })
	for _, want := range []string{
		`edit $\eta$=0.003 drift$\le$0.02 & -- & -- \\`, `{[}$\tau$\textless{}1\textbar{}x\textgreater{}2] &`, `{*}50 \% &`,
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		})
	}
	for _, r := range got {
		if r > '~' {
			t.Errorf("%q is left, which pdfLaTeX does not know", r)
		}
	}
}
