package datasets

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"path/filepath"
	"testing"
)

// gifs writes a folder of two classes, each image of which is one frame on a screen of 8×8 pixels.
func gifs(t *testing.T, frame *image.Paletted, global color.Palette) string {
	t.Helper()
	var b bytes.Buffer
	config := image.Config{Width: 8, Height: 8}
	if global != nil {
		config.ColorModel = global
	}
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: config}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"a/1.gif", "a/2.gif", "b/1.gif", "b/2.gif"} {
		write(t, filepath.Join(dir, name), b.Bytes())
	}
	return dir
}

// TestGIFFrame: a first frame that is smaller than the screen stays where it is on it.
func TestGIFFrame(t *testing.T) {
	black := color.Palette{color.Black}
	d := mustOpen(t, "folder:"+gifs(t, image.NewPaletted(image.Rect(4, 4, 8, 8), black), black))
	if d.Height != 8 || d.Width != 8 || d.Channels != 1 {
		t.Fatalf("samples of %s", d.Size())
	}
	for i, v := range d.Image(&d.Train, 0) {
		want := uint8(255)
		if i%8 >= 4 && i/8 >= 4 {
			want = 0
		}
		if v != want {
			t.Errorf("pixel %d,%d is %d, want %d", i%8, i/8, v, want)
		}
	}
}

// TestGIFColours: a frame has colours, too, that are in a table of its own.
func TestGIFColours(t *testing.T) {
	red := image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.NRGBA{255, 0, 0, 255}})
	for name, global := range map[string]color.Palette{"none": nil, "grey": {color.White}} {
		d := mustOpen(t, "folder:"+gifs(t, red, global))
		if d.Channels != 3 || !bytes.Equal(d.Image(&d.Train, 0)[:3], []byte{255, 0, 0}) {
			t.Errorf("table for all frames: %s: samples of %s that begin with %v", name, d.Size(), d.Train.Pixels[:3])
		}
	}
}
