package viz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"gonum.org/v1/plot"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// wellFormedXML reads a drawing to its end.
func wellFormedXML(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestNamesThatXMLForbids: a control character in a name, which JSON can bring, spoils no drawing.
func TestNamesThatXMLForbids(t *testing.T) {
	for _, name := range []string{"a\x01b\x1b[0m", "<b>&\"'", "\ufffe\uffff", "x\ny\tz"} {
		times, err := StepTimes(Light, StepTime{name, []TimePart{{"gradients", 1}}})
		p := NewPlot(Light, name, name, name)
		p.Line(name, Style{}, []float64{0, 1}, []float64{0, 1})
		own, err2 := Plots("own", name, p)
		if err := cmp.Or(err, err2); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*Figure{times, own} {
			var svg bytes.Buffer
			if err := f.Encode(&svg, "svg"); err != nil {
				t.Fatal(err)
			}
			if err := wellFormedXML(svg.Bytes()); err != nil {
				t.Errorf("%s, %q: %v", f.Name, name, err)
			}
		}
	}
}

// TestEqualValuesHaveAnAxis: where nothing conflicts, or no score differs, the ticks can be read.
func TestEqualValuesHaveAnAxis(t *testing.T) {
	same := []float64{1, 2, 3, 4, 5, 6}
	claims, err := Claims(Light, "points", 0.05, Claim{"equal", same, same})
	if err != nil {
		t.Fatal(err)
	}
	peace, err := ConflictShare(Light, Recorded{Label: "er", Method: "er", Records: []results.Record{
		{IDs: []int{0, 1, 2}, Weights: []float64{1, 1, 1}, Gram: []float64{1, .5, .5, .5, 1, .5, .5, .5, 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*plot.Plot{claims.Rows[0][0], peace.Rows[0][1]} {
		for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if len(tick.Label) > 4 {
				t.Errorf("an axis of equal values has the tick %s", tick.Label)
			}
		}
	}
}

// TestRunsOfOtherLengths: the axis of task ends goes as far as the run with the most tasks.
func TestRunsOfOtherLengths(t *testing.T) {
	short, long := twoTasks(), twoTasks()
	long.ID, long.Method, long.MethodTitle = "long", "er", "ER"
	long.Tasks = append(long.Tasks, results.Task{ID: 3, Start: 2, End: 9})
	short.Curve = []results.Point{{Step: 3, Ended: []int{1}, Mean: .5}, {Step: 7, Ended: []int{2}, Mean: .6}}
	long.Curve = append(slices.Clone(short.Curve), results.Point{Step: 9, Ended: []int{3}, Mean: .7})
	f, err := LearningProcess(Light, short, long)
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Rows[0][0]; p.X.Max != 3.5 {
		t.Errorf("the axis ends at %v, and there is a third task's end", p.X.Max)
	}
}

// TestLevelsHaveTheirOwnNames: the level of the automatic temperature is told from the line of the fixed ones.
func TestLevelsHaveTheirOwnNames(t *testing.T) {
	var runs []*results.Run
	for i, tau := range []any{1.0, 5.0, "auto"} {
		r := *twoTasks()
		r.ID, r.Method, r.MethodTitle, r.Params = fmt.Sprint("run", i), "emgd-gmc", "EMGD (GMC)", map[string]any{"tau": tau}
		r.Config = json.RawMessage(`{}`)
		runs = append(runs, &r)
	}
	f, err := Temperature(Light, runs...)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.key) != 2 || f.key[1].label != "EMGD (GMC) tau=auto" || f.key[0].line.Color == f.key[1].line.Color {
		t.Errorf("%d entries in the key: %+v", len(f.key), f.key)
	}
	if f.key[0].glyph.Shape == nil || f.key[1].glyph.Shape != nil {
		t.Error("the key has a marker for the level, which has none, or none for the line")
	}
}
