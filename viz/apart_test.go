package viz

import (
	"fmt"
	"image/color"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// No two methods of a figure have one colour, whichever they are.
func TestMethodsApart(t *testing.T) {
	for _, names := range [][]string{
		{"avggrad", "pcgrad"}, // one place in the order apart by a round of hues
		{"emgd-gmc", "gradnorm", "mdmtr", "own-1", "own-2"},
		order[:14], order[7:21], order[21:35], order[22:],
		{"emgd", "emgd-gmc", "der-pp", "mgda", "avggrad"},
		{"same-length", "emgd-gmc", "mgda", "avggrad"},
	} {
		for _, theme := range []*Theme{Light, Dark} {
			styles := theme.Methods(names...)
			seen := map[color.NRGBA]string{}
			marks := map[string]bool{}
			for _, name := range names {
				s := styles[name]
				if other, ok := seen[s.Color]; ok {
					t.Errorf("%s has the colour of %s among %v", name, other, names)
				}
				if contrast(s.Color, theme.Background) < 2 {
					t.Errorf("%s is hard to see: %v", name, s.Color)
				}
				seen[s.Color] = name
				marks[fmt.Sprintf("%T%v", s.Marker, s.Marker)] = true
			}
			if len(names) <= len(markers) && len(marks) < len(names) {
				t.Errorf("%v share markers", names)
			}
		}
	}
	alone := Light.Methods("emgd-gmc", "mgda", "avggrad", "er")
	for name, s := range alone {
		if s.Color != Light.Method(name).Color {
			t.Errorf("%s lost its colour though nobody else has it", name)
		}
	}
}

// A method and two variants of it have three shades, which no other method of the figure has: where lines are
// thin and short, as in [TaskAccuracy], dashes cannot tell them apart.
func TestVariantsHaveShades(t *testing.T) {
	var names []string
	for _, name := range order[:14] {
		names = append(names, name, name+"+1", name+"+2")
	}
	for _, theme := range []*Theme{Light, Dark} {
		styles := theme.Methods(names...)
		seen := map[color.NRGBA]string{}
		for _, name := range names {
			s := styles[name]
			if other, ok := seen[s.Color]; ok {
				t.Errorf("%s has the colour of %s", name, other)
			}
			if contrast(s.Color, theme.Background) < 2 {
				t.Errorf("%s is hard to see: %v", name, s.Color)
			}
			seen[s.Color] = name
		}
		for _, name := range order[:14] {
			plain, one, two := styles[name], styles[name+"+1"], styles[name+"+2"]
			if slices.Equal(plain.Dashes, one.Dashes) {
				t.Errorf("%s and its variant have the same dashes", name)
			}
			if contrast(plain.Color, one.Color) < 1.15 || contrast(one.Color, two.Color) < 1.15 {
				t.Errorf("the shades of %s are too near to each other: %v %v %v", name, plain.Color, one.Color, two.Color)
			}
		}
	}
}

// The same method with other parameters is another line.
func TestParametersStandApart(t *testing.T) {
	var runs []*results.Run
	for _, tau := range []any{1.0, 5.0} {
		r := twoTasks()
		r.Params = map[string]any{"tau": tau}
		runs = append(runs, r)
	}
	groups, err := Groups(runs)
	if err != nil {
		t.Fatal(err)
	}
	styles := Light.stylesOf(groups)
	a, b := styles[groups[0].look], styles[groups[1].look]
	if slices.Equal(a.Dashes, b.Dashes) && fmt.Sprint(a.Marker) == fmt.Sprint(b.Marker) {
		t.Errorf("%s and %s look alike", groups[0].Label, groups[1].Label)
	}
	traces := []Trace{{Method: "emgd-gmc"}, {Method: "emgd-gmc"}}
	if s := Light.tracesOf(traces); slices.Equal(s[0].Dashes, s[1].Dashes) {
		t.Error("two traces of one method look alike")
	}
}

// Fourteen classes and more have a colour and marker that no other has.
func TestClassesApart(t *testing.T) {
	for _, theme := range []*Theme{Light, Dark} {
		seen := map[string]int{}
		colours := map[color.Color]bool{}
		for place := range 70 {
			g := classGlyph(theme, place, 2)
			look := fmt.Sprint(g.Color, g.Shape)
			if other, ok := seen[look]; ok {
				t.Errorf("classes %d and %d look alike", other, place)
			}
			seen[look] = place
			if place < 14 {
				colours[g.Color] = true
			}
		}
		if len(colours) != 14 {
			t.Errorf("14 classes have %d colours", len(colours))
		}
	}
}
