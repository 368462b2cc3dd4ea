package nb

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/viz"
	reports "github.com/parallelcl/parallelcl/viz/report"
)

// exported is the page of a notebook with one output.
func exported(t *testing.T, shown string) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"nbformat": 4, "cells": []any{map[string]any{
		"cell_type": "code", "source": "x", "execution_count": 1,
		"outputs": []any{map[string]any{"output_type": "display_data", "data": map[string]any{"text/html": shown}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "one.ipynb")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := reports.ReadNotebook(path)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := n.Write(t.Context(), &page, reports.Origin{Command: "x", Version: "v"}); err != nil {
		t.Fatal(err)
	}
	begin, end := strings.Index(page.String(), "<main>"), strings.Index(page.String(), "</main>")
	return page.String()[begin:end]
}

// Exported pages let through what a figure shows and what its files are made of, and no handler: their own
// script has the buttons.
func TestExportedPagesKeepFigures(t *testing.T) {
	figure, err := drawThemed(paths)
	if err != nil {
		t.Fatal(err)
	}
	shown := page{phones: true, save: true}
	if shown.figure(figure); shown.err != nil {
		t.Fatal(shown.err)
	}
	page := exported(t, themeStyle+shown.String())
	for want, n := range map[string]int{
		`<div class="pcl-figure"><div class="pcl-light"><img class="pcl-wide" style="width: 800px; max-width: 100%"`: 1,
		`<div class="pcl-dark" style="display: none">`:                                                               1, `<img class="pcl-narrow"`: 2, "data:image/svg+xml;base64,": 4,
		`<div class="pcl-save" style="display: none">`: 1, "onclick": 0, "<button": 0, "<style": 0,
	} {
		if got := strings.Count(page, want); got != n {
			t.Errorf("%q %d times in the page, want %d", want, got, n)
		}
	}
	if pdf := saved(t, page, "pdf"); !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Contains(pdf, []byte("/FontFile")) {
		t.Errorf("the PDF begins with %.20q", pdf)
	}
	z, err := gzip.NewReader(bytes.NewReader(saved(t, page, "csv")))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil || len(rows) < 10 || rows[0][0] != "method" {
		t.Errorf("%d rows of data, %v", len(rows), err)
	}
}

// saved is a file that lies in a page as text.
func saved(t *testing.T, page, kind string) []byte {
	t.Helper()
	m := regexp.MustCompile(`<span class="pcl-` + kind + `" style="display: none">([^<]*)</span>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no %s", kind)
	}
	data, err := base64.StdEncoding.DecodeString(html.UnescapeString(m[1]))
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return data
}

// The frames of a slider have the same axes, and only one is seen before a script runs.
func TestSliderFrames(t *testing.T) {
	var frames []Drawing
	var labels []string
	for s := 1; s < 10; s += 4 {
		step, err := viz.Geometry([][]float64{{1, 0.2}, {0.3, 1.8}}, []float64{float64(s) / 10, 1 - float64(s)/10})
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, func(t *viz.Theme) (*viz.Figure, error) { return viz.StepGeometry(t, step) })
		labels = append(labels, fmt.Sprint(s))
	}
	figures, err := drawFrames(frames, labels)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range figures {
		dark, err := f.dark()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []*viz.Figure{f.light, dark} {
			p, first := v.Rows[0][1], figures[0].light.Rows[0][1]
			if p.X.Max != first.X.Max || p.Y.Max != first.Y.Max {
				t.Errorf("frame %d ends at %v and %v, the first at %v and %v", i, p.X.Max, p.Y.Max, first.X.Max, first.Y.Max)
			}
		}
	}
	// Frames of different kinds are drawn as they are.
	if _, err := drawFrames([]Drawing{frames[0], paths}, []string{"a", "b"}); err != nil {
		t.Errorf("two kinds of figures: %v", err)
	}
}

// Within a handler of an element the names of document come first: there URL is the page's address.
func TestScriptsNameTheWindow(t *testing.T) {
	if regexp.MustCompile(`[^.]\bURL\b`).MatchString(saveScript) {
		t.Error("saveScript takes the page's address for the URL of the window")
	}
	for _, script := range []string{saveScript, sortScript} {
		if strings.Contains(script, `"`) || strings.Contains(script, "</") {
			t.Errorf("a script ends its attribute or its element: %s", script)
		}
	}
}

// Pictures within a figure are in the exported page, too.
func TestExportedPagesKeepPictures(t *testing.T) {
	gray := []float32{0, 0.5, 1, 0.2}
	edited := viz.EditedImage{Label: "a", H: 2, W: 2, C: 1, Before: gray, Gradient: gray, After: gray}
	figure, err := drawThemed(func(t *viz.Theme) (*viz.Figure, error) { return viz.EditedImages(t, edited) })
	if err != nil {
		t.Fatal(err)
	}
	var shown page
	if shown.figure(figure); shown.err != nil {
		t.Fatal(shown.err)
	}
	drawing := regexp.MustCompile(`src="data:image/svg\+xml;base64,([^"]+)"`).FindStringSubmatch(exported(t, themeStyle+shown.String()))
	if drawing == nil {
		t.Fatal("no drawing in the page")
	}
	svg, err := base64.StdEncoding.DecodeString(html.UnescapeString(drawing[1]))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(svg), `href="data:image/png;base64,`); n != 4 {
		t.Errorf("%d of 4 pictures are in the drawing", n)
	}
}

// Outside a notebook a figure is made once, for its error, and in no other colours.
func TestThemedIsDrawnOnce(t *testing.T) {
	drawn := 0
	count := func(theme *viz.Theme) (*viz.Figure, error) {
		drawn++
		return paths(theme)
	}
	if err := errors.Join(Themed(count), Slider([]Drawing{count}, []string{"a"})); err != nil || drawn != 2 {
		t.Errorf("two figures were drawn %d times, %v", drawn, err)
	}
}
