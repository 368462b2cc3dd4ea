package backend

import (
	"regexp"
	"runtime"
)

// thisPlatform is what the program was built for.
const thisPlatform = runtime.GOOS + "/" + runtime.GOARCH

// The names of Python wheels that run on a platform.
var (
	linuxAMD64 = regexp.MustCompile(`-manylinux.*x86_64\.whl$`)
	linuxARM64 = regexp.MustCompile(`-manylinux.*aarch64\.whl$`)
)

// cpuPlugins are the XLA CPU plugins by platform: OpenXLA's official builds. The tests of this library run
// with that for linux/amd64.
var cpuPlugins = map[string]plugin{
	"linux/amd64": {
		wheel:      wheel{"xla-cpu-pjrt", "0.0.1", linuxAMD64, "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc"},
		File:       "xla_cpu_pjrt.so",
		Bytes:      259284552,
		FileSHA256: "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
	},
	"linux/arm64": {
		wheel:      wheel{"xla-cpu-pjrt", "0.0.1", linuxARM64, "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9"},
		File:       "xla_cpu_pjrt.so",
		Bytes:      200328224,
		FileSHA256: "fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d",
	},
}

// cpuPlugin is the one for this machine; it has no name where there is none.
var cpuPlugin = cpuPlugins[thisPlatform]
