package backend

import (
	"cmp"
	"os"
	"slices"
	"strings"
)

// XLA compiles for the widest vector instructions that a processor has, and so does oneDNN, the library that multiplies
// matrices for it. Sums are rounded otherwise with wider ones, so that the same run would have other bits on a processor
// with AVX-512 than on one with AVX2. Therefore both are limited to AVX2, unless the environment says what they may use.
const (
	isaFlag  = "--xla_cpu_max_isa="       // in XLA_FLAGS, read at each compilation
	isaEnv   = "ONEDNN_MAX_CPU_ISA"       // read at the first product
	isaOld   = "DNNL_MAX_CPU_ISA"         // its former name, still read
	widest   = "AVX2"                     // of those that are used
	ownFlag  = isaFlag + widest           // what [limitVectors] adds to XLA_FLAGS
	cudaFlag = "--xla_gpu_cuda_data_dir=" // in XLA_FLAGS, where [openCUDAPlugin] adds it
)

// XLAFlags returns the options in XLA_FLAGS, some of which change what XLA computes, without those that this package adds
// itself: the folder of CUDA's data, and the limit to AVX2.
func XLAFlags() string {
	var given []string
	for _, f := range strings.Fields(os.Getenv("XLA_FLAGS")) {
		if f != ownFlag && !strings.HasPrefix(f, cudaFlag) {
			given = append(given, f)
		}
	}
	return strings.Join(given, " ")
}

// withXLAFlag adds a flag to the value of XLA_FLAGS, unless it is there already, with whatever value.
func withXLAFlag(flags, flag, value string) string {
	if strings.Contains(flags, flag) {
		return flags
	}
	return strings.TrimSpace(flags + " " + flag + value)
}

// limitVectors limits XLA and oneDNN to AVX2 on a processor that has AVX-512, each unless the environment names its
// instructions, and returns the name of the widest that may be used. found are those that the processor has ([vectors]).
func limitVectors(found string) string {
	if found != "AVX-512" {
		return found
	}
	flags := withXLAFlag(os.Getenv("XLA_FLAGS"), isaFlag, widest)
	os.Setenv("XLA_FLAGS", flags)
	one := cmp.Or(os.Getenv(isaEnv), os.Getenv(isaOld))
	if one == "" {
		one = widest
		os.Setenv(isaEnv, one)
	}
	if !strings.EqualFold(one, widest) || !slices.Contains(strings.Fields(flags), ownFlag) {
		return found
	}
	return widest
}
