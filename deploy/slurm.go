package deploy

import (
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"text/template"
	"time"
)

// Slurm describes an array job that makes a grid. Its tasks give themselves back to the queue while runs are left.
type Slurm struct {
	Grid    string   // name of the grid, or the path of its TOML file
	Flags   []string // more flags of pcl grid run
	Dir     string   // folder of the runs, which all nodes share
	Program string   // path of pcl on the nodes
	DataDir string   // folder of the data sets; empty leaves it to the environment

	XLAFlags string // value of XLA_FLAGS

	Shards     int
	PerTask    int           // shards that a task makes side by side, on one GPU or several processors
	Concurrent int           // tasks that may run at the same time; 0 is no limit
	Limit      time.Duration // time limit of a task
	Grace      time.Duration // how long before that Slurm sends a signal, should a worker still be there

	CPUs      int    // processors of a task
	GPUs      int    // GPUs of a task
	Memory    string // of a task, such as 4G; empty is the cluster's default, as in the following
	Partition string
	Account   string
	QOS       string
}

// slurmEarly is how much earlier than asked for Slurm may send a signal (sbatch --signal).
const slurmEarly = time.Minute

// leastWork is how much of the limit has to remain for work.
const leastWork = 30 * time.Second

var (
	slurmMemory = regexp.MustCompile(`^[1-9][0-9]{0,9}[KMGT]?$`)
	slurmWord   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.,@:+-]{0,99}$`)
)

// validate returns an error that names the first thing that is wrong.
func (s Slurm) validate() error {
	return checks(
		gridName(s.Grid), printables("a flag", s.Flags),
		absolute("the grid's folder", s.Dir),
		absolute("the path of pcl", s.Program),
		s.checkData(),
		optional("XLA_FLAGS", s.XLAFlags),
		between("number of shards", s.Shards, 1, maxCount),
		between("shards of a task", s.PerTask, 1, 1024),
		between("tasks at the same time", s.Concurrent, 0, maxCount),
		whole("time limit", s.Limit, time.Minute, "minutes"),
		whole("grace", s.Grace, time.Second, "seconds"),
		s.checkTimes(),
		between("processors", s.CPUs, 1, 4096),
		between("GPUs", s.GPUs, 0, 64),
		matching("memory", s.Memory, slurmMemory, "a number with K, M, G or T, such as 4G"),
		matching("partition", s.Partition, slurmWord, "a name"),
		matching("account", s.Account, slurmWord, "a name"),
		matching("QOS", s.QOS, slurmWord, "a name"),
	)
}

func (s Slurm) checkData() error {
	if s.DataDir == "" {
		return nil
	}
	return absolute("the data folder", s.DataDir)
}

func (s Slurm) checkTimes() error {
	switch {
	case s.Grace < time.Second || s.Grace > time.Hour:
		return fmt.Errorf("grace: %v is not between 1s and 1h", s.Grace)
	case s.Limit > 365*24*time.Hour:
		return fmt.Errorf("time limit: %v is more than a year", s.Limit)
	case s.Limit < s.margin()+leastWork:
		return fmt.Errorf("time limit: of %v nothing is left to work in. Workers end %v before it: the grace, and a minute by which Slurm may be early", s.Limit, s.margin())
	}
	return nil
}

// margin is how long before the time limit the workers have ended. Slurm's signal comes later than that, so that it is
// needed only if their own reckoning fails.
func (s Slurm) margin() time.Duration { return s.Grace + slurmEarly }

// Tasks is the number of the array's tasks.
func (s Slurm) Tasks() int { return (s.Shards + s.PerTask - 1) / s.PerTask }

//go:embed slurm.sh.tmpl
var slurmText string

var slurmScript = template.Must(template.New("slurm").Funcs(functions).Parse(slurmText))

// Write writes the script, which is to be submitted with sbatch.
func (s Slurm) Write(w io.Writer) error {
	if err := s.validate(); err != nil {
		return err
	}
	return slurmScript.Execute(w, struct {
		Slurm
		JobName                                     string
		Last, Minutes, Seconds, Before, Stop, Least int
	}{
		s, jobName(s.Grid), s.Tasks() - 1, int(s.Limit.Minutes()), int(s.Limit.Seconds()),
		int(s.Grace.Seconds()), int(s.margin().Seconds()), int(leastWork.Seconds()),
	})
}
