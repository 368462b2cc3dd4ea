package datasets

import (
	"errors"
	"fmt"
	"image"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// ContactSheet draws the first perClass training images of each class, one row of images per class,
// after the class's name, in as many columns as make the sheet about as wide as it is high. A
// vector is drawn as a square of grey cells, row by row, from black for the least value of these
// samples to white for the largest.
func ContactSheet(d *Dataset, perClass int) (*image.RGBA, error) {
	sheet, err := contactSheet(d, perClass)
	return sheet, at("datasets: contact sheet of "+d.Name, err)
}

func contactSheet(d *Dataset, perClass int) (*image.RGBA, error) {
	if err := d.validate(); err != nil {
		return nil, err
	}
	if perClass < 1 || perClass > 100 {
		return nil, fmt.Errorf("%d images per class: want 1 to 100", perClass)
	}
	f := facesOf(d)
	if f.low-f.low != 0 || f.high-f.high != 0 {
		return nil, errors.New("a value of a training sample is not a finite number")
	}
	l := newSheetLayout(d, f, perClass)
	title := fmt.Sprintf("%s: %d classes, %d train and %d test %s of %s", d.Title, len(d.Classes),
		d.Train.Len(), d.Test.Len(), d.things(), strings.ReplaceAll(d.Size(), "×", "x"))
	width, height := max(l.columns*l.cellW, len([]rune(title))*charWidth+2*sheetGap), l.rows*l.cellH+sheetTitle
	if width > maxSheetPixels/height {
		return nil, fmt.Errorf("%d×%d pixels, of which at most %d million are drawn: choose fewer images "+
			"per class", width, height, maxSheetPixels/1_000_000)
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	drawText(img, sheetGap, 15, title, img.Rect.Dx()-sheetGap)
	for class, members := range d.ByClass(&d.Train, perClass) {
		x, y := class/l.rows*l.cellW, sheetTitle+class%l.rows*l.cellH
		drawText(img, x+sheetGap, y+l.cellH/2+4, d.Classes[class], l.label-sheetGap)
		for k, i := range members {
			at := image.Rect(0, 0, f.width*l.zoom, f.height*l.zoom).Add(image.Pt(x+l.label+k*(f.width*l.zoom+1), y))
			draw.NearestNeighbor.Scale(img, at, f.picture(i), image.Rect(0, 0, f.width, f.height), draw.Over, nil)
		}
	}
	return img, nil
}

const (
	sheetTitle = 22 // height of the title line
	sheetGap   = 6
	charWidth  = 7 // of basicfont

	maxSheetPixels = 1 << 29 // which take 2 GB
)

// A sheetLayout says how classes are arranged: down the first column, then the next.
type sheetLayout struct {
	zoom, label, cellW, cellH, rows, columns int
}

func newSheetLayout(d *Dataset, f *faces, perClass int) sheetLayout {
	l := sheetLayout{zoom: max(1, (56+f.height/2)/f.height)}
	longest := 0
	for _, c := range d.Classes {
		longest = max(longest, len([]rune(c)))
	}
	l.label = min(longest, 18)*charWidth + 2*sheetGap
	l.cellW = l.label + perClass*(f.width*l.zoom+1) + sheetGap
	l.cellH = f.height*l.zoom + 2
	n := len(d.Classes)
	for l.columns = 1; l.columns < n; l.columns++ {
		if l.columns*l.cellW >= (n+l.columns-1)/l.columns*l.cellH {
			break
		}
	}
	l.rows = (n + l.columns - 1) / l.columns
	return l
}

// drawText writes s with its baseline at y, cut to the given width.
func drawText(dst *image.RGBA, x, y int, s string, width int) {
	runes := []rune(s)
	if most := max(width/charWidth, 1); len(runes) > most {
		runes = append(runes[:most-1], '.')
	}
	f := font.Drawer{Dst: dst, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	f.DrawString(string(runes))
}
