package build

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"debug/gosym"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const (
	stubName    = "stub"
	stubLibrary = "libstub.a" // which the C linker is asked to take along, and is empty
	// internalABI ends the names of functions of Go in a shared library. The host has none of its
	// own.
	internalABI = ".abiinternal"
	otherABI    = ".abi0" // ends the name of a function with the calls of assembly, if it has both
)

// assembled are the host's functions in assembly that only assembly can call. Of its own the
// runtime has others.
func assembled(program string) (list []string, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.Section(".gopclntab").Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, f.Section(".text").Addr))
	if err != nil {
		return nil, err
	}
	for _, fn := range table.Funcs {
		pkg := fn.PackageName()
		own := pkg == "runtime" || strings.HasPrefix(pkg, "internal/runtime/") || pkg == "internal/bytealg"
		if file, _, _ := table.PCToLine(fn.Entry); strings.HasSuffix(file, ".s") && !own {
			list = append(list, fn.Name)
		}
	}
	return list, nil
}

// program is a host's program, whose symbols are found by the table that it has for the dynamic
// linker.
type program struct {
	*elf.File
	hash           []uint32
	symbols, names []byte
}

func openProgram(file string) (p *program, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	p = &program{File: f}
	var parts [3][]byte
	for i, name := range []string{".gnu.hash", ".dynsym", ".dynstr"} {
		s := f.Section(name)
		if s == nil {
			return nil, errors.Join(fmt.Errorf("%s: no %s", file, name), f.Close())
		}
		if parts[i], err = s.Data(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	p.hash, p.symbols, p.names = make([]uint32, len(parts[0])/4), parts[1], parts[2]
	_, err = binary.Decode(parts[0], f.ByteOrder, p.hash)
	return p, err
}

// find finds a symbol that the program has.
func (p *program) find(name string) (s elf.Sym64, ok bool) {
	hash := uint32(5381)
	for _, c := range []byte(name) {
		hash = hash*33 + uint32(c)
	}
	buckets, first, bloom := p.hash[0], p.hash[1], p.hash[2]
	table := p.hash[4+2*bloom:]
	chains := table[buckets:]
	for i := table[hash%buckets]; i >= first; i++ {
		if chains[i-first]|1 == hash|1 {
			binary.Decode(p.symbols[i*elf.Sym64Size:], p.ByteOrder, &s)
			end := int(s.Name) + len(name)
			if s.Shndx != 0 && end < len(p.names) && string(p.names[s.Name:end]) == name && p.names[end] == 0 {
				return s, true
			}
		}
		if chains[i-first]&1 == 1 {
			break
		}
	}
	return s, false
}

// reference is a symbol that an archive mentions.
type reference struct {
	name     string
	internal bool // by the calls of Go
}

// packageOf is the path of the package that has a symbol.
func packageOf(symbol string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(symbol, "type:"), "*"), "[")
	begin := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[begin:], ".")
	path, _ := url.PathUnescape(name[:begin] + last) // no package has a path that is no such escape
	return path
}

// references lists what an archive of Go mentions of other packages, in Go and in assembly.
func references(file string) (list []reference, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := false
	// bytes before the first member, of a member's header, and in it before its size
	const first, header, sizeAt = 8, 60, 48
	for at := first; at+header <= len(data); {
		size, err := strconv.Atoi(strings.TrimSpace(string(data[at+sizeAt : at+header-2])))
		begin := at + header
		if err != nil || size < 0 || begin+size > len(data) {
			return nil, fmt.Errorf("%s is no archive", file)
		}
		_, object, _ := bytes.Cut(data[begin:begin+size], []byte("\n!\n")) // of Go, behind a text
		if bytes.HasPrefix(object, []byte(objectMagic)) {
			list, found = append(list, mentionedIn(object)...), true
		}
		at = begin + size + size%2
	}
	if !found {
		return nil, fmt.Errorf("%s: an archive of another Go", file)
	}
	return list, nil
}

const objectMagic = "\x00go120ld"

