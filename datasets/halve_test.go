package datasets

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHalve(t *testing.T) {
	// Two grey images of 2×4 pixels.
	got := halve([]uint8{
		0, 1, 10, 20,
		1, 0, 30, 40,

		255, 255, 0, 0,
		255, 254, 0, 1,
	}, 2, 2, 4, 1)
	if want := []uint8{1, 25, 255, 0}; !slices.Equal(got, want) {
		t.Errorf("halve: %v, want %v", got, want)
	}
}

// TestHalveChannels: each channel is halved by itself.
func TestHalveChannels(t *testing.T) {
	const n, height, width, channels = 3, 6, 4, 3
	pixels := make([]uint8, n*height*width*channels)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range pixels {
		pixels[i] = uint8(rng.IntN(256))
	}
	got := halve(pixels, n, height, width, channels)
	for c := range channels {
		var plane, want []uint8
		for i := c; i < len(pixels); i += channels {
			plane = append(plane, pixels[i])
		}
		for i := c; i < len(got); i += channels {
			want = append(want, got[i])
		}
		if !slices.Equal(halve(plane, n, height, width, 1), want) {
			t.Errorf("channel %d alone is not channel %d of the halved images", c, c)
		}
	}
}

// TestOpenTinyImageNet32: the images are those of tiny-imagenet, halved, and everything else is the same.
func TestOpenTinyImageNet32(t *testing.T) {
	dir := fakeTiny(t)
	whole, err := Open(t.Context(), "tiny-imagenet", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	half, err := Open(t.Context(), "tiny-imagenet-32", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if half.Name != "tiny-imagenet-32" || half.Height != 32 || half.Width != 32 || half.Note != whole.Note ||
		!slices.Equal(half.Classes, whole.Classes) || !slices.Equal(half.Train.Labels, whole.Train.Labels) {
		t.Errorf("%s of %d×%d images, %d training images, note %q", half.Name, half.Height, half.Width, half.Train.Len(), half.Note)
	}
	if want := halve(whole.Test.Pixels, whole.Test.Len(), 64, 64, 3); !slices.Equal(half.Test.Pixels, want) {
		t.Error("the test images are not the halved ones of tiny-imagenet")
	}
}
