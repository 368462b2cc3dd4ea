package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/deploy"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// deployCmd is `pcl deploy`, which prints the files by which schedulers make grids, or keep a
// service.
type deployCmd struct {
	Slurm      deploySlurmCmd      `cmd:"" help:"Print the script of a Slurm array job, for sbatch."`
	Kubernetes deployKubernetesCmd `cmd:"" help:"Print the manifest of a Kubernetes Indexed Job, for kubectl."`
	Service    deployServiceCmd    `cmd:"" help:"Print the manifest of a learner in service, a Kubernetes Deployment (docs/service.md)."`
}

// deployFlags are those that both schedulers have.
type deployFlags struct {
	Name string `arg:"" name:"grid" help:"Grid, as for pcl grid run."`
	gridFlags
	Backend string `default:"xla-cpu" enum:"xla-cuda,xla-cpu,go" help:"Compute backend: ${enum} (default ${default})."`
	Threads int    `range:"whole [1,inf)" default:"1" placeholder:"N" help:"Threads of the XLA CPU backend (default ${default})."`
	Vectors string `default:"native" enum:"native,avx2" help:"Vector instructions of the XLA CPU backend: ${enum} (default ${default}); take avx2 if processors differ, so that one can continue what another began."`
	Out     string `short:"o" type:"stdout" default:"-" placeholder:"FILE" help:"File to write (default: standard output)."`
}

// complete fills in what follows from the flags, for a number of processes in a task or pod. It
// returns the files and folders of the user's own that the runs read, which are not in the data
// folder.
func (c *deployFlags) complete(j *deploy.Job, processes int) (files []string, err error) {
	all, err := c.plans([]string{c.Name})
	if err != nil {
		return nil, err
	}
	j.Grid = c.Name
	if strings.HasSuffix(c.Name, ".toml") {
		if j.Grid, err = filepath.Abs(c.Name); err != nil {
			return nil, err
		}
		files = append(files, j.Grid)
	}
	if c.TunedFrom != "" {
		files = append(files, c.TunedFrom)
	}
	for _, run := range all[0].Runs {
		config := run.Config()
		files = append(files, datasets.OwnPath(config.Dataset), config.InitFile)
	}
	files = slices.DeleteFunc(files, func(path string) bool { return path == "" })
	slices.Sort(files)
	j.Flags, j.Shards, j.CPUs = c.flags(), min(j.Shards, len(all[0].Runs)), cmp.Or(j.CPUs, processes*c.Threads)
	if c.Backend != backend.XLACUDA {
		j.GPUs = 0
	}
	if c.Backend != backend.Go {
		j.XLAFlags = backend.XLAFlags()
	}
	return slices.Compact(files), nil
}

// flags returns the flags of pcl grid run that say what is made, and how.
func (c *deployFlags) flags() []string {
	out := []string{"--backend", c.Backend}
	if c.Backend == backend.XLACPU {
		out = append(out, "--threads", fmt.Sprint(c.Threads), "--vectors", c.Vectors)
	}
	if c.Size != "" {
		out = append(out, "--size", c.Size)
	}
	if c.TunedFrom != "" {
		return append(out, "--tuned-from", c.TunedFrom)
	}
	if c.Tuned {
		out = append(out, "--tuned")
	}
	return out
}

// write prints what package deploy renders.
func (c *deployFlags) write(rc *runContext, render func(io.Writer) error) error {
	return writeManifest(rc, c.Out, render)
}

func writeManifest(rc *runContext, to string, render func(io.Writer) error) error {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		return usageError{err}
	}
	return rc.writeTo(to, func(w io.Writer) error { _, err := text.WriteTo(w); return err })
}

type deploySlurmCmd struct {
	deployFlags
	Array deploy.Slurm `embed:""`
}

// usualTasks is how many tasks an array may have by the default of Slurm's MaxArraySize.
const usualTasks = 1001

func (c *deploySlurmCmd) Run(rc *runContext) error {
	job := &c.Array
	files, err := c.complete(&job.Job, job.PerTask)
	if err != nil {
		return err
	}
	if job.Program == "" {
		if job.Program, err = os.Executable(); err != nil {
			return err
		}
		if strings.Contains(filepath.ToSlash(job.Program), "/go-build") {
			return usagef("go run removes this program when it ends: install it with go install ./cmd/pcl, or say with --pcl " +
				"where it is on the nodes")
		}
	}
	job.Dir, job.DataDir, job.PerTask = c.Dir, c.DataDir, min(job.PerTask, job.Shards)
	if err := c.write(rc, job.Write); err != nil {
		return err
	}
	for _, path := range files {
		if !filepath.IsAbs(path) {
			rc.note("The grid reads %s: submit the script from the folder in which that is.", path)
		}
	}
	if job.Tasks() > usualTasks {
		rc.note("The array has %d tasks. Slurm takes %d unless the cluster's MaxArraySize says otherwise (scontrol show "+
			"config): fewer --shards, or more of them in a task (--per-task).", job.Tasks(), usualTasks)
	}
	return nil
}

type deployKubernetesCmd struct {
	deployFlags
	Job deploy.Kubernetes `embed:""`
}

func (c *deployKubernetesCmd) Run(rc *runContext) error {
	var err error
	if c.Job.Files, err = c.complete(&c.Job.Job, c.Job.Jobs); err != nil {
		return err
	}
	return c.write(rc, c.Job.Write)
}

type deployServiceCmd struct {
	Service deploy.Service `embed:""`
	Out     string         `short:"o" type:"stdout" default:"-" placeholder:"FILE" help:"File to write (default: standard output)."`
}

func (c *deployServiceCmd) Run(rc *runContext) error {
	return writeManifest(rc, c.Out, c.Service.Write)
}