// mentionedIn lists what an object mentions. Package goobj, which is the compiler's own, says what
// it consists of.
func mentionedIn(object []byte) (list []reference) {
	const block, symbol = 7, 21 // of the references, and the size of each
	const offsets = len(objectMagic) + 8 + 4
	number := func(at int) int { return int(binary.LittleEndian.Uint32(object[at:])) }
	for i := number(offsets + 4*block); i < number(offsets+4*(block+1)); i += symbol {
		begin := number(i + 4)
		abi := binary.LittleEndian.Uint16(object[i+8:])
		list = append(list, reference{string(object[begin : begin+number(i)]), abi == 1})
	}
	return list
}

// shortened is the name that the linker gives a descriptor of a type; see its typeSymbolMangle.
func shortened(name string) string {
	of, isType := strings.CutPrefix(name, "type:")
	if !isType || len(name) <= 14 || strings.HasPrefix(of, "runtime.") {
		return name
	}
	hash, prefix := sha256.Sum256([]byte(of)), "type:"
	hash[0] ^= 0xff // as its package hash does
	if of[0] == '.' {
		prefix = "type:."
	}
	return prefix + base64.StdEncoding.EncodeToString(hash[:6])
}

// linkersOwn are symbols that the linker asks for by itself.
var linkersOwn = []reference{{"main.addmoduledata", false}, {"runtime.lastmoduledatap", false},
	{"type:runtime.moduledata", false}, {"runtime.zerobase", false}, {"runtime.morestack", false},
	{"runtime.deferreturn", true}, {"runtime.unreachableMethod", true}}

// stub writes the stub for an archive into its folder. It returns the packages that are linked
// beside it from their own archives, since the host lacks something of them that is mentioned.
func (c *Cells) stub(archive string) (linked map[string]bool, err error) {
	p, err := openProgram(c.Program)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := stub{order: p.ByteOrder, names: []byte{0}, types: p.Section(".rodata")}
	s.add("", elf.Sym64{})
	s.add("runtime.mapinitnoop"+internalABI, elf.Sym64{Info: byte(elf.STT_FUNC)}) // it insists, but needs it for no cell
	exports, known := map[string]string{}, map[reference]bool{}
	for i, one := range c.packages {
		exports[one.Path] = one.Export
		known[reference{one.Path + "..inittask", false}] = i < len(c.Host.Packages) // the host has begun with that
	}
	linked = map[string]bool{}
	for archives := []string{archive}; len(archives) > 0; archives = archives[1:] {
		list, err := references(archives[0])
		if err != nil {
			return nil, err
		}
		for _, r := range append(list, linkersOwn...) {
			if known[r] {
				continue
			}
			known[r] = true
			of := packageOf(r.name)
			if has := s.mention(p, r, c.Assembled); !has && exports[of] != "" && !linked[of] {
				linked[of] = true
				archives = append(archives, exports[of])
			}
		}
	}
	if err := os.WriteFile(filepath.Join(c.dir, stubLibrary), []byte("!<arch>\n"), 0o600); err != nil {
		return nil, err
	}
	return linked, s.write(filepath.Join(c.dir, stubName), p.Machine)
}

// stub is what becomes the file.
type stub struct {
	order   binary.ByteOrder
	symbols bytes.Buffer
	names   []byte
	types   *elf.Section // of the host, where descriptors of types are
	pieces  []piece      // of it that the linker reads
}

type piece struct{ begin, size uint64 }

func (s *stub) add(name string, symbol elf.Sym64) {
	symbol.Name = uint32(len(s.names))
	binary.Write(&s.symbols, s.order, symbol)
	s.names = append(append(s.names, name...), 0)
}

// mention adds a symbol as the host has it, if it does.
func (s *stub) mention(p *program, r reference, assembled []string) (has bool) {
	name := shortened(r.name)
	found, ok := p.find(name)
	other, both := p.find(name + otherABI)
	isFunc := elf.ST_TYPE(found.Info) == elf.STT_FUNC
	found.Shndx = 0
	switch isType := strings.HasPrefix(name, "type:"); {
	case both && !r.internal:
		other.Shndx = 0
		s.add(name+otherABI, other)
	case !ok, r.internal && !both && slices.Contains(assembled, name):
		return false
	case isFunc && r.internal && !isType:
		s.add(name+internalABI, found)
	case isType && !isFunc && found.Value >= s.types.Addr && found.Value+found.Size <= s.types.Addr+s.types.Size:
		found.Shndx = 1
		s.pieces = append(s.pieces, piece{found.Value, found.Size})
		fallthrough
	default:
		s.add(name, found)
	}
	return true
}

