package backend

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
)

// Values of [Options].Vectors. XLA compiles for the widest vector instructions that a processor
// has, and so does oneDNN, the library that multiplies matrices for it. Wider vectors round sums
// differently, so that the same run has other bits on a processor with AVX-512 than on one with
// AVX2.
const (
	native = "native" // the widest, unless the environment limits them
	AVX2   = "avx2"   // none wider than AVX2, for the bits of other processors
)

const (
	isaFlag  = "--xla_cpu_max_isa="       // in XLA_FLAGS, read at each compilation
	isaEnv   = "ONEDNN_MAX_CPU_ISA"       // read by oneDNN at the first product of matrices
	isaOld   = "DNNL_MAX_CPU_ISA"         // its former name, still read
	limit    = "AVX2"                     // as both call it
	ownFlag  = isaFlag + limit            // what [setVectors] adds to XLA_FLAGS
	cudaFlag = "--xla_gpu_cuda_data_dir=" // in XLA_FLAGS, where [openCUDAPlugin] adds it
)

// XLAFlags returns the options in XLA_FLAGS, some of which change what XLA computes, without those
// that this package adds itself: the folder of CUDA's data, and the limit to AVX2.
func XLAFlags() string {
	return withoutFlags(func(f string) bool { return f == ownFlag || strings.HasPrefix(f, cudaFlag) })
}

// withoutFlags returns XLA_FLAGS without some of its options.
func withoutFlags(drop func(flag string) bool) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(os.Getenv("XLA_FLAGS")), drop), " ")
}

// withXLAFlag adds a flag to the value of XLA_FLAGS, unless it is there already, with whatever
// value.
func withXLAFlag(flags, flag, value string) string {
	if strings.Contains(flags, flag) {
		return flags
	}
	return strings.TrimSpace(flags + " " + flag + value)
}

// wide says that this process has opened a client with vectors wider than AVX2, which oneDNN then
// keeps to.
var wide bool

// setVectors makes XLA and oneDNN use the vector instructions that o asks for, and returns the name
// of the widest that they use. found are those that the processor has ([vectors]). Both limits have
// to be there for the bits of AVX2.
func setVectors(o, found string) (string, error) {
	if found != "AVX-512" {
		return found, nil
	}
	if o == AVX2 {
		if wide {
			return "",
				errors.New("this process has computed with AVX-512, and cannot change to AVX2: ask for AVX2 in its first backend")
		}
		os.Setenv("XLA_FLAGS", withXLAFlag(withoutFlags(func(f string) bool {
			return strings.HasPrefix(f, isaFlag)
		}), isaFlag, limit))
		os.Setenv(isaEnv, limit)
	}
	one := cmp.Or(os.Getenv(isaEnv), os.Getenv(isaOld))
	if strings.EqualFold(one, limit) && slices.Contains(strings.Fields(os.Getenv("XLA_FLAGS")), ownFlag) {
		return limit, nil
	}
	wide = true
	return found, nil
}

// VectorsOf returns the [Options].Vectors that a result was made with, by its device's name. Where
// the name tells no vectors, it is [AVX2].
func VectorsOf(device string) string {
	if traits(device)[1] == "AVX-512" {
		return native
	}
	return AVX2
}
