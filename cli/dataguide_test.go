package cli

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/npz"
)

// TestDataGuide runs the commands of docs/data.md, in their order, in a folder that has the files
// they name.
func TestDataGuide(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs sh")
	}
	text := must.Get(os.ReadFile("../docs/data.md"))(t)
	dir := t.TempDir()
	for k, class := range []string{"cat", "dog", "fox", "hen", "owl"} {
		t.Run(class, func(t *testing.T) {
			for i := range 10 {
				pattern(t, filepath.Join(dir, "photos", class, fmt.Sprintf("%d.png", i)), k, i)
			}
		})
	}
	guideVectors(t, dir)
	timeline := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	if timeline == nil {
		t.Fatal("no timeline in the guide")
	}
	put(t, filepath.Join(dir, "timeline.json"), timeline[1])
	commands := regexp.MustCompile(`(?m)^    (pcl .*)$`).FindAllSubmatch(text, -1)
	if len(commands) < 8 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		line := string(c[1])
		if strings.HasPrefix(line, "pcl run ") {
			line += " --backend go"
		}
		run := exec.Command("sh", "-c", line)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	page := must.Get(os.ReadFile(filepath.Join(dir, "report.html")))(t)
	for _, want := range []string{"Final accuracy by class", ">owl (", "folder:photos"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(string(page), want) {
				t.Errorf("the page lacks %q", want)
			}
		})
	}
	results, err := filepath.Glob(filepath.Join(dir, "runs", "timeline", "folder-photos-*", "result.json"))
	if err != nil || len(results) != 2 {
		t.Errorf("the timeline was played %d times, %v", len(results), expect.Text(err))
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(t, os.WriteFile(path, data, 0o666))
}

// pattern writes a grey image that shows its class.
func pattern(t *testing.T, path string, class, i int) {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 12, 12))
	for p := range 144 {
		img.SetGray(p%12, p/12, color.Gray{Y: uint8(p % 12 / (class + 1) * 40 % 256 / (1 + i%2))})
	}
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	must.Do(t, png.Encode(f, img))
}

// guideVectors writes features.npz, features.safetensors and flowers.csv.
func guideVectors(t *testing.T, dir string) {
	t.Helper()
	const n, width = 40, 6
	x, y := make([]float32, n*width), make([]uint8, n)
	csv := "id,length,width,class\n"
	for i := range n {
		y[i] = uint8(i % 4)
		for k := range width {
			x[i*width+k] = float32((i%4+1)*(k+1)%5) + float32(i)/100
		}
		csv += fmt.Sprintf("f%d,%g,%g,%s\n", i, x[i*width], x[i*width+1], []string{"iris", "lily", "rose", "tulip"}[i%4])
	}
	must.Do(t, npz.Write(filepath.Join(dir, "features.npz"),
		map[string]npz.Array{"x": {Shape: []int{n, width}, Data: x}, "y": {Shape: []int{n}, Data: y}}))
	put(t, filepath.Join(dir, "flowers.csv"), []byte(csv))
	header := `{"__metadata__":{"classes":"[\"a\",\"b\",\"c\",\"d\"]"},"x":{"dtype":"F32","shape":[40,6],"data_offsets":[0,960]},"y":{"dtype":"U8","shape":[40],"data_offsets":[960,1000]}}`
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for _, v := range x {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
	}
	put(t, filepath.Join(dir, "features.safetensors"), append(file, y...))
}
