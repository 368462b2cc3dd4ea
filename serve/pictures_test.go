package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// photo is a picture whose colour tells its class.
func photo(t testing.TB, class, i int, kind string) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 40+i, 30))
	c := []color.NRGBA{{200, 20, 20, 255}, {20, 200, 20, 255}, {20, 20, 200, 255}, {200, 200, 20, 255}}[class]
	for p := 0; p < len(img.Pix); p += 4 {
		copy(img.Pix[p:], []uint8{c.R + uint8(i), c.G + uint8(p%16), c.B, 255})
	}
	var b bytes.Buffer
	if kind == "image/png" {
		must.Do(t, png.Encode(&b, img))
	} else {
		must.Do(t, jpeg.Encode(&b, img, nil))
	}
	return b.Bytes()
}

var small = datasets.Shape{Height: 4, Width: 4, Channels: 3}

// sees is a service of pictures with a journal, and of pictures' features if it is given them.
func sees(t testing.TB, file string, f pcl.Features) *Service {
	o := Options{Pictures: small}
	if file != "" {
		o.File, o.Journal = file, file+"-journal"
	}
	return openedAs(t, o, func(o *pcl.Options) {
		inputs := small.Values()
		if o.Features = f; f != nil {
			inputs = f.Width()
		}
		o.Optimizer = optim.Adam{LR: 0.03}
		o.Model = must.Get(pcl.NewMLP(inputs, []int{32}, 4))(t)
	})
}

// form has pictures, and fields with their values.
func form(t testing.TB, pictures [][]byte, fields ...string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	f := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		must.Do(t, f.WriteField(fields[i], fields[i+1]))
	}
	for i, p := range pictures {
		part := must.Get(f.CreateFormFile("x", fmt.Sprint(i, ".jpg")))(t)
		must.Get(part.Write(p))(t)
	}
	must.Do(t, f.Close())
	return f.FormDataContentType(), b.String()
}

// sent is the status and the answer to a body of a type.
func (c client) sent(path, kind, body string) string {
	c.t.Helper()
	r := must.Get(http.Post(c.url+path, kind, strings.NewReader(body)))(c.t)
	defer r.Body.Close()
	return fmt.Sprintf("%d %s", r.StatusCode, must.Get(io.ReadAll(r.Body))(c.t))
}

// TestPhotos: a service learns from photos, alone and in forms, and predicts them, also after a
// restart.
func TestPhotos(t *testing.T) {
	for name, f := range map[string]pcl.Features{"pixels": nil, "features": means{}} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "service.pcl")
			c, stop := serving(t, sees(t, file, f))
			c.begin(0, 1, 2)
			for i := range 60 {
				kind := []string{"image/jpeg", "image/png"}[i%2]
				got := c.sent(fmt.Sprint("/learn?task=1&classes=", i%3), kind, string(photo(t, i%3, i%20, kind)))
				if want := fmt.Sprintf("200 {\"taken\":1,\"saved\":%d}\n", i+1); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			}
			knows := func(c client) {
				t.Helper()
				kind, body := form(t, [][]byte{photo(t, 2, 30, ""), photo(t, 0, 31, "image/png"), photo(t, 1, 32, "")})
				eventually(t, "the photos are not known", func() bool {
					more, photos := form(t, slices.Repeat([][]byte{photo(t, 0, 3, ""), photo(t, 1, 4, "image/png"),
						photo(t, 2, 5, "")}, 20), "task", "1", "classes", "0,1,2"+strings.Repeat(",0,1,2", 19))
					if got := c.sent("/learn", more, photos); !strings.HasPrefix(got, `200 {"taken":60,`) {
						t.Fatal(got)
					}
					got := c.sent("/predict", kind, body)
					one := c.sent("/predict?task=1", "image/jpeg", string(photo(t, 1, 33, "")))
					return strings.HasPrefix(got, "200") && strings.HasPrefix(one, `200 [{"class":1,`) &&
						slices.Equal(classesOf(got), []string{"2", "0", "1"})
				})
			}
			knows(c)
			stop()
			c, stop = serving(t, sees(t, file, f))
			knows(c)
			stop()
		})
	}
}

