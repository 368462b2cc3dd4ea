package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/deploy"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// deployCmd is `pcl deploy`, which prints the files by which schedulers make grids.
type deployCmd struct {
	Slurm      deploySlurmCmd      `cmd:"" help:"Print the script of a Slurm array job, for sbatch."`
	Kubernetes deployKubernetesCmd `cmd:"" help:"Print the manifest of a Kubernetes Indexed Job, for kubectl."`
}

// deployFlags are those that both schedulers have.
type deployFlags struct {
	Name string `arg:"" name:"grid" help:"Grid, as for pcl grid run."`
	gridFlags
	Backend    string `default:"xla-cpu" enum:"xla-cuda,xla-cpu,go" help:"Compute backend: ${enum} (default ${default})."`
	Threads    int    `range:"whole [1,inf)" default:"1" placeholder:"N" help:"Threads of the XLA CPU backend (default ${default})."`
	Vectors    string `default:"native" enum:"native,avx2" help:"Vector instructions of the XLA CPU backend: ${enum} (default ${default}); take avx2 if processors differ, so that one can continue what another began."`
	Shards     int    `range:"whole [1,inf)" required:"" placeholder:"N" help:"Number of shards to cut the grid into."`
	Concurrent int    `range:"whole [0,inf)" placeholder:"N" help:"How many tasks or pods may run at the same time (default: no limit)."`
	CPUs       int    `range:"whole [0,inf)" name:"cpus" placeholder:"N" help:"Processors of a task or pod (default: as many threads as it computes with)."`
	GPUs       *int   `range:"whole [0,inf)" name:"gpus" placeholder:"N" help:"GPUs of a task or pod (default: 1 for xla-cuda, else none)."`
	Out        string `short:"o" type:"stdout" default:"-" placeholder:"FILE" help:"File to write (default: standard output)."`
}

// plan returns the plan of the grid, and how many shards there are to be. A file's name becomes absolute.
func (c *deployFlags) plan() (p *grid.Plan, shards int, err error) {
	all, err := c.plans([]string{c.Name})
	if err == nil && strings.HasSuffix(c.Name, ".toml") {
		c.Name, err = filepath.Abs(c.Name)
	}
	if err != nil {
		return nil, 0, err
	}
	return all[0], min(c.Shards, len(all[0].Runs)), nil
}

// flags are those of pcl grid run that say what is made, and how.
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

// cpus returns the processors for a number of processes.
func (c *deployFlags) cpus(processes int) int { return cmp.Or(c.CPUs, processes*c.Threads) }

// Validate refuses GPUs that the backend would not use.
func (c *deployFlags) Validate() error {
	if c.GPUs != nil && *c.GPUs > 0 && c.Backend != backend.XLACUDA {
		return fmt.Errorf("--gpus %d: the backend %s uses none; --backend %s does", *c.GPUs, c.Backend, backend.XLACUDA)
	}
	return nil
}

// gpus returns the GPUs of a task.
func (c *deployFlags) gpus() int {
	switch {
	case c.GPUs != nil:
		return *c.GPUs
	case c.Backend == backend.XLACUDA:
		return 1
	}
	return 0
}

// xlaFlags are the options of XLA that the runs are made with.
func (c *deployFlags) xlaFlags() string {
	if c.Backend == backend.Go {
		return ""
	}
	return backend.XLAFlags()
}

