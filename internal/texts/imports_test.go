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

// mayImport lists, for each package, which of our packages it may import. Any package outside of
// internal/ may also import the small tools in it. CONTRIBUTING says what the packages hold.
var mayImport = map[string]string{
	"bench/record":                 "pcl/results",
	"bench/serve":                  "pcl pcl/backend pcl/data pcl/method pcl/model pcl/optim serve",
	"bindings/c":                   "emgd pcl/weigh",
	"bench/search":                 "pcl/experiment pcl/results pcl/scenario",
	"cmd/pcl":                      "cli",
	"datasets":                     "datasets/glyphs pcl/params pcl/safetensors",
	"datasets/glyphs":              "",
	"deploy":                       "",
	"deploy/schema":                "",
	"emgd":                         "internal/fp",
	"examples/own":                 "cli pcl/method pcl/model pcl/rehearsal",
	"examples/first":               "pcl",
	"examples/regression":          "pcl pcl/backend pcl/data pcl/memory pcl/method pcl/model pcl/optim pcl/scenario",
	"examples/service":             "datasets pcl pcl/backend pcl/features pcl/memory pcl/method pcl/model pcl/optim pcl/scenario serve",
	"serve":                        "datasets pcl pcl/backend pcl/data pcl/model pcl/scenario",
	"toy":                          "emgd pcl/method",
	"pcl/backend":                  "pcl/backend/internal/pjrtenv",
	"pcl/data":                     "",
	"pcl/features":                 "pcl/backend pcl/internal/program pcl/onnx pcl/params pcl/safetensors",
	"pcl/memory":                   "pcl/params",
	"pcl/analytic":                 "",
	"pcl/method":                   "emgd pcl/analytic pcl/memory pcl/params pcl/rehearsal",
	"pcl/model":                    "",
	"pcl/onnx":                     "pcl/analytic pcl/model",
	"pcl/optim":                    "pcl/params",
	"pcl/params":                   "",
	"pcl/rehearsal":                "pcl/memory pcl/params",
	"pcl/results":                  "pcl/stats",
	"pcl/results/rows":             "pcl/results pcl/stats",
	"pcl/results/tables":           "pcl/results pcl/results/rows",
	"pcl/results/tensorboard":      "pcl/results",
	"pcl/results/versus":           "pcl/results pcl/results/rows pcl/stats",
	"pcl/safetensors":              "",
	"pcl/scenario":                 "",
	"pcl/stats":                    "",
	"pcl/weigh":                    "emgd pcl/method",
	"pcl/internal/checkpoint":      "",
	"pcl/internal/pcltest":         "datasets pcl/backend",
	"pcl/internal/program":         "pcl/backend",
	"pcl/internal/device":          "pcl/backend pcl/data pcl/internal/program pcl/memory pcl/model pcl/optim pcl/params pcl/rehearsal",
	"pcl":                          "pcl/analytic pcl/backend pcl/data pcl/internal/checkpoint pcl/internal/device pcl/internal/program pcl/memory pcl/method pcl/model pcl/onnx pcl/optim pcl/params pcl/rehearsal pcl/safetensors pcl/scenario",
	"pcl/experiment":               "datasets internal/origin pcl pcl/backend pcl/data pcl/features pcl/memory pcl/method pcl/model pcl/onnx pcl/optim pcl/params pcl/rehearsal pcl/results pcl/scenario",
	"grids":                        "",
	"pcl/results/findings":         "internal/paper pcl/results/rows",
	"pcl/grid":                     "datasets grids pcl/backend pcl/experiment pcl/method pcl/params pcl/results pcl/results/rows pcl/scenario",
	"viz":                          "emgd pcl/results pcl/scenario pcl/stats toy",
	"viz/nb":                       "pcl pcl/data pcl/experiment pcl/results viz viz/internal/script",
	"viz/report":                   "internal/paper pcl/method pcl/results pcl/results/rows pcl/results/versus pcl/stats toy viz viz/internal/script",
	"viz/internal/script":          "",
	"viz/tsne":                     "",
	"pcl/backend/internal/pjrtenv": "",
	"internal/alike":               "",
	"internal/archive":             "internal/ctxio internal/printable internal/regular",
	"internal/atomicfile":          "",
	"internal/csvcell":             "",
	"internal/ctxio":               "",
	"internal/download":            "internal/ctxio internal/printable internal/stamp internal/terminal",
	"internal/filelock":            "",
	"internal/fp":                  "",
	"internal/invented":            "internal/seed pcl/method pcl/results pcl/results/rows pcl/stats toy",
	"internal/journal":             "internal/atomicfile internal/regular",
	"internal/jsonbits":            "internal/fp internal/jsonin",
	"internal/jsonin":              "internal/printable",
	"internal/kernel":              "internal/atomicfile internal/filelock internal/kernel/build internal/origin internal/printable",
	"internal/kernel/build":        "internal/atomicfile internal/filelock internal/kernel/cell internal/origin internal/printable internal/stamp internal/tempdir",
	"internal/kernel/cell":         "internal/kernel/rt",
	"internal/kernel/host":         "internal/kernel/rt internal/printable internal/valuetext",
	"internal/kernel/pins":         "",
	"internal/kernel/rt":           "",
	"internal/kernel/serve":        "internal/kernel/build internal/kernel/cell internal/kernel/rt internal/origin internal/printable internal/tempdir",
	"internal/kernelhost":          "datasets internal/kernel/host internal/names internal/origin pcl pcl/data pcl/experiment pcl/method pcl/model pcl/rehearsal viz/nb",
	"internal/expect":              "",
	"internal/must":                "",
	"internal/names":               "",
	"internal/nice":                "",
	"internal/npz":                 "internal/atomicfile internal/regular",
	"internal/origin":              "",
	"internal/paper":               "grids internal/plural internal/regular pcl/results pcl/results/rows pcl/stats",
	"internal/plural":              "",
	"internal/printable":           "",
	"internal/pyrule":              "internal/regular pcl/method",
	"internal/regular":             "",
	"internal/seed":                "",
	"internal/stamp":               "internal/ctxio internal/regular",
	"internal/tempdir":             "internal/filelock",
	"internal/terminal":            "internal/printable",
	"internal/texts":               "",
	"internal/valuetext":           "",
}

