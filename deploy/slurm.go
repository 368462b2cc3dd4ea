package deploy

import (
	_ "embed"
	"fmt"
	"io"
	"text/template"
	"time"
)

// Slurm describes an array job that makes a grid. Its tasks give themselves back to the queue while
// runs are left. Paths mean the same on every node.
type Slurm struct {
	Job
	Dir     string `kong:"-"` // folder of the runs, which all nodes share
	DataDir string `kong:"-"` // folder of the data sets; empty leaves it to the environment

	Program string        `name:"pcl" type:"path" placeholder:"FILE" help:"Where pcl is on the nodes (default: where this program is)."`
	PerTask int           `range:"whole [1,1024]" default:"1" placeholder:"N" help:"Shards that a task makes side by side, on one GPU or on several processors (default ${default})."`
	Limit   time.Duration `default:"1h" placeholder:"TIME" help:"Time limit of a task, in whole minutes (default ${default}). A task that needs more goes back to the queue."`
	Grace   time.Duration `default:"1m" placeholder:"TIME" help:"How long before the limit Slurm sends a signal, should a worker still be there. Workers end a minute earlier by their own reckoning (default ${default})."`
}

// slurmEarly is how much earlier than asked for Slurm may send a signal (sbatch --signal).
const slurmEarly = time.Minute

// leastWork is how much of the limit has to remain for work.
const leastWork = 30 * time.Second

// Tasks is the number of the array's tasks.
func (s Slurm) Tasks() int { return (s.Shards + s.PerTask - 1) / s.PerTask }

//go:embed slurm.sh.tmpl
var slurmText string

var slurmScript = template.Must(template.New("slurm").Funcs(functions).Parse(slurmText))

// Write writes the script, which is to be submitted with sbatch.
func (s Slurm) Write(w io.Writer) error {
	s.Limit = s.Limit.Truncate(time.Minute)
	s.Grace = max(s.Grace, time.Second)
	// so that the signal comes later, and is needed only if the workers' own reckoning fails
	margin := s.Grace + slurmEarly
	if s.Limit < margin+leastWork {
		return fmt.Errorf("time limit: of %v nothing is left to work in. Workers end %v before it: the grace, and a minute "+
			"by which Slurm may be early", s.Limit, margin)
	}
	return slurmScript.Execute(w, struct {
		Slurm
		JobName                                     string
		Last, Minutes, Seconds, Before, Stop, Least int
	}{
		s, s.name(), s.Tasks() - 1, int(s.Limit.Minutes()), int(s.Limit.Seconds()),
		int(s.Grace.Seconds()), int(margin.Seconds()), int(leastWork.Seconds()),
	})
}
