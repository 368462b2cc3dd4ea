package serve

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/journal"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl"
)

// A backup is a zip archive with these members, and the segments of the journal behind a folder's
// name.
const (
	backupState   = "state"
	backupIDs     = "ids"
	backupJournal = "journal/"
)

// Backup writes a file that [Restore] reads, with all that a service has acknowledged:
// Options.File, the file of ids, and what Options.Journal has behind it. The service may run
// meanwhile, also in another process; without a journal the backup is as old as its last save. The
// other options do not matter.
func Backup(o Options, to string) error {
	for tries := 0; ; tries++ {
		switch err := backup(o, to); {
		case err == nil:
			return nil
		// the service has just saved
		case tries < 100 && (errors.Is(err, journal.ErrOther) || errors.Is(err, fs.ErrNotExist) ||
			errors.Is(err, errReplaced)):
			time.Sleep(time.Second / 100)
		default:
			return fmt.Errorf("serve: backup: %w", err)
		}
	}
}

var errReplaced = errors.New("the file is replaced again and again")

// member is what a backup has of a file.
type member struct {
	name string
	from *os.File
	size int64
}

func backup(o Options, to string) error {
	var all []member
	defer func() {
		for _, m := range all {
			m.from.Close()
		}
	}()
	sum, err := stateMember(o.File, &all)
	if err != nil {
		return err
	}
	if o.Journal != "" {
		segments, err := journal.Files(o.Journal, sum)
		for _, s := range segments {
			all = append(all, member{backupJournal + filepath.Base(s.Name()), s.File, s.Size})
		}
		if err != nil {
			return err
		}
	}
	if ids, err := regular.Open(idsFile(o.File)); err == nil { // last, since ids only grow
		all = append(all, member{backupIDs, ids, 64})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s is not there, and neither is a journal", o.File)
	}
	return atomicfile.Write(to, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, m := range all {
			in, err := z.Create(m.name)
			if err == nil {
				_, err = io.Copy(in, io.LimitReader(m.from, m.size))
			}
			if err != nil {
				return err
			}
		}
		return z.Close()
	})
}

// stateMember adds the file of a service, if there is one, and says which state it has.
func stateMember(file string, all *[]member) (sum journal.Sum, err error) {
	from, err := regular.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err != nil {
		return sum, err
	}
	*all = append(*all, member{backupState, from, 1 << 62})
	state, err := pcl.LoadState(file)
	if err != nil {
		return sum, err
	}
	opened, err := from.Stat()
	if err != nil {
		return sum, err
	}
	if now, err := os.Stat(file); err != nil || !os.SameFile(opened, now) { // a file that is there is never changed
		return sum, errReplaced
	}
	return sumOf(state), nil
}

// Restore writes what [Backup] wrote to Options.File and Options.Journal, from which [New] goes on.
// Nothing may be there yet.
func Restore(from string, o Options) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("serve: restore %s: %w", from, err)
		}
	}()
	z, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer z.Close()
	var written []string
	defer func() {
		for i := 0; err != nil && i < len(written); i++ {
			os.Remove(written[i])
		}
	}()
	var state *zip.File
	for _, m := range z.File {
		to, err := placeOf(m.Name, o)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s is there already: remove it, or restore elsewhere", to), err)
		}
		if m.Name == backupState { // last: without it, the journal is of nothing
			state = m
			continue
		}
		written = append(written, to)
		if err := unpack(m, to); err != nil {
			return err
		}
	}
	if state == nil {
		return nil
	}
	return unpack(state, o.File)
}

// placeOf says where a member of a backup belongs.
func placeOf(name string, o Options) (string, error) {
	segment, isSegment := strings.CutPrefix(name, backupJournal)
	switch {
	case name == backupState:
		return o.File, nil
	case name == backupIDs:
		return idsFile(o.File), nil
	case !isSegment || !journal.IsSegment(segment):
		return "", fmt.Errorf("this is no backup of a service: it has %.40q", name)
	case o.Journal == "":
		return "", errors.New("the backup has a journal: name a folder for it in Options.Journal")
	}
	return filepath.Join(o.Journal, segment), nil
}

func unpack(m *zip.File, to string) error {
	in, err := m.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, in) // which checks its checksum
		return err
	})
}
