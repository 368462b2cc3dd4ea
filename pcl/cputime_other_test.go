//go:build !unix

package pcl

func cpuSeconds() float64 { return 0 }
