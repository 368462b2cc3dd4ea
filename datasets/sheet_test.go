package datasets

import (
	"image/color"
	"strings"
	"testing"
)

func toySet(channels int) *Dataset {
	d := &Dataset{Name: "toy", Title: "Toy", Height: 28, Width: 28, Channels: channels, Classes: []string{"red", "blue"}}
	n := d.ImageSize()
	for i := range 6 {
		p := make([]uint8, n)
		for k := range p {
			p[k] = uint8(10 * (i + 1))
		}
		d.Train.Pixels = append(d.Train.Pixels, p...)
		d.Train.Labels = append(d.Train.Labels, int32(i%2))
	}
	d.Test = d.Train
	return d
}

func TestContactSheet(t *testing.T) {
	for _, channels := range []int{1, 3} {
		d := toySet(channels)
		img, err := ContactSheet(d, 2)
		if err != nil {
			t.Fatal(err)
		}
		l := newSheetLayout(d, facesOf(d), 2)
		// The second image of class 1 is training image 3.
		x, y := 1/l.rows*l.cellW+l.label+57, sheetTitle+1%l.rows*l.cellH
		for _, at := range [][2]int{{x, y}, {x + 55, y + 55}} {
			if got, want := img.RGBAAt(at[0], at[1]), (color.RGBA{40, 40, 40, 255}); got != want {
				t.Errorf("%d channels: pixel at %v is %v: want %v", channels, at, got, want)
			}
		}
		black := 0
		for y := range l.cellH {
			for x := range l.label {
				if img.RGBAAt(x, sheetTitle+y) == (color.RGBA{0, 0, 0, 255}) {
					black++
				}
			}
		}
		if black < 20 {
			t.Errorf("%d channels: %d black pixels where the label should be", channels, black)
		}
	}
}

func TestContactSheetRefuses(t *testing.T) {
	for _, n := range []int{0, 101} {
		if _, err := ContactSheet(toySet(1), n); err == nil || !strings.Contains(err.Error(), "want 1 to 100") {
			t.Errorf("%d per class: error %v", n, err)
		}
	}
	huge := &Dataset{Name: "huge", Height: 1024, Width: 1024, Channels: 1, Classes: strings.Split("abcdefghij", "")}
	huge.Train = Split{Pixels: make([]uint8, huge.ImageSize()), Labels: []int32{0}}
	huge.Test = huge.Train
	if _, err := ContactSheet(huge, 100); err == nil || !strings.Contains(err.Error(), "fewer images per class") {
		t.Errorf("a sheet of a gigapixel: %v", err)
	}
	if _, err := ContactSheet(&Dataset{}, 1); err == nil {
		t.Error("an empty set: no error")
	}
}
