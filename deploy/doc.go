// Package deploy renders the files by which a scheduler makes a grid: the script of a Slurm array job
// ([Slurm]), and the manifest of a Kubernetes Indexed Job ([Kubernetes]). Each index of the job makes shards of the grid, in a
// folder that all nodes share.
//
// Both rest on the exit codes of `pcl grid run`, which docs/grid.md lists: 75 and 130 leave runs that the same
// command goes on with, and 2 means that it would never succeed.
package deploy
