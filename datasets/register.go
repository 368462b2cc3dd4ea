package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/internal/origin"
)

// ErrName is matched by the error of a function that was given a name which stands for no set, or has a parameter that
// the set does not take.
var ErrName = errors.New("no such set")

// Spec describes a set of your own, and how it is opened; see [Register].
type Spec struct {
	// Info needs a Name. The command line shows Title, Classes and the size of the samples; with these,
	// an experiment on the set has fitting defaults (package experiment, DefaultConfig).
	Info Info
	// Open returns the set, with its classes, its splits and the size of its samples. What it leaves empty of
	// Name, Title, Source, Licence and Cite is taken from Info. It may be called several times, from any goroutine.
	Open func(ctx context.Context, o Options) (*Dataset, error)
	// SHA256, if set, returns a checksum of what Open reads, as Open itself writes it to [Dataset].SHA256. With it, a run
	// that is resumed after the files changed is refused, and a grid's cells are named by it.
	SHA256 func(ctx context.Context, o Options) (string, error)
}

var registry = struct {
	sync.RWMutex
	sets map[string]*entry
}{sets: map[string]*entry{}}

// Register makes a set known under the name spec.Info.Name to [Open], [List], the command line, notebooks and grids.
// It may be called from any goroutine, though mostly a program calls it first of all. It panics if the name is empty,
// has other characters than letters, digits, ".", "_" and "-", or is taken, or if there is no Open.
func Register(spec Spec) {
	name := spec.Info.Name
	if name == "" || spec.Open == nil {
		panic("datasets: Register needs a name and a function that opens the set")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		panic(fmt.Sprintf("datasets: the name %q has other characters than letters, digits, \".\", \"_\" and \"-\"", name))
	}
	registry.Lock()
	defer registry.Unlock()
	_, taken := registry.sets[name]
	taken = taken || slices.ContainsFunc(catalog, func(e entry) bool { return e.Name == name })
	if !origin.MayRegister("data set", name, taken) {
		panic(fmt.Sprintf("datasets: %q is registered twice", name))
	}
	registry.sets[name] = spec.entry()
}

// plain reports whether a rune can stand in a registered name, and so in that of a folder.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
}

func (s Spec) entry() *entry {
	e := &entry{Info: s.Info, open: s.openInto}
	if s.SHA256 != nil {
		e.survey = func(ctx context.Context, o Options) (info Info, err error) {
			info = e.info()
			info.SHA256, err = s.SHA256(ctx, o)
			return info, err
		}
	}
	return e
}

// openInto fills d, which has what Info says of the set.
func (s Spec) openInto(ctx context.Context, d *Dataset, o Options) error {
	own, err := s.Open(ctx, o)
	if err != nil {
		return err
	}
	if own == nil {
		return errors.New("its Open returned no set")
	}
	was := *d
	*d = *own
	d.Name = was.Name
	d.Title = cmp.Or(d.Title, was.Title, was.Name)
	d.Source, d.Licence, d.Cite = cmp.Or(d.Source, was.Source), cmp.Or(d.Licence, was.Licence), cmp.Or(d.Cite, was.Cite)
	if err := s.promised(d); err != nil {
		return err
	}
	if d.SHA256 == "" && s.SHA256 != nil {
		d.SHA256, err = s.SHA256(ctx, o)
	}
	return err
}

// promised returns an error if the set is not what Info says of it.
func (s Spec) promised(d *Dataset) error {
	for _, x := range []struct {
		what        string
		said, found int
	}{
		{"classes", s.Info.Classes, len(d.Classes)}, {"rows of pixels", s.Info.Height, d.Height}, {"columns of pixels", s.Info.Width, d.Width}, {"channels", s.Info.Channels, d.Channels},
	} {
		if x.said != 0 && x.said != x.found {
			return fmt.Errorf("its Info says %d %s, and its Open returned %d", x.said, x.what, x.found)
		}
	}
	return nil
}

// known returns the sets of the catalogue and then those that were registered, by name.
func known() []*entry {
	var all []*entry
	for i := range catalog {
		all = append(all, &catalog[i])
	}
	registry.RLock()
	defer registry.RUnlock()
	var own []*entry
	for _, e := range registry.sets {
		own = append(own, e)
	}
	slices.SortFunc(own, func(a, b *entry) int { return strings.Compare(a.Name, b.Name) })
	return append(all, own...)
}

// find returns the set of that name, or the one that is made of the files that the name says.
func find(name string) (*entry, error) {
	var names []string
	for _, e := range known() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	if e, err := ownFiles(name); e != nil || err != nil {
		return e, err
	}
	return nil, &nameError{fmt.Sprintf("no set is called %q: the names are %s; files of your own are %s", name, strings.Join(names, ", "), strings.Join(schemes(), ", "))}
}

// nameError is an [ErrName] that says what is wrong with the name.
type nameError struct{ text string }

func (e *nameError) Error() string        { return "datasets: " + e.text }
func (e *nameError) Is(target error) bool { return target == ErrName }
