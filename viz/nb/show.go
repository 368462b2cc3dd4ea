package nb

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/viz"
)

func init() { gob.Register(map[string]any{}) } // the metadata of a picture, on its way to the kernel

// InNotebook reports whether the program runs as a cell.
func InNotebook() bool { return gonbui.IsNotebook }

// Show shows a figure as one picture at its size, with its description. It takes what a function of
// package viz returns, error and all:
//
//	nb.Show(viz.Accuracy(viz.Light, runs...))
//
// [Themed] suits the reader's colours and screen.
func Show(f *viz.Figure, failed ...error) error {
	data, err := encode(f, failed...)
	if err != nil || !InNotebook() {
		return report(err)
	}
	return report(send(picture(data, f.Alt), ""))
}

// Image shows an image, one pixel of it on one of the screen's.
func Image(m image.Image, alt string) error {
	if !InNotebook() {
		return nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return report(fmt.Errorf("nb: %w", err))
	}
	data := picture(b.Bytes(), alt)
	data.Metadata = nil
	return report(send(data, ""))
}

// HTML shows a piece of a page.
func HTML(text string) error {
	return report(showHTML(text, ""))
}

// showHTML shows a piece of a page, in place of what was shown under the same id if that is not empty.
func showHTML(text, id string) error {
	if !InNotebook() {
		return nil
	}
	return send(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: text}}, id)
}

// encode draws a figure as a PNG.
func encode(f *viz.Figure, failed ...error) ([]byte, error) {
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errors.New("nb: no figure to show")
	}
	var b bytes.Buffer
	err := f.Encode(&b, "png")
	return b.Bytes(), err
}

// scale is the number of a figure's pixels, in each direction, to one of the screen's: sharp on
// fine screens.
const scale = 2

func size(data []byte) (width, height int) {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0
	}
	return c.Width / scale, c.Height / scale
}

// picture is a PNG with its description and, as every front end and the export to LaTeX read it,
// its size.
func picture(data []byte, alt string) *protocol.DisplayData {
	w, h := size(data)
	return &protocol.DisplayData{
		Data:     map[protocol.MIMEType]any{protocol.MIMEImagePNG: data, protocol.MIMETextPlain: alt},
		Metadata: map[string]any{string(protocol.MIMEImagePNG): map[string]any{"width": w, "height": h}},
	}
}

// send shows data and waits until the kernel has it: a cell that ends sooner loses what is on its way.
func send(data *protocol.DisplayData, id string) error {
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
