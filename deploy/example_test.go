package deploy_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/deploy"
)

// The script of an array job that makes a planned grid in 40 shards, an hour each.
func ExampleSlurm() {
	var script bytes.Buffer
	err := deploy.Slurm{
		Job: deploy.Job{Grid: "table1-smoke", Shards: 40, CPUs: 1},
		Dir: "/home/me/grid", Program: "/home/me/bin/pcl", PerTask: 1, Limit: time.Hour, Grace: time.Minute,
	}.Write(&script)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(script.String()) {
		if strings.HasPrefix(line, "#SBATCH --array") || strings.HasPrefix(line, "#SBATCH --time") {
			fmt.Print(line)
		}
	}
	// Output:
	// #SBATCH --array=0-39
	// #SBATCH --time=60
}
