// Command pcl trains one neural network on several streams of data that start and end at different
// times, and reports the results. `pcl --help` lists its commands; `pcl demo` is a good one to
// begin with.
//
// Exit codes: 0 success; 1 failure, also if a run could not be saved or has diverged; 2 wrong usage
// or configuration; 130 interrupted (a run has been saved, and the last line of the output says how
// to continue); 75 the time of `pcl grid run --time` is up.
package main

import "github.com/parallelcl/parallelcl/cli"

func main() { cli.Main() }