// classesOf are the predicted classes in an answer.
func classesOf(answer string) (all []string) {
	for _, one := range strings.Split(answer, `{"class":`)[1:] {
		all = append(all, one[:strings.Index(one, ",")])
	}
	return all
}

// means are features of pictures: the mean of each colour, and a constant.
type means struct{}

func (means) Inputs() int { return small.Values() }
func (means) Width() int  { return 4 }
func (means) Of(x []float32) (out []float32, err error) {
	for picture := range slices.Chunk(x, small.Values()) {
		mean := []float32{0, 0, 0, 1}
		for i, v := range picture {
			mean[i%3] += v * 3 / float32(small.Values())
		}
		out = append(out, mean...)
	}
	return out, nil
}
func (means) Forget([]float32) error { return nil }

// announced is a PNG whose header says another size than its picture has.
func announced(t testing.TB, width, height uint32) []byte {
	file := photo(t, 0, 0, "image/png")
	binary.BigEndian.PutUint32(file[16:], width)
	binary.BigEndian.PutUint32(file[20:], height)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	return file
}

// scans is a progressive JPEG of one block of pixels, and of many scans that have a bit each.
func scans(n int) []byte {
	segment := func(marker byte, has ...byte) []byte {
		return append([]byte{0xff, marker, 0, byte(2 + len(has))}, has...)
	}
	file := append([]byte("\xff\xd8"), segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	file = append(file, segment(0xc2, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)...)
	file = append(file, segment(0xc4, append([]byte{0x10, 1}, make([]byte, 16)...)...)...) // the code 0 ends a block
	for range n {
		file = append(append(file, segment(0xda, 1, 1, 0, 1, 63, 0)...), 0x7f)
	}
	return append(file, 0xff, 0xd9)
}

// TestScans: a picture with as many scans as one may have is decoded, and bytes that only look like
// scans are none.
func TestScans(t *testing.T) {
	good, seeming := photo(t, 0, 0, ""), strings.Repeat("\xff\xda\x00\x08", 1000)
	for name, c := range map[string]struct {
		file string
		want int
	}{
		"one":                 {string(good), 1},
		"as many as may be":   {string(scans(mostScans)), mostScans},
		"a thumbnail":         {"\xff\xd8\xff\xe1\x0f\xa2" + seeming + string(good[2:]), 1},
		"a film behind it":    {string(good) + seeming, 1},
		"bytes that fill":     {"\xff\xd8\xff\xff\xff" + string(good[2:]), 1},
		"PNG, which has none": {string(photo(t, 0, 0, "image/png")) + seeming, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := scansOf([]byte(c.file)); got != c.want {
				t.Errorf("%d scans, want %d", got, c.want)
			}
			must.Get(pixelsOf([]byte(c.file)))(t)
			must.Get(datasets.Decode([]byte(c.file), small))(t)
		})
	}
}

