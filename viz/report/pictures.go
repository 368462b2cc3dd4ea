package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	_ "image/gif" // kinds of pictures
	_ "image/jpeg"

	"golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// Bounds of a picture in a page. What the notebook itself holds is within its own bound.
const (
	maxPictureBytes  = 32 << 20 // of a file
	maxPicturePixels = 1 << 25
)

// pictureURI returns a picture named in the cell at hand as a data URI: one that lies in the text itself, an
// attachment, or a file in the notebook's folder or below.
func (r *notebookRenderer) pictureURI(name string) (string, error) {
	scheme, rest, _ := strings.Cut(name, ":")
	switch strings.ToLower(scheme) {
	case "data":
		header, body, _ := strings.Cut(rest, ",")
		if strings.HasSuffix(strings.ToLower(strings.TrimSpace(header)), ";base64") {
			return base64URI(unescaped(body))
		}
		return checkedURI([]byte(unescaped(body)))
	case "attachment":
		for media, data := range r.cell.Attachments[unescaped(rest)] { // of which there is one
			return mediaURI(media, string(data))
		}
		return "", errors.New("the cell has no such attachment")
	}
	data, err := r.notebook.readBeside(name)
	if err != nil {
		return "", err
	}
	return checkedURI(data)
}

func unescaped(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

var errNoPicture = errors.New("it is not a picture that browsers show")

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
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file beside the notebook")
	case err != nil:
		return nil, errors.New("it lies elsewhere; want a file in the notebook's folder, or below, named from there")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	case info.Size() > maxPictureBytes:
		return nil, fmt.Errorf("it is larger than %d MB", maxPictureBytes>>20)
	}
	return folder.ReadFile(name)
}

// mediaURI reads what a notebook holds under a media type: text where it is SVG, base64 else.
func mediaURI(media, text string) (string, error) {
	if media != "image/svg+xml" || !strings.HasPrefix(strings.TrimSpace(text), "<") {
		return base64URI(text)
	}
	text = declaration.ReplaceAllString(text, "") // of an encoding that the notebook's text no longer has
	if strings.Contains(text, "http://www.w3.org/2000/svg") {
		return checkedURI([]byte(text))
	}
	return drawingURI(text)
}

var declaration = regexp.MustCompile(`^\s*<\?xml[^>]*\?>`)

func base64URI(text string) (string, error) {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return "", errors.New("its data are not base64")
	}
	return checkedURI(data)
}

// checkedURI makes a data URI of a picture. What kind it is the data tell.
func checkedURI(data []byte) (string, error) {
	kind := pictureKind(data)
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case kind == "":
		return "", errNoPicture
	case errors.Is(err, image.ErrFormat): // browsers know more than we do
	case err != nil:
		return "", fmt.Errorf("its data are broken: %w", err)
	case config.Width > maxPicturePixels/max(1, config.Height):
		return "", fmt.Errorf("it has %d × %d pixels; a page takes pictures of up to %d million", config.Width, config.Height, maxPicturePixels>>20)
	}
	if kind == "image/tiff" {
		picture, err := tiff.Decode(bytes.NewReader(data))
		var buf bytes.Buffer
		if err != nil || png.Encode(&buf, picture) != nil {
			return "", errNoPicture
		}
		kind, data = "image/png", buf.Bytes()
	}
	return imageURI(kind, data), nil
}

func imageURI(kind string, data []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

var drawingStart = regexp.MustCompile(`^(?s:\s|\x{feff}|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*<svg[\s>/]`)

// pictureKind is the media type of a picture; empty if it is of no kind that browsers show or we convert.
func pictureKind(data []byte) string {
	kind := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(kind, "image/"):
		return kind
	case bytes.HasPrefix(data, []byte("II*\x00")) || bytes.HasPrefix(data, []byte("MM\x00*")):
		return "image/tiff"
	case len(data) > 12 && string(data[4:8]) == "ftyp" && strings.HasPrefix(string(data[8:]), "avi"):
		return "image/avif"
	case drawingStart.Match(data):
		return "image/svg+xml"
	}
	return ""
}

// drawingURI makes a picture of a drawing that lies in a page, where it needs no name of its language and may be no XML.
func drawingURI(source string) (string, error) {
	for _, name := range []string{`xmlns:xlink="http://www.w3.org/1999/xlink"`, `xmlns="http://www.w3.org/2000/svg"`} {
		if prefix, _, _ := strings.Cut(name, "="); !strings.Contains(source, " "+prefix+"=") {
			source = strings.Replace(source, "<svg", "<svg "+name, 1)
		}
	}
	d := xml.NewDecoder(strings.NewReader(source))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return checkedURI([]byte(source))
		} else if err != nil {
			return "", fmt.Errorf("its drawing is broken: %w", err)
		}
	}
}
