package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/fail"
)

// A branch is a folder, with all that is in it but what systems leave behind.
type branch struct {
	path, name string
	folders    []*branch
	files      []pictureFile // of any kind; their class is not known yet
}

// readBranch lists a folder, which is below those others.
func readBranch(ctx context.Context, path string, above ...fs.FileInfo) *branch {
	fail.If(ctx.Err())
	self := fail.Or(os.Stat(path))
	loop := slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, self) })
	fail.When(loop, "%s is a link to a folder above it, which would never end: remove the link", path)
	b := &branch{path: path, name: filepath.Base(path)}
	for _, e := range fail.Or(os.ReadDir(path)) {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == "__MACOSX" {
			continue
		}
		at := filepath.Join(path, name)
		info, err := os.Stat(at) // a link is what it leads to
		fail.When(errors.Is(err, fs.ErrNotExist), "%s is a link to nothing: remove or mend it", at)
		fail.If(err)
		if info.IsDir() {
			b.folders = append(b.folders, readBranch(ctx, at, append(slices.Clone(above), self)...))
		} else {
			b.files = append(b.files, pictureFile{path: at, name: name, size: info.Size(), time: info.ModTime().UnixNano()})
		}
	}
	return b
}

// names are those of the folders.
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
func readTree(ctx context.Context, root string) *pictureTree {
	info := fail.Or(os.Stat(root))
	fail.When(!info.IsDir(), "%s is a file; want the folder that has one folder for each class", root)
	t := &pictureTree{ignored: map[string]int{}}
	all := t.enter(readBranch(ctx, root), false)
	if t.folders = findSplit(all); t.folders.train == "" {
		t.classes, t.train = t.classFolders(all)
		return t
	}
	t.classes, t.train = t.classFolders(t.enter(all.folder(t.folders.train), true))
	if t.folders.test != "" {
		var classes []string
		classes, t.test = t.classFolders(t.enter(all.folder(t.folders.test), true))
		without(all.path, t.classes, classes, t.folders.test)
		without(all.path, classes, t.classes, t.folders.train)
	}
	return t
}

// enter skips folders. One that is alone, and has folders itself, was put around them; in that of a split, one of the same
// name may have been.
func (t *pictureTree) enter(b *branch, split bool) *branch {
	for len(b.folders) == 1 && (split || roleOf(b.folders[0].name) == 0) && len(b.folders[0].folders) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("read from the folder %s in %s", b.folders[0].name, b.name))
		b = b.folders[0]
	}
	fail.When(len(b.folders) == 0, "%s has no folders (and %d files); want one folder for each class, %s, or %s with %s", b.path, len(b.files),
		filepath.Join(b.path, "CLASS", "image.png"), filepath.Join(b.path, "train", "CLASS", "image.png"), filepath.Join(b.path, "test", "CLASS", "image.png"))
	return b
}

// without ends with an error if the folder of a split has no folder for one of the classes.
func without(root string, classes, there []string, split string) {
	for _, c := range classes {
		fail.When(!slices.Contains(there, c), "%s: the class %q has images, but no folder %s", root, c, filepath.Join(root, split, c))
	}
}

// classFolders lists the images of the classes that the folders are.
func (t *pictureTree) classFolders(b *branch) (classes []string, all []pictureFile) {
	slices.SortFunc(b.folders, func(a, b *branch) int { return natural(a.name, b.name) })
	classes = b.names()
	defer fail.At(b.path)
	fail.When(len(classes) < 2, "it has %d folders; want one for each of at least two classes", len(classes))
	distinct(classes)
	for label, folder := range b.folders {
		class := folder.name
		fail.When(!utf8.ValidString(class), "%q: the name is not UTF-8 text, so it cannot be the name of a class: rename the folder", folder.path)
		found, other := t.pictures(folder, "", int32(label))
		fail.When(len(found) == 0, "the class %q has no image (%s)%s: add images, or remove the folder", class, pictureEndings, other)
		slices.SortFunc(found, func(a, b pictureFile) int { return natural(a.name, b.name) })
		all = append(all, found...)
	}
	return classes, all
}

// pictures collects the images of a class, also from folders within its folder, and counts other files. other names one.
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
