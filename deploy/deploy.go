// Package deploy renders the files by which a scheduler makes a grid: the script of a Slurm array
// job ([Slurm]), and the manifest of a Kubernetes Indexed Job ([Kubernetes]). Each index of the job
// makes shards of the grid, in a folder that all nodes share. It also renders the manifest of a
// learner in service ([Service]).
//
// The first two rest on the exit codes of `pcl grid run`, which docs/grid.md lists: 75 and 130
// leave runs that the same command goes on with, and 2 means that it would never succeed.
package deploy

import (
	"encoding/json"
	"path"
	"strings"
	"text/template"
)

// Job is what both schedulers need to know of a grid. The tags make flags of pcl deploy.
type Job struct {
	Grid     string   `kong:"-"` // name of the grid, or the path of its TOML file
	Flags    []string `kong:"-"` // more flags of pcl grid run
	XLAFlags string   `kong:"-"` // value of XLA_FLAGS

	Shards     int `range:"whole [1,100000]" required:"" placeholder:"N" help:"Number of shards to cut the grid into."`
	Concurrent int `range:"whole [0,inf)" placeholder:"N" help:"How many tasks or pods may run at the same time (default: no limit)."`
	CPUs       int `range:"whole [0,inf)" name:"cpus" placeholder:"N" help:"Processors of a task or pod (default: as many threads as it computes with)."`
	GPUs       int `range:"whole [0,64]" name:"gpus" default:"1" placeholder:"N" help:"GPUs of a task or pod with --backend xla-cuda (default ${default})."`
}

// name makes a name from that of the grid, of which schedulers accept every character.
func (j Job) name() string {
	grid := strings.TrimSuffix(path.Base(j.Grid), ".toml")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower("pcl-"+grid))
	return strings.Trim(name[:min(len(name), 50)], "-") // a pod's name is this with the index, of up to 63 characters
}

// functions are called by the templates. Every text goes through one of them.
var functions = template.FuncMap{"shell": shell, "yaml": yaml, "argument": argument}

// shell quotes a text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// yaml quotes a text as JSON does, which YAML reads alike.
func yaml(text string) (string, error) {
	out := new(strings.Builder)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// argument quotes an argument of a container. Kubernetes replaces $(NAME) in it, and takes $$ for a
// dollar sign.
func argument(text string) (string, error) { return yaml(strings.ReplaceAll(text, "$", "$$")) }