// ownFiles returns the files and folders of the user's own that the runs read. They are not in the data folder.
func (c *deployFlags) ownFiles(p *grid.Plan) (paths []string) {
	for _, file := range []string{c.Name, c.TunedFrom} {
		if strings.HasSuffix(file, ".toml") {
			paths = append(paths, file)
		}
	}
	for _, config := range p.Runs {
		if path := datasets.OwnPath(config.Dataset); path != "" {
			paths = append(paths, path)
		}
		if config.InitFile != "" {
			paths = append(paths, config.InitFile)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// write prints what package deploy renders.
func (c *deployFlags) write(rc *runContext, render func(io.Writer) error) error {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		return usageError{err}
	}
	return rc.writeTo(c.Out, func(w io.Writer) error { _, err := text.WriteTo(w); return err })
}

// deploySlurmCmd prints the script of an array job.
type deploySlurmCmd struct {
	deployFlags
	PerTask   int           `range:"whole [1,inf)" default:"1" placeholder:"N" help:"Shards that a task makes side by side, on one GPU or on several processors (default ${default})."`
	Limit     time.Duration `default:"1h" placeholder:"TIME" help:"Time limit of a task, in whole minutes (default ${default}). A task that needs more goes back to the queue."`
	Grace     time.Duration `default:"1m" placeholder:"TIME" help:"How long before the limit Slurm sends a signal. Workers end a minute earlier by their own reckoning (default ${default})."`
	Memory    string        `placeholder:"SIZE" help:"Memory of a task, such as 4G (default: the cluster's)."`
	Partition string        `placeholder:"NAME" help:"Partition (default: the cluster's)."`
	Account   string        `placeholder:"NAME" help:"Account to charge (default: the user's)."`
	QOS       string        `name:"qos" placeholder:"NAME" help:"Quality of service (default: the user's)."`
	Program   string        `name:"pcl" type:"path" placeholder:"FILE" help:"Where pcl is on the nodes (default: where this program is)."`
}

func (c *deploySlurmCmd) Run(rc *runContext) error {
	p, shards, err := c.plan()
	if err != nil {
		return err
	}
	if c.Program == "" {
		if c.Program, err = c.thisProgram(); err != nil {
			return usageError{err}
		}
	}
	perTask := min(c.PerTask, shards)
	job := deploy.Slurm{
		Grid: c.Name, Flags: c.flags(), Dir: c.Dir, Program: c.Program, DataDir: c.DataDir, XLAFlags: c.xlaFlags(),
		Shards: shards, PerTask: perTask, Concurrent: c.Concurrent, Limit: c.Limit, Grace: c.Grace,
		CPUs: c.cpus(perTask), GPUs: c.gpus(), Memory: c.Memory, Partition: c.Partition, Account: c.Account, QOS: c.QOS,
	}
	if err := c.write(rc, job.Write); err != nil {
		return err
	}
	for _, path := range c.ownFiles(p) {
		if !filepath.IsAbs(path) {
			rc.note("The grid reads %s: submit the script from the folder in which that is.", path)
		}
	}
	if job.Tasks() > usualTasks {
		rc.note("The array has %d tasks. Slurm takes %d unless the cluster's MaxArraySize says otherwise (scontrol show config): fewer --shards, or more of them in a task (--per-task).", job.Tasks(), usualTasks)
	}
	return nil
}

// usualTasks is how many tasks an array may have by the default of Slurm's MaxArraySize.
const usualTasks = 1001

// thisProgram returns where this program is, if it is one that can make the grid later.
func (c *deploySlurmCmd) thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "", errors.New("go run removes this program when it ends: install it with go install ./cmd/pcl, or say with --pcl where it is on the nodes")
	}
	return path, nil
}

// deployKubernetesCmd prints the manifest of an Indexed Job.
type deployKubernetesCmd struct {
	deployFlags
	Image     string        `required:"" placeholder:"NAME" help:"Container image with pcl; deploy/Containerfile makes one."`
	Claim     string        `required:"" placeholder:"NAME" help:"Persistent volume claim with the grid's folder, to which many nodes can write."`
	Path      string        `placeholder:"PATH" help:"The grid's folder in that volume (default: the volume itself)."`
	DataClaim string        `placeholder:"NAME" help:"Claim with the data sets, which is only read (default: the folder data in the grid's)."`
	User      podUser       `default:"65532:65532" placeholder:"UID:GID" help:"User and group of the pods, who must be able to write to the volume (default ${default})."`
	JobName   string        `placeholder:"NAME" help:"Name of the Job (default: pcl- and the grid's)."`
	Jobs      int           `range:"whole [1,inf)" short:"j" default:"1" placeholder:"N" help:"Runs that a pod makes at the same time, on one GPU or on several processors (default ${default})."`
	Retries   int           `range:"whole [0,inf)" default:"10" placeholder:"N" help:"How often the pod of a shard may fail (default ${default}). A run fails after three pods were killed while making it, so a smaller number may give up a whole shard for one run."`
	Grace     time.Duration `default:"2m" placeholder:"TIME" help:"How long a pod may take to save its run before it is killed (default ${default})."`
	Memory    string        `default:"4Gi" placeholder:"SIZE" help:"Memory of a pod (default ${default})."`
}

// Validate refuses pods that lack the GPU that they need; those of a cluster of Slurm may have one all the same.
func (c *deployKubernetesCmd) Validate() error {
	if c.gpus() == 0 && c.Backend == backend.XLACUDA {
		return fmt.Errorf("--gpus 0: the backend %s needs one", c.Backend)
	}
	return c.deployFlags.Validate()
}

func (c *deployKubernetesCmd) Run(rc *runContext) error {
	p, shards, err := c.plan()
	if err != nil {
		return err
	}
	job := deploy.Kubernetes{
		Grid: c.Name, Flags: c.flags(), Name: c.JobName, Image: c.Image, Claim: c.Claim, Path: c.Path, DataClaim: c.DataClaim,
		User: c.User.UID, Group: c.User.GID, XLAFlags: c.xlaFlags(), Files: c.ownFiles(p),
		Shards: shards, Jobs: c.Jobs, Concurrent: min(c.Concurrent, shards), Retries: c.Retries, Grace: c.Grace,
		CPUs: c.cpus(c.Jobs), Memory: c.Memory, GPUs: c.gpus(),
	}
	return c.write(rc, job.Write)
}

// podUser is the value of a flag that names a user by numbers. It is not root, as which pods do not run.
type podUser struct{ UID, GID int }

// UnmarshalText reads "UID:GID".
func (u *podUser) UnmarshalText(text []byte) error {
	var ok bool
	if u.UID, u.GID, ok = twoNumbers(text, ":"); !ok || u.UID < 1 || u.GID < 1 {
		return fmt.Errorf("%q is not UID:GID, two numbers above 0 (pods do not run as root)", text)
	}
	return nil
}
