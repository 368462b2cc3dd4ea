package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

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
	t := &pictureTree{ignored: map[string]int{}}
	levels, err := t.enter(root, false)
	if err != nil {
		return nil, err
	}
	if t.folders, err = findSplit(levels); err != nil {
		return nil, err
	}
	if t.folders.train == "" {
		t.classes, t.train, err = t.classFolders(ctx, levels.root, levels.names)
		return t, err
	}
	if t.classes, t.train, err = t.splitFolder(ctx, levels.root, t.folders.train); err != nil || t.folders.test == "" {
		return t, err
	}
	classes, test, err := t.splitFolder(ctx, levels.root, t.folders.test)
	if err != nil {
		return nil, err
	}
	t.test = test
	return t, sameClasses(levels.root, t.folders, t.classes, classes)
}

// enter lists the two levels below root. A folder that is alone, and has folders itself, was put around them; in that of
// a split, one of the same name may have been.
func (t *pictureTree) enter(root string, split bool) (*folderLevels, error) {
	for {
		l, err := listLevels(root)
		if err != nil {
			return nil, err
		}
		if len(l.names) != 1 || !split && roleOf(l.names[0]) != 0 || len(l.below[l.names[0]]) == 0 {
			return l, nil
		}
		t.notes = append(t.notes, fmt.Sprintf("read from the folder %s in %s", l.names[0], filepath.Base(root)))
		root = filepath.Join(root, l.names[0])
	}
}

func (t *pictureTree) splitFolder(ctx context.Context, root, split string) ([]string, []pictureFile, error) {
	l, err := t.enter(filepath.Join(root, split), true)
	if err != nil {
		return nil, nil, err
	}
	return t.classFolders(ctx, l.root, l.names)
}

// sameClasses returns an error unless both splits have the same classes.
func sameClasses(root string, in splitFolders, a, b []string) error {
	for _, c := range a {
		if !slices.Contains(b, c) {
			return fmt.Errorf("%s: the class %q has training images but no folder %s", root, c, filepath.Join(root, in.test, c))
		}
	}
	for _, c := range b {
		if !slices.Contains(a, c) {
			return fmt.Errorf("%s: the class %q has test images but no folder %s", root, c, filepath.Join(root, in.train, c))
		}
	}
	return nil
}

// classFolders lists the images of the classes that the folders in dir are.
func (t *pictureTree) classFolders(ctx context.Context, dir string, classes []string) ([]string, []pictureFile, error) {
	slices.SortFunc(classes, natural)
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("%s has %d folders: want one for each of at least two classes", dir, len(classes))
	}
	if err := distinct(classes); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	var all []pictureFile
	for label, class := range classes {
		path := filepath.Join(dir, class)
		if !utf8.ValidString(class) {
			return nil, nil, fmt.Errorf("%q: the name is not UTF-8 text, so it cannot be the name of a class: rename the folder", path)
		}
		w := treeWalk{ctx: ctx, class: int32(label), ignored: t.ignored}
		if err := w.walk(path, "", nil); err != nil {
			return nil, nil, err
		}
		if len(w.found) == 0 {
			return nil, nil, fmt.Errorf("%s: the class %q has no image (%s)%s: add images, or remove the folder", path, class, pictureEndings, w.others())
		}
		slices.SortFunc(w.found, func(a, b pictureFile) int { return natural(a.name, b.name) })
		all = append(all, w.found...)
	}
	return classes, all, nil
}

// subfolders lists the folders in dir, except hidden ones, and counts the files.
func subfolders(dir string) (folders []string, files int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		name := e.Name()
		if hidden(name) {
			continue
		}
		if e.Type().IsRegular() {
			files++
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name)) // a link to a folder is one
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, 0, fmt.Errorf("%s is a link to nothing: remove or mend it", filepath.Join(dir, name))
		case err != nil:
			return nil, 0, err
		case info.IsDir():
			folders = append(folders, name)
		default:
			files++
		}
	}
	return folders, files, nil
}

// hidden reports whether a file or folder is one that systems leave behind.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__MACOSX" }

// A treeWalk collects the images of one class, also from folders within its folder.
type treeWalk struct {
	ctx     context.Context
	class   int32
	found   []pictureFile
	ignored map[string]int
	example string // of what was ignored
}

// above are the folders from that of the class down to this one.
func (w *treeWalk) walk(dir, name string, above []fs.FileInfo) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	self, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, self) }) {
		return fmt.Errorf("%s is a link to a folder above it, which would never end: remove the link", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if hidden(e.Name()) {
			continue
		}
		if err := w.entry(e, dir, name, append(above[:len(above):len(above)], self)); err != nil {
			return err
		}
	}
	return nil
}

func (w *treeWalk) entry(e fs.DirEntry, dir, name string, above []fs.FileInfo) error {
	path := filepath.Join(dir, e.Name())
	if name != "" {
		name += "/"
	}
	name += e.Name()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is a link to nothing: remove or mend it", path)
	case err != nil:
		return err
	case info.IsDir():
		return w.walk(path, name, above)
	case !isPicture(e.Name()):
		w.ignored[strings.ToLower(filepath.Ext(e.Name()))]++
		w.example = path
		return nil
	}
	w.found = append(w.found, pictureFile{path: path, name: name, class: w.class, size: info.Size(), time: info.ModTime().UnixNano()})
	return nil
}

// others says what the folder of a class has instead of images.
func (w *treeWalk) others() string {
	if w.example == "" {
		return ""
	}
	return fmt.Sprintf("; it has other files, such as %s, which can be converted to PNG if they are images", w.example)
}
