package backend

import (
	"bytes"
	"encoding/binary"
	"os"
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
	elsewhere := cpuPlugins["linux/arm64"]
	elsewhere.Platform = "darwin/arm64"
	if r, err := elsewhere.in(&index); err == nil || !strings.Contains(err.Error(), "darwin/arm64") {
		t.Errorf("darwin/arm64: %v, error %v", r, err)
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
	if _, err := cpuReady(t.Context(), Options{Plugin: filepath.Join(t.TempDir(), "none.dylib")}); err == nil || err == errNoBuild {
		t.Errorf("a missing file: error %v", err)
	}
}

// machO is a library of macOS with one symbol.
func machO(cpu, kind uint32, symbol string, section uint8) []byte {
	const header, command, entry = 32, 24, 16
	names := append([]byte{0}, symbol...)
	names = append(names, 0)
	var b bytes.Buffer
	for _, v := range []uint32{
		0xfeedfacf, cpu, 0, kind, 1, command, 0, 0,
		2 /* LC_SYMTAB */, command, header + command, 1, header + command + entry, uint32(len(names)),
		1, // the name's place
	} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.Write([]byte{1 /* external */, section, 0, 0})
	b.Write(make([]byte, 8))
	b.Write(names)
	return b.Bytes()
}

func TestPluginFilesOfMacOS(t *testing.T) {
	const arm, intel, dylib, executable = 0x0100000c, 0x01000007, 6, 2
	whole := machO(arm, dylib, "_GetPjrtApi", 1)
	for name, c := range map[string]struct {
		file []byte
		want string // in the error; empty: none
	}{
		"a plugin":             {whole, ""},
		"for Intel":            {machO(intel, dylib, "_GetPjrtApi", 1), "another machine"},
		"an executable":        {machO(arm, executable, "_GetPjrtApi", 1), "no shared library"},
		"another library":      {machO(arm, dylib, "_Other", 1), "no PJRT plugin"},
		"imports the function": {machO(arm, dylib, "_GetPjrtApi", 0), "no PJRT plugin"},
		"half of one":          {whole[:40], "truncated"},
		"text":                 {[]byte("#!/bin/sh\n"), "no shared library"},
	} {
		file := filepath.Join(t.TempDir(), "plugin.dylib")
		if err := os.WriteFile(file, c.file, 0o644); err != nil {
			t.Fatal(err)
		}
		err := checkPluginFileFor("darwin", "arm64", file)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file)) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
}

// A library of Linux is for one processor.
func TestPluginFilesOfEachProcessor(t *testing.T) {
	lib := sharedLibrary(t)
	if lib == nil {
		t.Skip("no system library to look at")
	}
	file := filepath.Join(t.TempDir(), "plugin.so")
	if err := os.WriteFile(file, lib, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := checkPluginFileFor("linux", "arm64", file); err == nil || !strings.Contains(err.Error(), "needs EM_AARCH64") {
		t.Errorf("on ARM: error %v", err)
	}
	if err := checkPluginFileFor("linux", "amd64", file); err == nil || !strings.Contains(err.Error(), "no PJRT plugin") {
		t.Errorf("on x86-64: error %v", err)
	}
}
