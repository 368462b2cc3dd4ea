//go:build unix && !linux

package engine

const inputQueue = 0x4004667f // FIONREAD
