package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/alike"
	"github.com/parallelcl/parallelcl/internal/plural"
)

// A branch is a folder, with all that is in it but what systems leave behind.
type branch struct {
	path, name string
	folders    []*branch
	files      []pictureFile // of any kind; their class is not known yet
}

// systemFolders are folders in which systems keep what was removed, thumbnails and so on, in small
// letters.
var systemFolders = []string{
	"$recycle.bin", "recycler", "recycled", "#recycle", "@recycle", "@eadir", "#snapshot", "@snapshot", "~snapshot",
	"@tmp", "@sharebin", "@recently-snapshot", "__macosx", "__pycache__", "lost+found", "lost.dir", "found.000",
	"thevolumesettingsfolder", "system volume information", "network trash folder", "temporary items",
}

var systemFiles = []string{"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r"}

// A lister lists folders.
type lister struct {
	ctx     context.Context
	systems map[string]int // how often folders of systems were left out
}

// branch lists a folder, which is below those others.
func (l *lister) branch(path string, above ...fs.FileInfo) (*branch, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	self, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, self) }) {
		return nil, fmt.Errorf("%s is a link to a folder above it, which would never end: remove the link", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	b := &branch{path: path, name: filepath.Base(path)}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		at := filepath.Join(path, name)
		info, err := os.Stat(at) // a link is what it leads to
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is a link to nothing: remove or mend it", at)
		}
		if err != nil {
			return nil, err
		}
		switch small := strings.ToLower(name); {
		case info.IsDir() && slices.Contains(systemFolders, small):
			l.systems[name]++
		case info.IsDir():
			inner, err := l.branch(at, append(slices.Clone(above), self)...)
			if err != nil {
				return nil, err
			}
			b.folders = append(b.folders, inner)
		case !slices.Contains(systemFiles, small):
			b.files = append(b.files, pictureFile{path: at, name: name, size: info.Size(), time: info.ModTime().UnixNano()})
		}
	}
	return b, nil
}

// inner skips folders that are alone in another.
func (b *branch) inner() *branch {
	for len(b.folders) == 1 {
		b = b.folders[0]
	}
	return b
}

// labelled reports whether a folder of test images has one folder for each class, or for one of
// those of the training images. A contest's has none, perhaps with another folder around the
// images.
func (b *branch) labelled(train *branch) bool {
	inner := b.inner()
	return len(inner.folders) > 0 || inner != b && train.inner().folder(inner.name) != nil
}

// names lists the names of the folders.
func (b *branch) names() (names []string) {
	for _, f := range b.folders {
		names = append(names, f.name)
	}
	return names
}

// folder returns the folder of that name, or nil.
func (b *branch) folder(name string) *branch {
	for _, f := range b.folders {
		if f.name == name {
			return f
		}
	}
	return nil
}

// A pictureFile is an image of a folder.
type pictureFile struct {
	path  string // to open it
	name  string // below the folder of its class, with slashes
	class int32
	size  int64
	time  int64
}

// A pictureTree is what a folder of images holds.
type pictureTree struct {
	classes     []string
	train, test []pictureFile // by class and then in natural order; without test they are still to be split
	folders     splitFolders
	notes       []string
	ignored     map[string]int // files that were left out, by their endings
}

// readTree lists a folder: root/CLASS/… or root/train/CLASS/… with root/test/CLASS/….
func readTree(ctx context.Context, root string) (*pictureTree, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; want the folder that has one folder for each class", root)
	}
	l := lister{ctx, map[string]int{}}
	all, err := l.branch(root)
	if err != nil {
		return nil, err
	}
	t := &pictureTree{ignored: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(l.systems)) {
		t.notes = append(t.notes, fmt.Sprintf("left out, since a system keeps it for itself: "+
			"%s (%s)", name, plural.Of(l.systems[name], "folder")))
	}
	if all, err = t.enter(all, false); err != nil {
		return nil, err
	}
	if t.folders, err = findSplit(all); err != nil {
		return nil, at(all.path, err)
	}
	if t.folders.train == "" {
		t.classes, t.train, err = t.classFolders(all)
		return t, err
	}
	return t, t.splits(all)
}

// splits lists the images of the folders of the splits.
func (t *pictureTree) splits(all *branch) error {
	train, err := t.enter(all.folder(t.folders.train), true)
	if err == nil {
		t.classes, t.train, err = t.classFolders(train)
	}
	if err != nil || t.folders.test == "" {
		return err
	}
	test, err := t.enter(all.folder(t.folders.test), true)
	if err != nil {
		return err
	}
	var classes []string
	if classes, t.test, err = t.classFolders(test); err != nil {
		return err
	}
	return cmp.Or(without(all.path, t.classes, classes, t.folders.test),
		without(all.path, classes, t.classes, t.folders.train))
}

// enter skips folders. One that is alone, and has folders itself, was put around them; in that of a
// split, one of the same name may have been.
func (t *pictureTree) enter(b *branch, split bool) (*branch, error) {
	for len(b.folders) == 1 && (split || roleOf(b.folders[0].name) == 0) && len(b.folders[0].folders) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("read from the folder %s in %s", b.folders[0].name, b.name))
		b = b.folders[0]
	}
	if len(b.folders) == 0 {
		return nil, fmt.Errorf("%s has no folders (and %d files); want one folder for each class, %s, or %s "+
			"with %s", b.path, len(b.files),
			filepath.Join(b.path, "CLASS", "image.png"), filepath.Join(b.path, "train", "CLASS", "image.png"),
			filepath.Join(b.path, "test", "CLASS", "image.png"))
	}
	return b, nil
}

// without returns an error if the folder of a split has no folder for one of the classes.
func without(root string, classes, there []string, split string) error {
	for _, c := range classes {
		if !slices.Contains(there, c) {
			return fmt.Errorf("%s: the class %q has images, but no folder %s%s",
				root, c, filepath.Join(root, split, c), alike.Hint(c, there))
		}
	}
	return nil
}

// classFolders lists the images of the classes that the folders are.
func (t *pictureTree) classFolders(b *branch) (classes []string, all []pictureFile, err error) {
	slices.SortFunc(b.folders, func(a, b *branch) int { return natural(a.name, b.name) })
	classes = b.names()
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("%s: it has %d folders; want one for each of at least two classes", b.path, len(classes))
	}
	if err := checkClasses(classes); err != nil {
		return nil, nil, at(b.path, err)
	}
	for label, folder := range b.folders {
		class := folder.name
		found, other := t.pictures(folder, "", int32(label))
		if len(found) == 0 {
			return nil, nil, fmt.Errorf("%s: the class %q has no image (%s)%s: add images, or remove "+
				"the folder", b.path, class, pictureEndings, other)
		}
		slices.SortFunc(found, func(a, b pictureFile) int { return natural(a.name, b.name) })
		all = append(all, found...)
	}
	return classes, all, nil
}

// pictures collects the images of a class, also from folders within its folder, and counts other
// files. other names one.
func (t *pictureTree) pictures(b *branch, name string, class int32) (found []pictureFile, other string) {
	for _, f := range b.files {
		if !isPicture(f.name) {
			t.ignored[strings.ToLower(filepath.Ext(f.name))]++
			other = fmt.Sprintf("; it has other files, such as %s, which can be converted to PNG if they are images", f.path)
			continue
		}
		f.name, f.class = name+f.name, class
		found = append(found, f)
	}
	for _, inner := range b.folders {
		more, others := t.pictures(inner, name+inner.name+"/", class)
		found, other = append(found, more...), cmp.Or(other, others)
	}
	return found, other
}
