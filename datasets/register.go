package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/names"
)

// ErrName is matched by the error of a function that was given a name which stands for no set, or
// has a parameter that the set does not take.
var ErrName = errors.New("no such set")

// Spec describes a set of your own, and how it is opened; see [Register].
type Spec struct {
	// Info needs a Name. The command line shows Title, Classes and the size of the samples; with
	// these, an experiment on the set has fitting defaults (package experiment, DefaultConfig).
	Info Info
	// Open returns the set, with its classes, its splits and the size of its samples. Name, Title,
	// Source, Licence and Cite are taken from Info where Open leaves them empty. It may be called
	// several times, from any goroutine.
	Open func(ctx context.Context, o Options) (*Dataset, error)
	// SHA256, if set, returns a checksum of what Open reads, as Open itself writes it to
	// [Dataset].SHA256. With it, a run that is resumed after the files changed is refused, and a
	// grid's cells are named by it.
	SHA256 func(ctx context.Context, o Options) (string, error)
}

var registry = names.Registry[*entry]{Kind: "data set"}

// Register makes a set known under the name spec.Info.Name to [Open], [List], the command line,
// notebooks and grids. It may be called from any goroutine, though mostly a program calls it first
// of all. It panics if the name is empty, has other characters than letters, digits, ".", "_" and
// "-", or is taken, or if there is no Open.
func Register(spec Spec) {
	name := spec.Info.Name
	if name == "" || spec.Open == nil {
		panic("datasets: Register needs a name and a function that opens the set")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		panic(fmt.Sprintf("datasets: the name %q has other characters than letters, digits, \".\", \"_\" and \"-\"", name))
	}
	if Catalogued(name) {
		panic(fmt.Sprintf("datasets: %q is a set of the catalogue", name))
	}
	registry.Add(name, spec.entry())
}

// plain reports whether a rune can stand in a registered name, and so in that of a folder.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
}

// registered is the source of a set that a program has registered.
type registered struct {
	withoutFiles
	Spec
	options Options
}

func (s Spec) entry() *entry {
	return &entry{Info: s.Info, source: func(o Options) source { return registered{Spec: s, options: o} }}
}

func (s registered) survey(ctx context.Context, i *Info) (err error) {
	if s.SHA256 != nil {
		i.SHA256, err = s.SHA256(ctx, s.options)
	}
	return err
}

// open fills d, which has what Info says of the set.
func (s registered) open(ctx context.Context, d *Dataset) (*samples, error) {
	own, err := s.Open(ctx, s.options)
	if err != nil {
		return nil, err
	}
	if own == nil {
		return nil, errors.New("its Open returned no set")
	}
	i := s.Info
	for _, x := range []struct {
		what        string
		said, found int
	}{
		{"classes", i.Classes, len(own.Classes)}, {"channels", i.Channels, own.Channels},
		{"rows of pixels", i.Height, own.Height}, {"columns of pixels", i.Width, own.Width},
	} {
		if x.said != 0 && x.said != x.found {
			return nil, fmt.Errorf("its Info says %d %s, and its Open returned %d", x.said, x.what, x.found)
		}
	}
	if err := cmp.Or(own.validate(), checkClasses(own.Classes)); err != nil { // before anything is asked of its samples
		return nil, err
	}
	*d = *own
	d.Name, d.Title = i.Name, cmp.Or(d.Title, i.Title, i.Name)
	d.Source, d.Licence, d.Cite = cmp.Or(d.Source, i.Source), cmp.Or(d.Licence, i.Licence), cmp.Or(d.Cite, i.Cite)
	if d.SHA256 == "" {
		if err := s.survey(ctx, &i); err != nil {
			return nil, err
		}
		d.SHA256 = i.SHA256
	}
	return &samples{train: d.Train.part("training sample"), test: d.Test.part("test sample"), normalise: asTheyAre}, nil
}

// part returns the samples of a split, which messages call by a name and their number.
func (s *Split) part(name string) part {
	sample := func(i int) string { return fmt.Sprintf("%s %d", name, i) }
	return part{values{s.Pixels, numbers{single: s.Values}, sample}, s.Labels}
}

// known returns the sets of the catalogue and then those that were registered, by name.
func known() []*entry {
	var all []*entry
	for i := range catalog {
		all = append(all, &catalog[i])
	}
	there := registry.All()
	for _, name := range slices.Sorted(maps.Keys(there)) {
		all = append(all, there[name])
	}
	return all
}

// lookup returns the set that has that name in the catalogue or was registered with it, or nil.
func lookup(name string) *entry {
	all := known()
	if i := slices.IndexFunc(all, func(e *entry) bool { return e.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Catalogued reports whether a set is in the built-in catalogue, as opposed to user files and sets
// that a program registered.
func Catalogued(name string) bool {
	return slices.ContainsFunc(catalog, func(e entry) bool { return e.Name == name })
}

// find returns the set of that name, or the one that is made of the files that the name says.
func find(name string) (*entry, error) {
	if e := lookup(name); e != nil {
		return e, nil
	}
	if e, err := ownFiles(name); e != nil || err != nil {
		return e, err
	}
	var names []string
	for _, e := range known() {
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("%w: %q; want one of %s, or for files of "+
		"your own %s", ErrName, name, strings.Join(names, ", "), strings.Join(schemes(), ", "))
}
