package datasets

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestDecode: a picture has the bytes that it has in a folder of pictures.
func TestDecode(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(width, height int) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, width, height))
		for i := range img.Pix {
			img.Pix[i] = uint8(rng.Uint32())
		}
		return img
	}
	deep := image.NewGray16(image.Rect(0, 0, 9, 7))
	deep.SetGray16(3, 3, color.Gray16{65535})
	deep.SetGray16(4, 3, color.Gray16{30000})
	root := t.TempDir()
	var files []string
	for i, img := range []image.Image{random(20, 30), random(64, 48), random(7, 7), deep} {
		for kind, encode := range map[string]func(*bytes.Buffer) error{
			"png": func(b *bytes.Buffer) error { return png.Encode(b, img) },
			"jpg": func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) },
		} {
			var b bytes.Buffer
			must.Do(t, encode(&b))
			name := filepath.Join(root, []string{"a", "b"}[i%2], fmt.Sprintf("%d.%s", i, kind))
			must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
			must.Do(t, os.WriteFile(name, b.Bytes(), 0o666))
			files = append(files, name)
		}
	}
	for parameters, s := range map[string]Shape{
		"size=16x16&channels=3": {Height: 16, Width: 16, Channels: 3},
		"size=8x20&channels=1&fit=pad&background=black": {
			Height: 8, Width: 20, Channels: 1, Fit: "pad", Background: "black",
		},
		"size=12x9&channels=3&fit=stretch&background=white": {Height: 12, Width: 9, Channels: 3, Fit: "stretch"},
	} {
		t.Run(parameters, func(t *testing.T) {
			d := mustOpen(t, "folder:"+root+"?"+parameters)
			var all [][]uint8
			for _, split := range []Split{d.Train, d.Test} {
				for i := range split.Labels {
					all = append(all, split.Pixels[i*s.Values():(i+1)*s.Values()])
				}
			}
			for _, file := range files {
				got := must.Get(Decode(must.Get(os.ReadFile(file))(t), s))(t)
				if !slices.ContainsFunc(all, func(one []uint8) bool { return slices.Equal(one, got) }) {
					t.Errorf("%s is decoded to other bytes than in its folder", file)
				}
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	var small bytes.Buffer
	must.Do(t, png.Encode(&small, image.NewGray(image.Rect(0, 0, 4, 4))))
	huge := slices.Clone(small.Bytes())
	copy(huge[16:], "\x00\x01\x00\x00\x00\x01\x00\x00") // 65536×65536, as its header says
	good := Shape{Height: 8, Width: 8, Channels: 1}
	for name, c := range map[string]struct {
		file  []byte
		shape Shape
		want  string
	}{
		"nothing":    {nil, good, "empty"},
		"text":       {[]byte("a picture"), good, "not a PNG"},
		"cut":        {small.Bytes()[:small.Len()-20], good, "not a readable image"},
		"bomb":       {huge, good, "not a readable image"},
		"no shape":   {small.Bytes(), Shape{}, "want a height"},
		"two":        {small.Bytes(), Shape{Height: 8, Width: 8, Channels: 2}, "channels"},
		"fit":        {small.Bytes(), Shape{Height: 8, Width: 8, Channels: 1, Fit: "bend"}, "bend"},
		"background": {small.Bytes(), Shape{Height: 8, Width: 8, Channels: 1, Background: "red"}, "red"},
	} {
		if _, err := Decode(c.file, c.shape); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	must.Get(Decode(small.Bytes(), good))(t)
}
