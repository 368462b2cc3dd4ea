//go:build !(linux && cgo)

package main

func useHugePages() {}