// isTool says whether a package is one of the small tools that packages outside of internal/ may
// import unasked. The others are the notebook kernel, which code a result is of, the paper's
// claims, and what only tests import.
func isTool(pkg string) bool {
	return strings.HasPrefix(pkg, "internal/") && !strings.HasPrefix(pkg, "internal/kernel") &&
		!slices.Contains([]string{"internal/origin", "internal/invented", "internal/must", "internal/expect",
			"internal/paper"}, pkg)
}

// strict says whether a package's table entry lists the tools too: those of internal/ and the
// mathematics.
func strict(pkg string) bool { return strings.HasPrefix(pkg, "internal/") || pkg == "emgd" }

// TestImports: data flows one way, and the learner knows neither data sets nor what is made of its
// results. Only the command line may import everything.
func TestImports(t *testing.T) {
	for _, p := range sources(t) {
		dir := path.Dir(p)
		if path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.Contains(p, "testdata/") ||
			strings.HasPrefix(p, "cli/") || strings.HasPrefix(p, "tools/") {
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
			if ours && !(isTool(own) && !strict(dir)) && !slices.Contains(strings.Fields(allowed), own) {
				t.Errorf("%s imports %s, which %s may not", p, own, dir)
			}
			if dir == "emgd" && strings.Contains(name, ".") && !ours && !strings.HasPrefix(name, "gonum.org/") {
				t.Errorf("%s imports %s; emgd needs nothing but gonum", p, name)
			}
		}
	}
}

// kernelTools are the packages outside of internal/kernel that the notebook kernel needs. It could
// leave the module with them.
var kernelTools = []string{
	"internal/atomicfile", "internal/ctxio", "internal/filelock", "internal/origin", "internal/printable",
	"internal/regular",
	"internal/stamp", "internal/tempdir", "internal/valuetext",
}

// TestKernelApart: the notebook kernel knows no learner, no data set and no figure, directly or
// through others.
func TestKernelApart(t *testing.T) {
	var list []string // of what it needs, and of what that needs
	for pkg := range mayImport {
		if pkg == "internal/kernel" || strings.HasPrefix(pkg, "internal/kernel/") {
			list = append(list, pkg)
		}
	}
	seen := map[string]bool{}
	for len(list) > 0 {
		pkg := list[0]
		if list = list[1:]; seen[pkg] {
			continue
		}
		seen[pkg] = true
		if !strings.HasPrefix(pkg+"/", "internal/kernel/") && !slices.Contains(kernelTools, pkg) {
			t.Errorf("internal/kernel needs %s", pkg)
		}
		list = append(list, strings.Fields(mayImport[pkg])...)
	}
	for _, pkg := range kernelTools {
		if !seen[pkg] {
			t.Errorf("internal/kernel does not need %s", pkg)
		}
	}
}
