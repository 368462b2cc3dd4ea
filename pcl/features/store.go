package features

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/filelock"
)

// A store is a folder with the codes of pictures, for one backbone and size. Its files are written
// once, under a name that follows from what is in them, so that any number of processes may read
// and add to it. A file is a list of entries. Damaged or missing entries of a file cost only
// themselves: their features are computed again. Entries that were copied from the folder of
// another backbone or size count as damaged.
type store struct {
	dir   string
	width int // how many codes a picture has
}

// key is the SHA-256 of a picture's size and pixels.
type key [sha256.Size]byte

// entrySize is the length of an entry: the key, the codes, and the checksum of the folder's name
// and of both.
func (s store) entrySize() int { return sha256.Size + s.width + 4 }

// fileEnding ends the names of the files with entries.
const fileEnding = ".features"

// mostEntries is how many entries go into a file: 2.7 MB.
const mostEntries = 2048

func keyOf(p Pictures, i int) (k key) {
	h := sha256.New()
	fmt.Fprintf(h, "%d×%d×%d\n", p.Height, p.Width, p.Channels)
	h.Write(p.of(i))
	h.Sum(k[:0])
	return k
}

func (s store) files() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fileEnding) {
			names = append(names, filepath.Join(s.dir, e.Name()))
		}
	}
	return names, err
}

// entries calls do with each entry of a file that is as it was written there, and returns how many
// bytes are not.
func (s store) entries(path string, do func(k key, entry []byte)) (damaged int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for entry := range slices.Chunk(data, s.entrySize()) {
		if len(entry) < s.entrySize() || !bytes.Equal(entry, s.entryOf(key(entry), s.codesIn(entry))) {
			damaged += len(entry)
			continue
		}
		do(key(entry), entry)
	}
	return damaged, nil
}

func (s store) codesIn(entry []byte) []uint8 { return entry[sha256.Size : sha256.Size+s.width] }

// find calls found with the codes of those keys that the store has. The codes are valid during the
// call.
func (s store) find(wanted func(key) bool, found func(k key, codes []uint8)) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, path := range files {
		_, err := s.entries(path, func(k key, entry []byte) {
			if wanted(k) {
				found(k, s.codesIn(entry))
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have deleted it
			return fmt.Errorf("features: %w", err)
		}
	}
	return nil
}

func (s store) entryOf(k key, codes []uint8) []byte {
	entry := append(k[:], codes...)
	where := crc32.ChecksumIEEE([]byte(filepath.Base(s.dir)))
	return binary.LittleEndian.AppendUint32(entry, crc32.Update(where, crc32.IEEETable, entry))
}

// path is that of a file with such entries.
func (s store) path(data []byte) string {
	sum := sha256.Sum256(data)
	return filepath.Join(s.dir, hex.EncodeToString(sum[:12])+fileEnding)
}

// write adds a file with entries.
func (s store) write(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	err := atomicfile.Write(s.path(data), func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return nil
}

// lock lets one process at a time add to the store.
func (s store) lock(ctx context.Context, waiting func()) (func(), error) {
	return filelock.Wait(ctx, filepath.Join(s.dir, ".lock"), waiting)
}

// drop removes entries, and all that is damaged, since its pictures are not known. It returns how
// many whole entries it removed.
func (s store) drop(ctx context.Context, which func(key) bool) (n int, err error) {
	unlock, err := s.lock(ctx, func() {})
	if err != nil {
		return 0, err
	}
	defer unlock()
	files, err := s.files()
	if err != nil {
		return 0, err
	}
	for _, path := range files {
		var kept []byte
		before := n
		damaged, err := s.entries(path, func(k key, entry []byte) {
			if which(k) {
				n++
			} else {
				kept = append(kept, entry...)
			}
		})
		if err != nil {
			return n, err
		}
		if n == before && damaged == 0 {
			continue
		}
		if err = s.write(kept); err == nil && s.path(kept) != path {
			err = os.Remove(path)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
