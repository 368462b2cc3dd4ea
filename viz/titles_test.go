package viz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// letters measures a text by its bytes.
func letters(s string) vg.Length { return vg.Length(len(s)) }

func TestBroken(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit vg.Length
		want  []string
	}{
		{"", 5, []string{""}},
		{"it  fits", 8, []string{"it  fits"}},
		{"a line of five words", 19, []string{"a line of five", "words"}},
		{"a line of five words", 9, []string{"a line of", "five", "words"}},
		{"kept\nas it was", 9, []string{"kept", "as it was"}},
		{"kept\nas it was", 8, []string{"kept", "as it", "was"}},
		{"an unbreakable word", 5, []string{"an", "unbreakable", "word"}},
		{"unbreakable", 5, []string{"unbreakable"}},
	} {
		if got := broken(c.text, c.limit, letters); !slices.Equal(got, c.want) {
			t.Errorf("%q in lines of %g: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

// inSettings returns two runs of one task for each data set and increment.
func inSettings(datasets ...string) (runs []*results.Run) {
	for _, dataset := range datasets {
		for _, increment := range []string{"task", "class"} {
			for seed := range 2 {
				runs = append(runs, &results.Run{
					ID: fmt.Sprint(dataset, increment, seed), Method: "er", Dataset: dataset, Increment: increment, Seed: uint64(seed),
					A: 50 + float64(seed), Tasks: []results.Task{{ID: 1, End: 9}},
					Curve: []results.Point{{Step: 9, Mean: 0.5 + 0.01*float64(seed), Ended: []int{1}}},
				})
			}
		}
	}
	return runs
}

// TestLongTitles: the titles of panels stay inside the figure and beside each other, and a figure
// that was drawn keeps them.
func TestLongTitles(t *testing.T) {
	long := []string{"Split-CIFAR-10 (1000 per class, width 8)", "Split-CIFAR-100 (100 per class, width 8)",
		"Split-Tiny-ImageNet (50 per class, 32×32, width 8)"}
	for n := 1; n <= len(long); n++ {
		fig, err := LearningProcess(inSettings(long[:n]...)...)
		if err != nil {
			t.Fatal(err)
		}
		title := fig.Rows[0][0].Title.Text
		titlesInside(t, fmt.Sprintf("%d data sets", n), fig, 2*n)
		if got := fig.Rows[0][0].Title.Text; got != title || strings.Contains(got, "\n") {
			t.Errorf("after drawing the title is %q, before %q", got, title)
		}
	}
}

func titlesInside(t *testing.T, name string, f *Figure, panels int) {
	t.Helper()
	width, _ := f.size()
	right := map[int]vg.Length{} // by height, where the last text ends
	ends := 0
	for _, p := range f.drawing().parts() {
		for _, g := range p.Groups {
			for _, m := range g.Marks {
				if m.Text == "" || m.Size != 100 || m.Turn != 0 {
					continue
				}
				from := vg.Length(m.X) / 10
				to := from + f.Rows[0][0].Title.TextStyle.Width(m.Text)
				if from < right[m.Y] || to > width {
					t.Errorf("%s: %q is from %.0f to %.0f of %.0f points, and the text before it ends at %.0f",
						name, m.Text, from, to, width, right[m.Y])
				}
				right[m.Y] = to
				if strings.HasSuffix(m.Text, "-incremental") {
					ends++
				}
			}
		}
	}
	if ends != panels {
		t.Errorf("%s: %d titles end as they should, want %d", name, ends, panels)
	}
}

// TestPlotsOfARowStayAligned: where one title has two lines, the plots beside it begin as far down.
func TestPlotsOfARowStayAligned(t *testing.T) {
	f, err := Plots("two", "Two plots.", NewPlot("short", "", ""), NewPlot(strings.Repeat("long ", 20), "", ""))
	if err != nil {
		t.Fatal(err)
	}
	own := f.copied()
	tiles := own.tiles(draw.New(vgsvg.New(600, 290)))
	own.wrapTitles(tiles)
	left, right := own.Rows[0][0], own.Rows[0][1]
	if got := strings.Count(right.Title.Text, "\n"); got != 1 {
		t.Errorf("the long title has %d breaks, want 1", got)
	}
	if a, b := left.DataCanvas(tiles[0][0]).Max.Y, right.DataCanvas(tiles[0][1]).Max.Y; a != b {
		t.Errorf("the plots begin at %g and %g", a, b)
	}
}
