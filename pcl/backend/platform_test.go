package backend

import (
	"path/filepath"
	"strings"
	"testing"
)

// The package index lists a wheel for each platform; each platform's plugin is in its own.
func TestEachPlatformHasItsPlugin(t *testing.T) {
	var index packageIndex
	add := func(name, sum string, size int64) {
		r := release{Filename: name, URL: "https://files.example/" + name, Size: size}
		r.Digests.SHA256 = sum
		if index.Releases == nil {
			index.Releases = map[string][]release{}
		}
		index.Releases["0.0.1"] = append(index.Releases["0.0.1"], r)
	}
	add("xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl", "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9", 49514947)
	add("xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl", "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc", 63461052)
	for platform, word := range map[string]string{"linux/amd64": "x86_64", "linux/arm64": "aarch64"} {
		p := cpuPlugins[platform]
		r, err := p.in(&index)
		if err != nil {
			t.Errorf("%s: %v", platform, err)
			continue
		}
		if !strings.Contains(r.Filename, word) || p.Bytes == 0 || len(p.FileSHA256) != 64 {
			t.Errorf("%s: %s, %+v", platform, r.Filename, p)
		}
	}
	if r, err := cpuPlugins["darwin/arm64"].in(&index); err == nil {
		t.Errorf("darwin/arm64: %v", r)
	}
}

// Where no build is published, XLA can be opened with a file that is named, and not else.
func TestPlatformWithoutPublishedPlugin(t *testing.T) {
	if xlaUnsupported != "" {
		t.Skip(xlaUnsupported)
	}
	before := cpuPlugin
	cpuPlugin = cpuPlugins["darwin/arm64"]
	t.Cleanup(func() { cpuPlugin = before })
	for _, noInstall := range []bool{false, true} {
		if _, err := cpuReady(t.Context(), Options{CacheDir: t.TempDir(), NoInstall: noInstall}); err != errNoBuild {
			t.Errorf("error %v, want %v", err, errNoBuild)
		}
	}
	if _, err := openCPU(t.Context(), Options{Plugin: filepath.Join(t.TempDir(), "none.dylib")}); err == nil || err == errNoBuild {
		t.Errorf("a missing file: error %v", err)
	}
}
