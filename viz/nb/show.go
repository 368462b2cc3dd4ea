package nb

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"image"
	"image/png"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

func init() { gob.Register(map[string]any{}) } // the metadata of a picture, on its way to the kernel

func inNotebook() bool { return gonbui.IsNotebook }

// Image shows an image at one screen pixel for each of its pixels.
func Image(m image.Image, alt string) error {
	if !inNotebook() {
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

// showHTML shows a piece of a page, in place of what was shown under the same id if that is not empty.
func showHTML(text, id string) error {
	if !inNotebook() {
		return nil
	}
	return send(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: text}}, id)
}

// scale is the number of a picture's pixels, in each direction, to one of the screen's: it has 144 an
// inch, which the screen shows as 96.
const scale = 1.5

func size(data []byte) (width, height int) {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0
	}
	return int(float64(c.Width)/scale + 0.5), int(float64(c.Height)/scale + 0.5)
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
