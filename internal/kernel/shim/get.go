//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// fetchLimit is how long a package may take to come.
const fetchLimit = 2 * time.Minute

// foreign is an import of a package that no required module has.
type foreign struct {
	path  string
	where token.Position
}

// get fetches what the cell in a folder imports and no module of the cell's go.mod has. The cell's module is a folder of
// its own: the go.mod of a clone never changes.
func get(goPath, dir string) int {
	for _, f := range missing(goPath, dir) {
		if err := fetch(goPath, dir, f.path); err != nil {
			fmt.Printf("%s: %v\n", f.where, err)
			return 1
		}
	}
	return 0
}

// missing are the imports that have to be fetched.
func missing(goPath, dir string) []foreign {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil
	}
	required := requiredModules(string(text))
	var list []foreign
	paths, _ := filepath.Glob(filepath.Join(dir, "main*.go"))
	for _, path := range paths {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, s := range f.Imports {
			p, err := strconv.Unquote(s.Path.Value)
			first, _, _ := strings.Cut(p, "/")
			if err == nil && strings.Contains(first, ".") && !within(required, p) && !resolves(goPath, dir, p) {
				list = append(list, foreign{p, set.Position(s.Path.Pos())})
			}
		}
	}
	return list
}

// requiredModules are the paths that a go.mod requires or replaces.
func requiredModules(text string) []string {
	var list []string
	block := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == ")":
			block = false
		case len(f) > 1 && f[1] == "(":
			block = f[0] == "require" || f[0] == "replace"
		case block:
			list = append(list, f[0])
		case len(f) > 1 && (f[0] == "require" || f[0] == "replace"):
			list = append(list, f[1])
		}
	}
	return list
}

// within says whether one of the modules has the package, if it exists.
func within(modules []string, pkg string) bool {
	for _, m := range modules {
		if pkg == m || strings.HasPrefix(pkg, m+"/") {
			return true
		}
	}
	return false
}

// resolves says whether Go finds the package all the same, in a workspace for example.
func resolves(goPath, dir, pkg string) bool {
	cmd := exec.Command(goPath, "list", "-find", pkg)
	cmd.Dir = dir
	return cmd.Run() == nil
}

// fetch adds the module of a package to the cell's module. Its error is one line that says what to do.
func fetch(goPath, dir, pkg string) error {
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	out, err := goGet(ctx, goPath, dir, pkg)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not arrive within %s: run the cell again when the network is quicker", pkg, fetchLimit)
	case offline(out):
		if fetchedBefore(ctx, goPath, dir, pkg) {
			return nil
		}
		return fmt.Errorf("%s is not on this machine and the network cannot be reached: connect, then run the cell again", pkg)
	}
	return fmt.Errorf("%s cannot be fetched: %s (another version: !*go get %s@VERSION)", pkg, lastLine(out), pkg)
}

func goGet(ctx context.Context, goPath, dir, pkg string, env ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, goPath, "get", pkg)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), time.Second
	return cmd.CombinedOutput()
}

// fetchedBefore adds the newest version that an earlier kernel or program has left in Go's module cache, which is laid out as
// a proxy is. Its checksum was looked up when it came.
func fetchedBefore(ctx context.Context, goPath, dir, pkg string) bool {
	cache, err := exec.CommandContext(ctx, goPath, "env", "GOMODCACHE").Output()
	if err != nil {
		return false
	}
	proxy := url.URL{Scheme: "file", Path: filepath.ToSlash(strings.TrimSpace(string(cache))) + "/cache/download"}
	_, err = goGet(ctx, goPath, dir, pkg, "GOPROXY="+proxy.String(), "GOSUMDB=off")
	return err == nil
}

// offline says whether the go command failed because it could reach nobody.
func offline(out []byte) bool {
	for _, sign := range []string{"dial tcp", "no such host", "i/o timeout", "TLS handshake timeout", "network is unreachable",
		"connection refused", "module lookup disabled", "proxyconnect"} {
		if bytes.Contains(out, []byte(sign)) {
			return true
		}
	}
	return false
}

// lastLine is what the go command said in the end, in one line.
func lastLine(out []byte) string {
	list := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(strings.TrimSpace(list[len(list)-1]), "go: ")
}
