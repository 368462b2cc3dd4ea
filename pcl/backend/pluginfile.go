package backend

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// pluginSymbol is the one function that every PJRT plugin exports.
const pluginSymbol = "GetPjrtApi"

// checkPluginFile reads a plugin file without loading it. The dynamic loader runs the initialisers of any
// library and crashes on a truncated one, so the file has to be checked first.
func checkPluginFile(path string) error {
	return checkPluginFileFor(runtime.GOOS, runtime.GOARCH, path)
}

// checkPluginFileFor is checkPluginFile on a system and a processor.
func checkPluginFileFor(system, processor, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("plugin file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("plugin %s is not a file", path)
	}
	if system == "darwin" {
		return checkMachO(path)
	}
	return checkELF(processor, path, info.Size())
}

// elfMachines are the processors that plugins are built for, by Go's names.
var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkELF looks at a shared library of Linux.
func checkELF(processor, path string, size int64) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("plugin %s is no shared library, or is truncated: %w", path, err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != elfMachines[processor] {
		return fmt.Errorf("plugin %s is for another machine (%s, %s), this one needs %s", path, f.Class, f.Machine, elfMachines[processor])
	}
	if f.Type != elf.ET_DYN {
		return fmt.Errorf("plugin %s is no shared library (%s)", path, f.Type)
	}
	for _, p := range f.Progs {
		if p.Filesz > uint64(size) || p.Off > uint64(size)-p.Filesz {
			return fmt.Errorf("plugin %s is truncated: it has %d bytes, a segment ends at %d", path, size, p.Off+p.Filesz)
		}
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && (s.FileSize > uint64(size) || s.Offset > uint64(size)-s.FileSize) {
			return fmt.Errorf("plugin %s is truncated: it has %d bytes, the section %q ends at %d", path, size, s.Name, s.Offset+s.FileSize)
		}
	}
	return checkPluginSymbol(f, path)
}

// checkPluginSymbol checks for the function that makes a shared library a PJRT plugin. A file without section
// headers cannot be checked; that is left to the loader.
func checkPluginSymbol(f *elf.File, path string) error {
	symbols, err := f.DynamicSymbols()
	if err != nil && !(errors.Is(err, elf.ErrNoSymbols) && len(f.Sections) == 0) {
		return fmt.Errorf("plugin %s: %w", path, err)
	}
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		if s.Name == pluginSymbol && s.Section != elf.SHN_UNDEF {
			return nil
		}
	}
	return fmt.Errorf("plugin %s is a shared library, but no PJRT plugin: it exports no %s", path, pluginSymbol)
}

// checkMachO looks at a shared library of macOS on ARM.
func checkMachO(path string) error {
	f, err := macho.Open(path)
	if err != nil {
		return fmt.Errorf("plugin %s is no shared library for one machine, or is truncated: %w", path, err)
	}
	defer f.Close()
	if f.Cpu != macho.CpuArm64 {
		return fmt.Errorf("plugin %s is for another machine (%s), this one needs %s", path, f.Cpu, macho.CpuArm64)
	}
	if f.Type != macho.TypeDylib && f.Type != macho.TypeBundle {
		return fmt.Errorf("plugin %s is no shared library (%s)", path, f.Type)
	}
	if f.Symtab == nil {
		return nil // the loader will be asked
	}
	for _, s := range f.Symtab.Syms {
		if s.Name == "_"+pluginSymbol && s.Sect != 0 {
			return nil
		}
	}
	return fmt.Errorf("plugin %s is a shared library, but no PJRT plugin: it exports no %s", path, pluginSymbol)
}
