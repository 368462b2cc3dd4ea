// Package jupyter serves an [Engine] to Jupyter front ends: messaging protocol 5.5 with subshells over ZeroMQ.
package jupyter
