package backend

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
)

// pluginSymbol is the one function that every PJRT plugin exports.
const pluginSymbol = "GetPjrtApi"

// checkPluginFile reads a plugin file without loading it. The dynamic loader runs the initialisers of any
// library and crashes on a truncated one, so the file has to be checked first.
func checkPluginFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("plugin file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("plugin %s is not a file", path)
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("plugin %s is no shared library, or is truncated: %w", path, err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 {
		return fmt.Errorf("plugin %s is for another machine (%s, %s), this one needs %s", path, f.Class, f.Machine, elf.EM_X86_64)
	}
	if f.Type != elf.ET_DYN {
		return fmt.Errorf("plugin %s is no shared library (%s)", path, f.Type)
	}
	for _, p := range f.Progs {
		if p.Filesz > uint64(info.Size()) || p.Off > uint64(info.Size())-p.Filesz {
			return fmt.Errorf("plugin %s is truncated: it has %d bytes, a segment ends at %d", path, info.Size(), p.Off+p.Filesz)
		}
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && (s.FileSize > uint64(info.Size()) || s.Offset > uint64(info.Size())-s.FileSize) {
			return fmt.Errorf("plugin %s is truncated: it has %d bytes, the section %q ends at %d", path, info.Size(), s.Name, s.Offset+s.FileSize)
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
