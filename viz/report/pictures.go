package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	_ "image/gif" // kinds of pictures
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"
)

// Bounds of a picture in a page. The bounds of the notebook hold for pictures within it.
const (
	maxPictureBytes  = 32 << 20 // of a file
	maxPicturePixels = 1 << 25
)

// pictures are the pictures of a page. Each stands in it once, as a data URI, however often it is
// shown. Until the page is complete its number stands for it, between marks that no notebook can
// have.
type pictures struct {
	all       []picture
	byAddress map[string]int // what was read once isn't read again
	bySum     map[string]int
}

type picture struct {
	uri    string
	drawn  int  // elements that a browser draws each time, of a drawing
	beside bool // it is a file's, which has a bound of its own
}

var pictureMark = regexp.MustCompile(`src="data:image/png;base64,` + mark + `x(\d+)x"`)

// place returns what stands for a picture named in the cell at hand.
func (p *pictures) place(r *notebookRenderer, address string) (string, error) {
	key := address
	if strings.HasPrefix(strings.ToLower(address), "attachment:") {
		key = fmt.Sprint(r.at, " ", address)
	}
	i, known := p.byAddress[key]
	if !known {
		made, err := r.readPicture(address)
		if err != nil {
			return "", err
		}
		sum := checksum([]byte(made.uri))
		if i, known = p.bySum[sum]; !known {
			if !made.beside && !spend(&r.left.shown, len(made.uri)) {
				return "", errors.New("the page would be too large")
			}
			i = len(p.all)
			p.all = append(p.all, made)
		}
		p.byAddress[key], p.bySum[sum] = i, i
	}
	if !spend(&r.left.drawn, p.all[i].drawn) {
		return "", errors.New("drawing all that the page has takes too long")
	}
	return fmt.Sprintf("data:image/png;base64,%sx%dx", mark, i), nil
}

// put puts pictures into the pieces of a page, in their order. Where one is shown again, the page's
// script takes it from its first place.
func (p *pictures) put(pieces ...*template.HTML) {
	times := map[string]int{} // 0 once a picture stands in the page
	for _, piece := range pieces {
		for _, place := range pictureMark.FindAllString(string(*piece), -1) {
			times[place]++
		}
	}
	for _, piece := range pieces {
		*piece = template.HTML(pictureMark.ReplaceAllStringFunc(string(*piece), func(place string) string {
			number, n := pictureMark.FindStringSubmatch(place)[1], times[place]
			if times[place] = 0; n == 0 {
				return fmt.Sprintf(`data-as="%s"`, number)
			}
			i, _ := strconv.Atoi(number)
			src := `src="` + p.all[i].uri + `"`
			if n > 1 {
				src = fmt.Sprintf(`data-picture="%s" %s`, number, src)
			}
			return src
		}))
	}
}

// readPicture reads a picture. The kind is read from the data.
func (r *notebookRenderer) readPicture(address string) (p picture, err error) {
	files := r.left.files
	data, err := r.pictureData(address)
	if err != nil {
		return p, err
	}
	p.beside = r.left.files < files
	kind := pictureKind(data)
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case kind == "":
		return p, errors.New("it is not a picture that browsers show")
	case kind == "image/svg+xml":
		data = drawingFile(string(data))
		if p.drawn, err = weighDrawing(string(data)); err != nil {
			return p, fmt.Errorf("a drawing: %w", err)
		}
	case err != nil && !errors.Is(err, image.ErrFormat): // browsers know more kinds than we do
		return p, fmt.Errorf("its data are broken: %w", err)
	case config.Width > maxPicturePixels/max(1, config.Height):
		return p, fmt.Errorf("it has %d × %d pixels; a page takes pictures of up to %d million",
			config.Width, config.Height, maxPicturePixels>>20)
	case !spend(&r.left.pixels, config.Width*config.Height):
		return p, errors.New("the page has too many pixels in all")
	}
	p.uri = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
	return p, nil
}

// pictureData returns the data of a picture that lies in the text itself, of an attachment, or of a
// file.
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
	data, err := r.notebook.readBeside(address)
	if err == nil && !spend(&r.left.files, len(data)) {
		return nil, fmt.Errorf("a page takes up to %d MB of files", maxNotebook>>20)
	}
	return data, err
}

func unescaped(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// dataAddress is the address of what a notebook holds under a media type: SVG as text, or base64.
func dataAddress(media, text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return "data:" + media + ";base64," + text
}

// readBeside reads a file of the notebook's folder or below. No name and no link leads out of
// there.
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

var drawingStart = regexp.MustCompile(
	`^(?s:\s|\x{feff}|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*<svg[\s>/]`)

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

// declaration names an encoding, which a notebook's text no longer has. Files have to be UTF-8.
var declaration = regexp.MustCompile(`^[\s\x{feff}]*<\?xml[^>]*\?>`)

// drawingFile makes a file of a drawing. One that lay in a page may lack the names of its
// languages.
func drawingFile(source string) []byte {
	source, names := declaration.ReplaceAllString(source, ""), ""
	if !strings.Contains(source, "http://www.w3.org/2000/svg") {
		names = ` xmlns="http://www.w3.org/2000/svg"`
	}
	if strings.Contains(source, "xlink:") && !strings.Contains(source, "xmlns:xlink") {
		names += ` xmlns:xlink="http://www.w3.org/1999/xlink"`
	}
	return []byte(strings.Replace(source, "<svg", "<svg"+names, 1))
}
