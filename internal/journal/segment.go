package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// A segment is a file of the journal:
//
//	"PCLJRNL1" · owner · state · covers (uint64) · first (uint64) · CRC of these
//	and for each record: length (uint32) · CRC of it · CRC of the record · record
//
// All numbers are little-endian. The CRCs of a frame also cover the number of the record, so that a
// frame is good only in its place.
type segment struct {
	header
	number  int    // in the name of the file
	records uint64 // that are good
	good    int64  // how many bytes they and the header take
	size    int64  // of the file
	damage  error  // what is wrong behind them; nil if nothing is, or the file ends within a frame
}

type header struct {
	owner, state Sum
	covers       uint64 // the last record that the state has
	first        uint64 // the number of the first record
}

const (
	magic      = "PCLJRNL1"
	headerSize = int64(len(magic) + 2*len(Sum{}) + 8 + 8 + 4)
	frameHead  = 12
	ending     = ".journal"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func (h header) encode() []byte {
	b := slices.Concat([]byte(magic), h.owner[:], h.state[:])
	b = binary.LittleEndian.AppendUint64(b, h.covers)
	b = binary.LittleEndian.AppendUint64(b, h.first)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

func decodeHeader(b []byte) (h header, ok bool) {
	body := b[:len(b)-4]
	if !bytes.HasPrefix(b, []byte(magic)) || binary.LittleEndian.Uint32(b[len(body):]) != checksum(body) {
		return h, false
	}
	body = body[len(magic):]
	body = body[copy(h.owner[:], body):]
	body = body[copy(h.state[:], body):]
	h.covers, h.first = binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])
	return h, true
}

// appendFrame appends the frame of a record.
func appendFrame(b []byte, number uint64, record []byte) []byte {
	n := binary.LittleEndian.AppendUint64(nil, number)
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(record)))
	b = binary.LittleEndian.AppendUint32(append(b, size...), checksum(slices.Concat(n, size)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(checksum(n), castagnoli, record))
	return append(b, record...)
}

// errBad is why a frame is not good although all of its bytes are there.
var errBad = errors.New("its checksum does not match")

// readFrame reads the frame of a record, which has at most so many bytes. At the end of the file
// the error is io.EOF, and within a frame io.ErrUnexpectedEOF.
func readFrame(in io.Reader, number uint64, most int64) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.AppendUint64(nil, number)
	if binary.LittleEndian.Uint32(head[4:]) != checksum(slices.Concat(n, head[:4])) {
		return nil, errBad
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if size > most-frameHead {
		return nil, io.ErrUnexpectedEOF
	}
	record := make([]byte, size)
	if _, err := io.ReadFull(in, record); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if binary.LittleEndian.Uint32(head[8:]) != crc32.Update(checksum(n), castagnoli, record) {
		return nil, errBad
	}
	return record, nil
}

func (s segment) path(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", s.number, ending))
}

// next is the number that follows those of the good records.
func (s segment) next() uint64 { return s.first + s.records }

// torn says whether the file ends within a frame.
func (s segment) torn() bool { return s.good < s.size && s.damage == nil }

