package kernel

import (
	"context"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Check is one thing that notebooks need.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"` // what to do if it is missing
}

// Doctor checks everything that notebooks need. It changes nothing.
func Doctor(ctx context.Context, o Options) []Check {
	return append([]Check{checkGo(ctx), checkCompiler(), checkLinker(), checkLab(ctx, o.Cache)}, checkKernels(o)...)
}

func checkGo(ctx context.Context) Check {
	c := Check{Name: "Go", Mend: "install Go " + leastGo + " or later and put it on PATH"}
	path, err := FindGo()
	if err != nil {
		c.Detail = "not on PATH"
		return c
	}
	out, err := run(ctx, "", build.Environment(), path, "env", "GOVERSION", "GOTOOLCHAIN")
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	installed, toolchain, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	c.Detail = printable.Line(installed) + " (" + path + ")"
	switch {
	case version.Compare(installed, "go"+leastGo) >= 0:
	case toolchain == "local" || version.Compare(installed, "go1.21") < 0:
		return c // it can't fetch a newer one
	default:
		c.Detail += ", which fetches " + leastGo + " when it is needed"
	}
	c.OK, c.Mend = true, ""
	return c
}

// checkCompiler looks for the C compiler that cgo and the plugins of cells need.
func checkCompiler() Check {
	for _, name := range []string{os.Getenv("CC"), "gcc", "clang"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return Check{Name: "C compiler", OK: true, Detail: path}
		}
	}
	return Check{Name: "C compiler", Detail: "not on PATH: cells cannot be loaded, and XLA cannot be used",
		Mend: "install gcc (Debian, Ubuntu: apt install gcc libc6-dev)"}
}

// checkLinker says which linker cells use. Any will do.
func checkLinker() Check {
	for _, name := range []string{"mold", "ld.lld"} {
		if path, err := exec.LookPath(name); err == nil {
			return Check{Name: "Linker", OK: true, Detail: path}
		}
	}
	return Check{Name: "Linker", OK: true, Detail: "the C compiler's own; with mold or lld cells start in about half the time"}
}

func checkLab(ctx context.Context, cache string) Check {
	lab, ok := FindLab(ctx, cache, false)
	if !ok {
		return Check{Name: "JupyterLab", Detail: "not found", Mend: "pcl notebook"}
	}
	return Check{Name: "JupyterLab", OK: true, Detail: fmt.Sprintf("%s (%s)", lab.Version, lab.Path)}
}

func checkKernels(o Options) []Check {
	list, err := List(o.Data)
	if err != nil {
		return []Check{{Name: "Kernel", Detail: err.Error(), Mend: "make the folder readable"}}
	}
	var checks []Check
	if len(list) == 0 || list[0].Name != Name {
		checks = append(checks, Check{Name: "Kernel " + Name, Detail: "not in " + filepath.Join(o.Data, "kernels"), Mend: "pcl kernel install"})
	}
	for _, k := range list {
		checks = append(checks, k.check())
	}
	return checks
}

// check checks that the files and folders of the kernel are there.
func (k Kernel) check() Check {
	c := Check{Name: "Kernel " + k.Name, Mend: "pcl kernel install, or pcl kernel remove " + k.Version}
	_, err := os.Stat(k.Start)
	switch {
	case err != nil:
		c.Detail = "its files are gone: " + filepath.Dir(k.Start)
	case !isModule(k.Source):
		c.Detail = "its module is gone: " + k.Source
	default:
		c.OK, c.Detail, c.Mend = true, fmt.Sprintf("version %s, module in %s", k.Version, k.Source), ""
	}
	return c
}
