package nb

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

func init() { gob.Register(map[string]any{}) } // the metadata of a picture, on its way to the kernel

func inNotebook() bool { return gonbui.IsNotebook }

// Image shows an image at one screen pixel for each of its pixels. alt describes it for readers who
// cannot see it; without one they are told its size.
func Image(m image.Image, alt string) error {
	alt = cmp.Or(alt, fmt.Sprintf("an image of %d × %d pixels", m.Bounds().Dx(), m.Bounds().Dy()))
	return report(send(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMEImagePNG: encoded(m), protocol.MIMETextPlain: alt,
	}}, ""))
}

// encoded is an image as PNG, with one channel where it has no colours: a third of the bytes.
func encoded(m image.Image) []byte {
	var b bytes.Buffer
	if grey := image.NewGray(m.Bounds()); sameColors(grey, m) {
		m = grey
	}
	(&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m) // into memory
	return b.Bytes()
}

// sameColors draws a picture onto another, and says whether it is the same there.
func sameColors(to draw.Image, m image.Image) bool {
	box := m.Bounds()
	draw.Draw(to, box, m, box.Min, draw.Src)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r, g, b, a := m.At(x, y).RGBA()
			if r2, g2, b2, a2 := to.At(x, y).RGBA(); r != r2 || g != g2 || b != b2 || a != a2 {
				return false
			}
		}
	}
	return true
}

// showHTML shows a piece of a page. Front ends that show no HTML get the text plain. If id is not
// empty, the piece replaces what was shown with that id before.
func showHTML(page, plain, id string) error {
	out := &protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: page}}
	if plain != "" {
		out.Data[protocol.MIMETextPlain] = plain
	}
	return send(out, id)
}

// send shows data and waits until the kernel has it: a cell that ends sooner loses what is on its
// way.
func send(data *protocol.DisplayData, id string) error {
	if !inNotebook() {
		return nil
	}
	data.DisplayID = id
	gonbui.SendData(data)
	gonbui.Sync()
	if err := gonbui.Error(); err != nil {
		return fmt.Errorf("nb: the notebook does not answer: %w", err)
	}
	return nil
}

// report prints an error to the cell's output as well.
func report(err error) error {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return err
}
