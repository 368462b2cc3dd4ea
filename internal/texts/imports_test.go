package texts

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

const module = "github.com/parallelcl/parallelcl/"

// mayImport lists, for each package, which of our packages it may import; those under the top-level internal/
// are small tools that any may. CONTRIBUTING says what the packages hold.
var mayImport = map[string]string{
	"bench/record":                 "pcl/results",
	"bindings/c":                   "emgd pcl/weigh",
	"bench/search":                 "pcl/experiment pcl/results pcl/scenario",
	"cmd/pcl":                      "cli",
	"datasets":                     "datasets/glyphs pcl/params pcl/safetensors",
	"datasets/glyphs":              "",
	"deploy":                       "",
	"deploy/schema":                "",
	"emgd":                         "",
	"examples/own":                 "cli pcl/method pcl/model pcl/rehearsal",
	"examples/first":               "pcl",
	"examples/regression":          "pcl pcl/backend pcl/data pcl/memory pcl/method pcl/model pcl/optim pcl/scenario",
	"examples/service":             "pcl pcl/backend pcl/memory pcl/method pcl/model pcl/optim pcl/scenario serve",
	"serve":                        "pcl pcl/data pcl/scenario",
	"toy":                          "emgd pcl/method",
	"pcl/backend":                  "pcl/backend/internal/pjrtenv",
	"pcl/data":                     "",
	"pcl/features":                 "",
	"pcl/memory":                   "pcl/params",
	"pcl/method":                   "emgd pcl/params pcl/rehearsal",
	"pcl/model":                    "",
	"pcl/onnx":                     "pcl/model",
	"pcl/optim":                    "pcl/params",
	"pcl/params":                   "",
	"pcl/rehearsal":                "pcl/memory pcl/params",
	"pcl/results":                  "",
	"pcl/results/rows":             "pcl/results",
	"pcl/results/tables":           "pcl/results pcl/results/findings pcl/stats",
	"pcl/results/tensorboard":      "pcl/results",
	"pcl/results/versus":           "pcl/results/findings pcl/results/rows pcl/stats",
	"pcl/safetensors":              "",
	"pcl/scenario":                 "",
	"pcl/stats":                    "",
	"pcl/weigh":                    "emgd pcl/method",
	"pcl/internal/checkpoint":      "",
	"pcl/internal/pcltest":         "datasets pcl/backend",
	"pcl/internal/program":         "pcl/backend",
	"pcl/internal/device":          "pcl/backend pcl/data pcl/internal/program pcl/memory pcl/model pcl/optim pcl/params pcl/rehearsal",
	"pcl":                          "pcl/backend pcl/data pcl/internal/checkpoint pcl/internal/device pcl/internal/program pcl/memory pcl/method pcl/model pcl/onnx pcl/optim pcl/params pcl/rehearsal pcl/safetensors pcl/scenario",
	"pcl/experiment":               "datasets pcl pcl/backend pcl/data pcl/memory pcl/method pcl/model pcl/optim pcl/params pcl/rehearsal pcl/results pcl/scenario",
	"grids":                        "",
	"pcl/results/findings":         "grids pcl/results/rows pcl/stats",
	"pcl/grid":                     "datasets grids pcl/backend pcl/experiment pcl/method pcl/params pcl/results pcl/results/rows pcl/scenario",
	"viz":                          "emgd pcl/results pcl/scenario pcl/stats toy",
	"viz/nb":                       "pcl pcl/data pcl/experiment pcl/results viz",
	"viz/report":                   "pcl/method pcl/results pcl/results/findings pcl/results/rows pcl/results/versus pcl/stats toy viz",
	"viz/tsne":                     "",
	"pcl/backend/internal/pjrtenv": "",
}

// TestImports: data flows one way, and the learner knows neither data sets nor what is made of its results.
// Only the command line may import everything.
func TestImports(t *testing.T) {
	paths := sources(t)
	for _, p := range paths {
		dir := path.Dir(p)
		if path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.Contains(p, "testdata/") ||
			strings.HasPrefix(p, "cli/") || strings.HasPrefix(p, "tools/") || strings.HasPrefix(p, "internal/") {
			continue
		}
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("package %s is not in the table of what may import what", dir)
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, p), nil, parser.ImportsOnly))(t)
		for _, i := range f.Imports {
			name := must.Get(strconv.Unquote(i.Path.Value))(t)
			own, ours := strings.CutPrefix(name, module)
			if ours && !strings.HasPrefix(own, "internal/") && !slices.Contains(strings.Fields(allowed), own) {
				t.Errorf("%s imports %s, which %s may not", p, own, dir)
			}
		}
	}
}
