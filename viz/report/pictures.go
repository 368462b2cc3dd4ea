package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	_ "image/gif" // kinds of pictures
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"

	"github.com/parallelcl/parallelcl/internal/fail"
)

// Bounds of a picture in a page. What the notebook itself holds is within its own bound.
const (
	maxPictureBytes  = 32 << 20 // of a file
	maxPicturePixels = 1 << 25
)

// pictureURI returns a picture named in the cell at hand as a data URI. What kind it is the data tell.
func (r *notebookRenderer) pictureURI(address string) (uri string, err error) {
	defer fail.Caught(&err)
	data := fail.Or(r.pictureData(address))
	kind := pictureKind(data)
	fail.When(kind == "", "it is not a picture that browsers show")
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if kind == "image/svg+xml" {
		data = drawingFile(string(data))
	} else if !errors.Is(err, image.ErrFormat) { // browsers know more kinds than we do
		fail.When(err != nil, "its data are broken: %w", err)
	}
	fail.When(config.Width > maxPicturePixels/max(1, config.Height),
		"it has %d × %d pixels; a page takes pictures of up to %d million", config.Width, config.Height, maxPicturePixels>>20)
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// pictureData are those of a picture that lies in the text itself, of an attachment, or of a file.
func (r *notebookRenderer) pictureData(address string) ([]byte, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "attachment":
		for media, data := range r.cell.Attachments[unescaped(rest)] { // of which there is one
			return r.pictureData(dataAddress(media, string(data)))
		}
		return nil, errors.New("the cell has no such attachment")
	case "data":
		header, body, _ := strings.Cut(rest, ",")
		body = unescaped(body)
		if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(header)), ";base64") {
			return []byte(body), nil
		}
		return base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(body), ""), "="))
	}
	return r.notebook.readBeside(address)
}

func unescaped(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// dataAddress is the address of what a notebook holds under a media type: text where it is SVG, base64 else.
func dataAddress(media, text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = declaration.ReplaceAllString(text, "") // of an encoding that the notebook's text no longer has
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return "data:" + media + ";base64," + text
}

var declaration = regexp.MustCompile(`^\s*<\?xml[^>]*\?>`)

// readBeside reads a file of the notebook's folder or below. No name and no link leads out of there.
func (n *Notebook) readBeside(address string) ([]byte, error) {
	name := address
	if u, err := url.Parse(address); err == nil { // addresses may ask for a version
		name = u.Path
	}
	folder, err := os.OpenRoot(filepath.Dir(n.File))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	info, err := folder.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPictureBytes {
		return nil, fmt.Errorf("there is no such file (of up to %d MB) beside the notebook", maxPictureBytes>>20)
	}
	return folder.ReadFile(name)
}

var drawingStart = regexp.MustCompile(`^(?s:\s|\x{feff}|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*<svg[\s>/]`)

// pictureKind is the media type of a picture; empty if it is of no kind that browsers show.
func pictureKind(data []byte) string {
	kind := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(kind, "image/"):
		return kind
	case len(data) > 12 && string(data[4:11]) == "ftypavi":
		return "image/avif"
	case drawingStart.Match(data):
		return "image/svg+xml"
	}
	return ""
}

// drawingFile makes a file of a drawing. One that lay in a page may lack the names of its languages.
func drawingFile(source string) []byte {
	names := ""
	if !strings.Contains(source, "http://www.w3.org/2000/svg") {
		names = ` xmlns="http://www.w3.org/2000/svg"`
	}
	if strings.Contains(source, "xlink:") && !strings.Contains(source, "xmlns:xlink") {
		names += ` xmlns:xlink="http://www.w3.org/1999/xlink"`
	}
	return []byte(strings.Replace(source, "<svg", "<svg"+names, 1))
}