// read reads which segments a folder has, the oldest first.
func read(dir string) (all []segment, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // sorted by name
		if IsSegment(e.Name()) {
			n, _ := strconv.Atoi(strings.TrimSuffix(e.Name(), ending))
			s := segment{number: n}
			if err := s.scan(s.path(dir)); err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// scan reads a segment's header, and counts its good records.
func (s *segment) scan(path string) error {
	return s.open(path, func(in *bufio.Reader) error {
		for {
			record, err := readFrame(in, s.next(), s.size-s.good)
			switch {
			case err == nil:
				s.records++
				s.good += frameHead + int64(len(record))
			case err == errBad && !s.zero(path):
				s.damage = fmt.Errorf("%s: record %d, at byte %d: %w", path, s.next(), s.good, err)
				return nil
			case err == errBad, err == io.EOF, err == io.ErrUnexpectedEOF:
				return nil
			default:
				return err
			}
		}
	})
}

// zero says whether all bytes behind the good records are 0, as when power is lost before they are
// written.
func (s *segment) zero(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	rest, err := io.ReadAll(io.NewSectionReader(f, s.good, s.size-s.good))
	return err == nil && len(bytes.Trim(rest, "\x00")) == 0
}

// IsSegment says whether a file of a journal's folder is a segment, by its name.
func IsSegment(name string) bool {
	n, is := strings.CutSuffix(name, ending)
	number, err := strconv.Atoi(n)
	return is && err == nil && segment{number: number}.path("") == name
}

// open reads the header of a segment's file, and has f read what follows.
func (s *segment) open(path string, f func(in *bufio.Reader) error) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	in, head, ok := bufio.NewReaderSize(file, 1<<16), make([]byte, headerSize), false
	if _, err := io.ReadFull(in, head); err == nil {
		s.header, ok = decodeHeader(head)
	}
	if !ok {
		return fmt.Errorf("%w: %s: it does not begin as a segment does", ErrDamaged, path)
	}
	s.size, s.good = info.Size(), headerSize
	return f(in)
}

// covering returns the place of the last segment that begins with a state; -1 if there is none.
func covering(all []segment, state Sum) int {
	for i, s := range slices.Backward(all) {
		if s.state == state {
			return i
		}
	}
	return -1
}

// since returns the segments that an owner needs besides a state, and checks that they have all
// records which the state does not have. Segments without any record do not tell whose they are.
func since(dir string, all []segment, state Sum) ([]segment, error) {
	at := covering(all, state)
	switch empty := !slices.ContainsFunc(all, func(s segment) bool { return s.records > 0 || s.damage != nil }); {
	case at < 0 && empty:
		return nil, nil
	case at < 0:
		return nil, fmt.Errorf("%w: the records in %s do not follow the state that is there: they belong to another "+
			"learner, or the state is not the one that was saved last", ErrOther, dir)
	}
	covers, from := all[at].covers, 0
	for i := 1; i <= at; i++ {
		if all[i].first <= covers+1 {
			from = i
		}
	}
	kept := all[from:]
	if kept[0].first > covers+1 {
		return nil, fmt.Errorf("%w: %s: the records %d to %d are missing", ErrDamaged, dir, covers+1, kept[0].first-1)
	}
	for i := range kept {
		s := &kept[i]
		if i == len(kept)-1 {
			if s.damage != nil {
				return nil, fmt.Errorf("%w: %w; restore a backup or, to give up the records from there on, cut the file "+
					"to %d bytes", ErrDamaged, s.damage, s.good)
			}
			break
		}
		next := kept[i+1].first // what a failed write has left behind these records does not count
		if s.next() < next {
			missing := fmt.Errorf("%s: the records %d to %d are missing", s.path(dir), s.next(), next-1)
			return nil, fmt.Errorf("%w: %w", ErrDamaged, errors.Join(s.damage, missing))
		}
		if next < s.first {
			return nil, fmt.Errorf("%w: %s: it begins with record %d, after record %d",
				ErrDamaged, kept[i+1].path(dir), next, s.first)
		}
		s.records = next - s.first
	}
	return kept, nil
}

// File is an open segment, of which Size bytes are complete.
type File struct {
	*os.File
	Size int64
}

// Files opens the segments that are needed besides a state, also while a [Journal] writes there.
// The caller closes them.
func Files(dir string, state Sum) (files []File, err error) {
	all, err := read(dir)
	if err != nil {
		return nil, err
	}
	kept, err := since(dir, all, state)
	for _, s := range kept {
		f, err := os.Open(s.path(dir))
		if err != nil {
			return files, err
		}
		files = append(files, File{f, s.good})
	}
	return files, err
}

// Each calls f with each record that the state did not have with which the journal was opened, and
// stops at the first error. Call it before anything is appended.
func (j *Journal) Each(f func(number uint64, record []byte) error) error {
	j.writing.Lock()
	all, covered := slices.Clone(j.segments), j.covered
	j.writing.Unlock()
	for _, s := range all {
		want := s.next()
		err := s.open(s.path(j.dir), func(in *bufio.Reader) error {
			for number := s.first; number < want; number++ {
				record, err := readFrame(in, number, s.size)
				if err == nil && number > covered {
					err = f(number, record)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
