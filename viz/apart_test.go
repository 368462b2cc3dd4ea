package viz

import (
	"fmt"
	"image/color"
	"reflect"
	"slices"
	"testing"
)

// A method looks the same whatever else is drawn; the first fifteen have a colour each, and no two
// look alike.
func TestMethodsKeepTheirLooks(t *testing.T) {
	for side := range 2 { // light and dark
		all, colours, looks := MethodStyles(order...), map[color.NRGBA]string{}, map[string]string{}
		for i, name := range order {
			s := all[name]
			c := sideOf(s.Color, side)
			look := fmt.Sprintf("%v %T%v %v", c, s.Marker, s.Marker, s.Dashes)
			if other, ok := looks[look]; ok {
				t.Errorf("%s looks like %s", name, other)
			}
			if other, ok := colours[c]; ok && i < 15 {
				t.Errorf("%s has the colour of %s", name, other)
			}
			for _, companion := range []string{"emgd", "emgd-gmc", order[(i+14)%len(order)], order[(i+7)%len(order)], "mine"} {
				switch got := MethodStyles(companion, name)[name]; {
				case got.Color != s.Color:
					t.Errorf("got.Color is %v; want %v", got.Color, s.Color)
				case got.Marker != s.Marker:
					t.Errorf("got.Marker is %v; want %v", got.Marker, s.Marker)
				case !slices.Equal(got.Dashes, s.Dashes):
					t.Errorf("got.Dashes is %v; want %v", got.Dashes, s.Dashes)
				}
			}
			if contrast(c, sideOf(Background, side)) < 2 {
				t.Errorf("%s is hard to see: %v", name, c)
			}
			looks[look], colours[c] = name, name
		}
	}
}

// A method and two variants of it have three shades, which none of the first fifteen has: where
// lines are thin and short, as in [TaskAccuracy], dashes cannot tell them apart.
func TestVariantsHaveShades(t *testing.T) {
	var names []string
	for _, name := range order[:15] {
		names = append(names, name, name+"+1", name+"+2")
	}
	for side := range 2 {
		styles := MethodStyles(names...)
		seen := map[color.NRGBA]string{}
		for _, name := range names {
			c := sideOf(styles[name].Color, side)
			if other, ok := seen[c]; ok {
				t.Errorf("%s has the colour of %s", name, other)
			}
			if contrast(c, sideOf(Background, side)) < 2 {
				t.Errorf("%s is hard to see: %v", name, c)
			}
			seen[c] = name
		}
		for _, name := range order[:15] {
			plain, one, two := styles[name], styles[name+"+1"], styles[name+"+2"]
			if slices.Equal(plain.Dashes, one.Dashes) {
				t.Errorf("%s and its variant have the same dashes", name)
			}
			a, b, c := sideOf(plain.Color, side), sideOf(one.Color, side), sideOf(two.Color, side)
			if contrast(a, b) < 1.15 || contrast(b, c) < 1.15 {
				t.Errorf("the shades of %s are too near to each other: %v %v %v", name, a, b, c)
			}
		}
	}
}

// Fourteen classes and more have a colour and marker that no other has.
func TestClassesApart(t *testing.T) {
	for side := range 2 {
		seen := map[string]int{}
		colours := map[color.NRGBA]bool{}
		for place := range 70 {
			g := classGlyph(place, 2)
			look := fmt.Sprint(sideOf(g.Color, side), g.Shape)
			if other, ok := seen[look]; ok {
				t.Errorf("classes %d and %d look alike", other, place)
			}
			seen[look] = place
			if place < 14 {
				colours[sideOf(g.Color, side)] = true
			}
		}
		if len(colours) != 14 {
			t.Errorf("14 classes have %d colours", len(colours))
		}
	}
}

// sideOf is a colour on light screens or, as 1, on dark ones.
func sideOf(c color.Color, side int) color.NRGBA {
	t := ColorOf(c)
	return []color.NRGBA{t.Light, t.Dark}[side]
}

// Compositions of one rule look different, and the rule alone, if it comes first, as always.
func TestCompositionsStandApart(t *testing.T) {
	styles := Styles([]string{"avggrad", "avggrad+der-pp", "avggrad+der-pp+herding", "emgd-gmc+mir", "mgda", "mgda"},
		false, false, false, false, true, false)
	all := MethodStyles("avggrad", "avggrad+1", "avggrad+2", "emgd-gmc+mir", "mgda", "mgda+1")
	for i, want := range []string{"avggrad", "avggrad+1", "avggrad+2", "emgd-gmc+mir", "mgda+1", "mgda"} {
		t.Run(want, func(t *testing.T) {
			if got := styles[i]; !reflect.DeepEqual(got, all[want]) {
				t.Errorf("style %d is %v, want that of %s", i, got, want)
			}
		})
	}
}