// TestPhotosRefused: what is no photo, or would take more than its bytes say, is refused with a
// reason, and none of a form is taken.
func TestPhotosRefused(t *testing.T) {
	c, stop := serving(t, sees(t, "", nil))
	defer stop()
	c.begin(0, 1)
	var smooth bytes.Buffer // 20 million pixels in 20 KB
	must.Do(t, png.Encode(&smooth, image.NewGray(image.Rect(0, 0, 5000, 4000))))
	good := photo(t, 0, 0, "")
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00;"
	several := func(n int, file []byte) [][]byte { return slices.Repeat([][]byte{file}, n) }
	for name, q := range map[string]struct {
		path     string
		pictures [][]byte
		fields   []string
		status   int
		want     string
	}{
		"empty":            {"/predict", [][]byte{nil}, nil, 400, "want a JPEG or PNG"},
		"gif":              {"/predict", [][]byte{[]byte(gif)}, nil, 400, "want a JPEG or PNG"},
		"cut":              {"/predict", [][]byte{good, good[:300]}, nil, 400, "picture 1"},
		"cut in its head":  {"/predict", [][]byte{good[:15]}, nil, 400, "picture 0"},
		"too large":        {"/predict", [][]byte{announced(t, 60000, 60000)}, nil, 400, "60000×60000 pixels"},
		"bomb":             {"/predict", [][]byte{announced(t, 4000, 4000)}, nil, 400, "4000×4000 pixels in"},
		"one side":         {"/predict", [][]byte{announced(t, 1<<31-1, 1)}, nil, 400, "picture 0"},
		"smooth":           {"/predict", several(13, smooth.Bytes()), nil, 400, "250 million in a request"},
		"too many":         {"/predict", several(mostValues/48+1, nil), nil, 400, "at once"},
		"too many parts":   {"/predict", several(mostValues/48+mostFields+1, nil), nil, 400, "too many parts"},
		"many fields":      {"/predict", nil, slices.Repeat([]string{"task", "1"}, 9), 400, "twice"},
		"scans":            {"/predict", [][]byte{good, scans(mostScans + 1)}, nil, 400, "picture 1: a JPEG of 51 scans"},
		"thousands":        {"/predict", several(1, scans(5000)), nil, 400, "a JPEG of 5000 scans"},
		"none":             {"/predict", nil, []string{"task", "1"}, 400, "has no pictures"},
		"classes":          {"/learn", several(2, good), []string{"task", "1", "classes", "0"}, 400, "classes"},
		"unknown":          {"/learn", several(1, good), []string{"task", "1", "class", "0"}, 400, "class"},
		"one is none":      {"/learn", [][]byte{good, nil}, []string{"task", "1", "classes", "0,1"}, 400, "picture 1"},
		"task twice":       {"/learn?task=1", several(1, good), []string{"task", "1", "classes", "0"}, 400, "twice"},
		"another's":        {"/end", several(1, good), []string{"task", "1"}, 400, "send JSON"},
		"no field of that": {"/learn", several(1, good), []string{"task", "1", "classes", "none"}, 400, "whole numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			kind, body := form(t, q.pictures, q.fields...)
			if got := c.sent(q.path, kind, body); !strings.HasPrefix(got, fmt.Sprint(q.status)) ||
				!strings.Contains(got, q.want) {
				t.Errorf("%s, want %d with %s", got, q.status, q.want)
			}
		})
	}
	for kind, body := range map[string]string{
		"multipart/form-data": "x", "multipart/form-data; boundary=x": "--x\r\n", "image/jpeg": "x",
		"image/svg+xml": "<svg/>",
	} {
		if got := c.sent("/predict", kind, body); !strings.HasPrefix(got, "400") {
			t.Errorf("%s: %s", kind, got)
		}
	}
	if n := c.tasks()[0]; n.Saved != nil && *n.Saved > 0 {
		t.Errorf("%+v", n)
	}
	none, _ := handled(t)
	if got := none.sent("/predict", "image/jpeg", string(good)); !strings.Contains(got, "takes no pictures") {
		t.Error(got)
	}
	if _, err := New(opened(t, "").learner, Options{Pictures: small}); err == nil ||
		!strings.Contains(err.Error(), "48 values") {
		t.Errorf("pictures of another size than the samples: %v", err)
	}
	if _, err := New(opened(t, "").learner,
		Options{Pictures: datasets.Shape{Height: 2, Width: 4, Channels: 2}}); err == nil {
		t.Error("pictures of two channels")
	}
}

// TestPhotosInTurn: photos are decoded one at a time, and who goes does not wait.
func TestPhotosInTurn(t *testing.T) {
	s := sees(t, "", nil)
	s.decoding <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.decodeOne(ctx, photo(t, 0, 0, "")); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	<-s.decoding
	must.Get(s.decodeOne(t.Context(), photo(t, 0, 0, "")))(t)
}
