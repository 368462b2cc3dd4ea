package kernel

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// A kernel's files in the cache.
const (
	startFile     = "start"         // what Jupyter runs
	goFile        = "bin/go"        // what GoNB takes for the go command
	goimportsFile = "bin/goimports" // and for goimports
	packagesFile  = "packages"      // what a cell need not import itself
	sourceDir     = "src"           // the copied module, where it is not a clone
	firstDir      = "first"         // a cell that uses every package
)

// start runs GoNB with the pinned tools and its own go tool before all others. GoNB's log goes
// nowhere: without that it fills the terminal that Jupyter was started in. Errors are Jupyter's, as
// text: they outlive the export, where GoNB's own page needs a mouse and a running Jupyter.
const start = `#!/bin/sh
# The kernel "ParallelCL (Go)", version @VERSION@; written by pcl kernel install.
PARALLELCL_GO=@GO@
if ! [ -x "$PARALLELCL_GO" ] && ! PARALLELCL_GO=$(command -v go); then
	echo "no Go: install it, then run pcl kernel install" >&2
	exit 1
fi
export PARALLELCL_GO
export PATH=@FILES@/bin:@TOOLS@/bin:"$PATH"
export GOFLAGS='-buildvcs=false -ldflags=-s'
unset GOWORK GOOS GOARCH
exec gonb -raw_error -logtostderr=false -log_file=/dev/null -stderrthreshold=FATAL --kernel "$1"
`

// goTool is the go command of the kernel. GoNB's own calls differ from Go's in two things: a new
// cell module requires what the module requires, with the same checksums, so that nothing has to be
// looked up; and the bare "go get" before each build, which asks for version lists and fails
// without a network, does nothing.
const goTool = `#!/bin/sh
# The go command of the kernel "ParallelCL (Go)", version @VERSION@; written by pcl kernel install.
case "$*" in
"get" | "get -t") exit 0 ;;
"mod init gonb_"*)
	rm -f go.mod go.sum
	{
		echo "module $3"
		grep -v '^module ' @SOURCE@/go.mod
		echo "require @MODULE@ v0.0.0"
		printf 'replace (\n\t@MODULE@ => "%s"\n)\n' @SOURCE@
	} >go.mod
	cp @SOURCE@/go.sum go.sum
	exit
	;;
esac
exec "$PARALLELCL_GO" "$@"
`

// goimports adds the module's packages to a cell before goimports runs, which drops those that the
// cell does not use. Left to itself goimports would find a package only where the package has what
// the cell asks of it, and a misspelt function would read "undefined: pcl". What is added stands
// behind the package clause, so that no line moves; a name that the cell imports itself is the
// cell's.
const goimports = `#!/bin/sh
# goimports of the kernel "ParallelCL (Go)", version @VERSION@; written by pcl kernel install.
if [ "$1" = -w ] && [ -f "$2" ]; then
	awk '
		function base(path) { gsub(/.*\/|"/, "", path); return path }
		pass == 1 && /^[ \t]*(import[ \t]+)?([A-Za-z0-9_.]+[ \t]+)?"[^" ]+"[ \t]*$/ {
			named = NF > 1 && $(NF - 1) != "import"
			have[named ? $(NF - 1) : base($NF)]
		}
		pass == 2 && !(base($0) in have) { add = add "; import \"" $0 "\"" }
		pass == 3 && /^package main$/ && !done { $0 = $0 add; done = 1 }
		pass == 3
	' pass=1 "$2" pass=2 @FILES@/packages pass=3 "$2" >"$2.tmp" && cat "$2.tmp" >"$2"
	rm -f "$2.tmp"
fi
exec @TOOLS@/bin/goimports "$@"
`

// writeStart writes the scripts of the kernel whose files are in dir.
func writeStart(dir, tools, goCommand string, s Source) error {
	fill := strings.NewReplacer("@VERSION@", s.Version, "@MODULE@", Module, "@GO@", quote(goCommand),
		"@FILES@", quote(dir), "@TOOLS@", quote(tools), "@SOURCE@", quote(s.Dir))
	for name, text := range map[string]string{startFile: start, goFile: goTool, goimportsFile: goimports} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := atomicfile.WriteBytes(file, []byte(fill.Replace(text))); err != nil {
			return err
		}
		if err := os.Chmod(file, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// quote makes one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writePackages lists the packages that a cell need not import.
func writePackages(ctx context.Context, dir, goCommand string, s Source) error {
	out, err := run(ctx, s.Dir, goEnv(), goCommand, "list", "-e", "-f", "{{.Name}} {{.ImportPath}}", "./...")
	if err != nil {
		return err
	}
	text := strings.Join(importable(string(out)), "\n") + "\n"
	return atomicfile.WriteBytes(filepath.Join(dir, packagesFile), []byte(text))
}

// importable returns the packages of a list of names and paths that a cell can import.
func importable(list string) []string {
	var paths []string
	for line := range strings.Lines(list) {
		name, p, ok := strings.Cut(strings.TrimSpace(line), " ")
		internal := slices.Contains(strings.Split(p, "/"), "internal")
		if ok && name == path.Base(p) && !internal { // else a command, or it does not parse
			paths = append(paths, p)
		}
	}
	return paths
}

// firstCell builds what a cell that imports every package becomes. It downloads what the module
// requires and leaves every package built, so that the user's first cell has only itself to build.
func firstCell(ctx context.Context, dir, goCommand string) error {
	cell := filepath.Join(dir, firstDir)
	if err := os.MkdirAll(cell, 0o755); err != nil {
		return err
	}
	packages, err := os.ReadFile(filepath.Join(dir, packagesFile))
	if err != nil {
		return err
	}
	text := "package main\n\n"
	for p := range strings.Lines(string(packages)) {
		text += fmt.Sprintf("import _ %q\n", strings.TrimSpace(p))
	}
	if err := atomicfile.WriteBytes(filepath.Join(cell, "main.go"), []byte(text+"\nfunc main() {}\n")); err != nil {
		return err
	}
	env := append(goEnv(), "PARALLELCL_GO="+goCommand, "GOFLAGS=-buildvcs=false -ldflags=-s")
	goPath := filepath.Join(dir, filepath.FromSlash(goFile))
	for _, args := range [][]string{{"mod", "init", "gonb_first"}, {"build", "-o", "cell"}} {
		if _, err := run(ctx, cell, env, goPath, args...); err != nil {
			return fmt.Errorf("the module does not build in a notebook: %w", err)
		}
	}
	return os.Remove(filepath.Join(cell, "cell"))
}
