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
	return report(send(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMEImagePNG: encoded(m), protocol.MIMETextPlain: alt,
	}}, ""))
}

// encoded is an image as PNG.
func encoded(m image.Image) []byte {
	var b bytes.Buffer
	png.Encode(&b, m) // into memory
	return b.Bytes()
}

// showHTML shows a piece of a page, or a text where none is shown, in place of what was shown under the same id if that is
// not empty.
func showHTML(page, plain, id string) error {
	out := &protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: page}}
	if plain != "" {
		out.Data[protocol.MIMETextPlain] = plain
	}
	return send(out, id)
}

// send shows data and waits until the kernel has it: a cell that ends sooner loses what is on its way.
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