// write writes a shared library of the symbols and of one section with descriptors of types.
func (s *stub) write(file string, machine elf.Machine) error {
	const names = "\x00.types\x00.dynsym\x00.dynstr\x00.rela.dyn\x00.shstrtab\x00"
	const head = 64
	sections := []elf.Section64{{}}
	var b bytes.Buffer
	b.Write(make([]byte, head))
	add := func(name string, kind elf.SectionType, data []byte, h elf.Section64) {
		h.Name, h.Type, h.Off = uint32(strings.Index(names, name)), uint32(kind), uint64(b.Len())
		h.Size = max(h.Size, uint64(len(data)))
		sections = append(sections, h)
		b.Write(data)
		b.Write(make([]byte, -b.Len()&7))
	}
	add(".types", elf.SHT_PROGBITS, nil, elf.Section64{Addr: s.types.Addr, Size: s.types.Size})
	add(".dynsym", elf.SHT_DYNSYM, s.symbols.Bytes(), elf.Section64{Link: 3, Entsize: elf.Sym64Size})
	add(".dynstr", elf.SHT_STRTAB, s.names, elf.Section64{})
	add(".rela.dyn", elf.SHT_RELA, nil, elf.Section64{Link: 2, Entsize: 24})
	add(".shstrtab", elf.SHT_STRTAB, []byte(names), elf.Section64{})
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Shoff: uint64(b.Len()), Ehsize: head,
		Shentsize: head, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1)}
	copy(h.Ident[:], elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1}))
	at := uint64(b.Len() + len(sections)*head) // the types, of which most are a hole in the file
	sections[1].Off = at
	binary.Write(&b, s.order, sections)
	if _, err := binary.Encode(b.Bytes(), s.order, h); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	for _, p := range s.pieces {
		if err := s.copy(f, int64(at), p); err != nil {
			return err
		}
	}
	return f.Truncate(int64(at + s.types.Size))
}

// copy copies the descriptor of a type, and the mask of its pointers. For the linker the type is
// one pointer: of structs and arrays it would look for the types of the parts, and not at the mask.
func (s *stub) copy(to *os.File, at int64, p piece) error {
	data, err := s.read(p)
	if err != nil || len(data) < 40 {
		return err
	}
	data[23] = byte(reflect.UnsafePointer) // as package internal/abi lays it out
	if err := s.put(to, at, p, data); err != nil {
		return err
	}
	pointers, mask := s.order.Uint64(data[8:])/8, s.order.Uint64(data[32:])
	m := piece{mask, (pointers + 7) / 8}
	if m.begin < s.types.Addr || m.begin+m.size > s.types.Addr+s.types.Size {
		return nil
	}
	if data, err = s.read(m); err != nil {
		return err
	}
	return s.put(to, at, m, data)
}

func (s *stub) read(p piece) ([]byte, error) {
	data := make([]byte, p.size)
	_, err := s.types.ReadAt(data, int64(p.begin-s.types.Addr))
	return data, err
}

func (s *stub) put(to *os.File, at int64, p piece, data []byte) error {
	_, err := to.WriteAt(data, at+int64(p.begin-s.types.Addr))
	return err
}

// nameAsHost has a plugin call functions as the host does.
func nameAsHost(plugin string) error {
	data, err := os.ReadFile(plugin)
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	names := f.Section(".dynstr")
	text := data[names.Offset : names.Offset+names.Size]
	const end = internalABI + "\x00"
	copy(text, bytes.ReplaceAll(text, []byte(end), make([]byte, len(end))))
	return os.WriteFile(plugin, data, 0o700)
}
