package viz

import (
	"fmt"
	"image/color"
	"slices"
	"testing"
)

// A method looks the same whatever else is drawn; the first fifteen have a colour each, and no two look alike.
func TestMethodsKeepTheirLooks(t *testing.T) {
	for _, theme := range []*Theme{Light, Dark} {
		all, colours, looks := theme.Methods(order...), map[color.NRGBA]string{}, map[string]string{}
		for i, name := range order {
			s := all[name]
			look := fmt.Sprintf("%v %T%v %v", s.Color, s.Marker, s.Marker, s.Dashes)
			if other, ok := looks[look]; ok {
				t.Errorf("%s looks like %s", name, other)
			}
			if other, ok := colours[s.Color]; ok && i < 15 {
				t.Errorf("%s has the colour of %s", name, other)
			}
			for _, companion := range []string{"emgd", "emgd-gmc", order[(i+14)%len(order)], order[(i+7)%len(order)], "mine"} {
				if got := theme.Methods(companion, name)[name]; got.Color != s.Color || got.Marker != s.Marker || !slices.Equal(got.Dashes, s.Dashes) {
					t.Errorf("%s looks different beside %s", name, companion)
				}
			}
			if contrast(s.Color, theme.Background) < 2 {
				t.Errorf("%s is hard to see: %v", name, s.Color)
			}
			looks[look], colours[s.Color] = name, name
		}
	}
}

// A method and two variants of it have three shades, which none of the first fifteen has: where lines are
// thin and short, as in [TaskAccuracy], dashes cannot tell them apart.
func TestVariantsHaveShades(t *testing.T) {
	var names []string
	for _, name := range order[:15] {
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
		for _, name := range order[:15] {
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
