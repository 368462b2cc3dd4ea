package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "image/gif" // kinds of pictures
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"
)

// Bounds of a picture in a page.
const (
	maxPictureBytes  = 32 << 20
	maxPicturePixels = 1 << 25
)

// pictureURI returns a picture named in a cell as a data URI: one that lies in the text itself, an
// attachment, or a file in the notebook's folder or below.
func (n *Notebook) pictureURI(c *cell, name string) (string, error) {
	uri, err := n.findPicture(c, strings.TrimSpace(name))
	if err != nil {
		return "", fmt.Errorf("the picture %q: %w", short(name), err)
	}
	return uri, nil
}

func (n *Notebook) findPicture(c *cell, name string) (string, error) {
	scheme, rest, _ := strings.Cut(name, ":")
	switch strings.ToLower(scheme) {
	case "data":
		return embeddedURI(rest)
	case "attachment":
		return attachmentURI(c, unescaped(rest))
	}
	if strings.ContainsAny(name, ":\\") || strings.HasPrefix(name, "/") {
		return "", errors.New("it would be loaded from elsewhere: keep it in the notebook's folder, or below, and name it from there")
	}
	data, err := n.readBeside(unescaped(name))
	if err != nil {
		return "", err
	}
	return checkedURI(data, true)
}

func unescaped(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// readBeside reads a file of the notebook's folder or below. No link leads out of there.
func (n *Notebook) readBeside(name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(n.File))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > maxPictureBytes:
		return nil, tooLarge(info.Size())
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxPictureBytes))
}

func tooLarge(size int64) error {
	return fmt.Errorf("it has %d MB; a page takes pictures of up to %d MB", size>>20, maxPictureBytes>>20)
}

func attachmentURI(c *cell, name string) (string, error) {
	data := c.Attachments[name]
	for _, media := range slices.Sorted(maps.Keys(data)) {
		return mediaURI(media, string(data[media]))
	}
	return "", fmt.Errorf("the cell has no attachment %q", short(name))
}

// embeddedURI reads what follows "data:".
func embeddedURI(text string) (string, error) {
	header, body, ok := strings.Cut(text, ",")
	if !ok {
		return "", errors.New("it has no data")
	}
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(header)), ";base64") {
		return base64URI(unescaped(body))
	}
	return checkedURI([]byte(unescaped(body)), false)
}

// mediaURI reads what a notebook holds under a media type: text where it is SVG, base64 else.
func mediaURI(media, text string) (string, error) {
	if media == "image/svg+xml" && strings.HasPrefix(strings.TrimSpace(text), "<") {
		return checkedURI([]byte(text), false)
	}
	return base64URI(text)
}

func base64URI(text string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return "", fmt.Errorf("it is not base64: %w", err)
	}
	return checkedURI(data, false)
}

// checkedURI makes a data URI of a picture. What kind it is the data tell. Those from files are
// decoded in full, so that no other file passes for one.
func checkedURI(data []byte, file bool) (string, error) {
	if len(data) > maxPictureBytes {
		return "", tooLarge(int64(len(data)))
	}
	config, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if errors.Is(err, image.ErrFormat) {
		d, err := cleanSVG(data)
		if err != nil {
			return "", errors.New("it is of no known kind (png, jpeg, gif, webp, svg)")
		}
		return d.uri(), nil
	}
	if err == nil && (config.Width <= 0 || config.Height <= 0 || config.Width > maxPicturePixels/config.Height) {
		return "", fmt.Errorf("it has %d × %d pixels; a page takes pictures of up to %d million", config.Width, config.Height, maxPicturePixels>>20)
	}
	if err == nil && file {
		_, _, err = image.Decode(bytes.NewReader(data))
	}
	if err != nil {
		return "", err
	}
	return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// short is a text as a message has it.
func short(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
