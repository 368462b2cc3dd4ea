package cli

import (
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl/features"
)

// TestMain makes the test binary be pcl where it is called so, on PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pcl": Main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "json": jsonHas,
			"samemodels": sameModels, "drawn": drawn},
	})
}

// exits CODE PROGRAM ARGS… runs a program that must end with this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// drawn FILE FOLDER writes drawn weights of a backbone, and pictures of four classes.
func drawn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: drawn FILE FOLDER")
	}
	ts.Check(atomicfile.Write(ts.MkAbs(args[0]), features.Draw(1).Write))
	for i := range 4 * 4 {
		img := image.NewGray(image.Rect(0, 0, 6, 6))
		for p := range img.Pix {
			img.Pix[p] = uint8(i%4*60 + (i+p)%50)
		}
		path := filepath.Join(ts.MkAbs(args[1]), fmt.Sprint("class", i%4), fmt.Sprint(i, ".png"))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) }))
	}
}

// jsonHas FILE PATH [REGEXP] looks up a dotted path in the file's JSON value, or in its first line
// where there are several: the whole of what is there must match, as compact JSON.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: [!] json FILE PATH [REGEXP]")
	}
	var value any
	if err := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0]))).Decode(&value); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	found, ok := lookup(value, strings.Split(args[1], "."))
	if !ok {
		if !neg {
			ts.Fatalf("%s has no %s", args[0], args[1])
		}
		return
	}
	data, err := json.Marshal(found)
	ts.Check(err)
	want := ".*"
	if len(args) == 3 {
		want = args[2]
	}
	if regexp.MustCompile("^(?:"+want+")$").Match(data) == neg {
		ts.Fatalf("%s: %s is %s", args[0], args[1], data)
	}
}

// sameModels A.json B checks that the models of runs, a line of JSON each, are those in another
// file, in the same order: also JSON, or a table of which some lines are of other runs.
func sameModels(ts *testscript.TestScript, neg bool, args []string) {
	rest := ts.ReadFile(args[1])
	models := regexp.MustCompile(`"model_sha256":"(\w{64})"`).FindAllStringSubmatch(ts.ReadFile(args[0]), -1)
	found := len(models) > 0
	for _, m := range models {
		_, after, ok := strings.Cut(rest, m[1])
		rest, found = after, found && ok
	}
	if found == neg {
		ts.Fatalf("of the models %q are in %s: %t", models, args[1], found)
	}
}

// lookup follows keys of objects and indices of arrays.
func lookup(value any, path []string) (any, bool) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}
