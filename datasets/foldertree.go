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
	testFolder  string        // "test", "val", …; empty if there is none
	ignored     int           // files that are no images
}

// testFolders are the names of the folder beside train that has the test images; the first that is there is used.
var testFolders = []string{"test", "val", "valid", "validation"}

// readTree lists a folder: root/CLASS/… or root/train/CLASS/… with root/test/CLASS/….
func readTree(ctx context.Context, root string) (*pictureTree, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; want the folder that has one folder for each class", root)
	}
	top, files, err := subfolders(root)
	if err != nil {
		return nil, err
	}
	t := &pictureTree{}
	if inner, err := isSplit(root, top); err != nil {
		return nil, err
	} else if !inner {
		if len(top) == 0 {
			return nil, fmt.Errorf("%s has no folders (and %d files): want one folder for each class, %s, or %s with %s", root, files,
				filepath.Join(root, "CLASS", "image.png"), filepath.Join(root, "train", "CLASS", "image.png"), filepath.Join(root, "test", "CLASS", "image.png"))
		}
		t.classes, t.train, err = t.classFolders(ctx, root, top)
		return t, err
	}
	for _, name := range testFolders {
		if t.testFolder == "" && slices.Contains(top, name) {
			t.testFolder = name
		}
	}
	if t.classes, t.train, err = t.splitFolder(ctx, root, "train"); err != nil || t.testFolder == "" {
		return t, err
	}
	classes, test, err := t.splitFolder(ctx, root, t.testFolder)
	if err != nil {
		return nil, err
	}
	t.test = test
	return t, sameClasses(root, t.testFolder, t.classes, classes)
}

// isSplit reports whether root has a folder "train" of folders of classes, and is not the folder of a class "train".
func isSplit(root string, top []string) (bool, error) {
	if !slices.Contains(top, "train") {
		return false, nil
	}
	inner, _, err := subfolders(filepath.Join(root, "train"))
	if err != nil || len(inner) == 0 {
		return false, err
	}
	for _, name := range top {
		if name != "train" && !slices.Contains(testFolders, name) {
			return false, fmt.Errorf("%s has the folder train, which has folders itself, and beside it %s: want either one folder for each class, or train and test",
				root, filepath.Join(root, name))
		}
	}
	return true, nil
}

func (t *pictureTree) splitFolder(ctx context.Context, root, split string) ([]string, []pictureFile, error) {
	dir := filepath.Join(root, split)
	top, _, err := subfolders(dir)
	if err != nil {
		return nil, nil, err
	}
	return t.classFolders(ctx, dir, top)
}

// sameClasses returns an error unless both splits have the same classes.
func sameClasses(root, test string, a, b []string) error {
	for _, c := range a {
		if !slices.Contains(b, c) {
			return fmt.Errorf("%s: the class %q has training images but no folder %s", root, c, filepath.Join(root, test, c))
		}
	}
	for _, c := range b {
		if !slices.Contains(a, c) {
			return fmt.Errorf("%s: the class %q has test images but no folder %s", root, c, filepath.Join(root, "train", c))
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
	lower := map[string]string{}
	var all []pictureFile
	for label, class := range classes {
		path := filepath.Join(dir, class)
		if !utf8.ValidString(class) {
			return nil, nil, fmt.Errorf("%q: the name is not UTF-8 text, so it cannot be the name of a class: rename the folder", path)
		}
		if other, taken := lower[strings.ToLower(class)]; taken {
			return nil, nil, fmt.Errorf("%s has the folders %q and %q, which differ only in small and capital letters: join or rename them", dir, other, class)
		}
		lower[strings.ToLower(class)] = class
		w := treeWalk{ctx: ctx, class: int32(label)}
		if err := w.walk(path, "", nil); err != nil {
			return nil, nil, err
		}
		if len(w.found) == 0 {
			return nil, nil, fmt.Errorf("%s: the class %q has no image (%s)%s: add images, or remove the folder", path, class, pictureEndings, w.others())
		}
		slices.SortFunc(w.found, func(a, b pictureFile) int { return natural(a.name, b.name) })
		all, t.ignored = append(all, w.found...), t.ignored+w.ignored
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
	ignored int
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
		w.ignored++
		w.example = path
		return nil
	}
	w.found = append(w.found, pictureFile{path: path, name: name, class: w.class, size: info.Size(), time: info.ModTime().UnixNano()})
	return nil
}

// others says what the folder of a class has instead of images.
func (w *treeWalk) others() string {
	if w.ignored == 0 {
		return ""
	}
	return fmt.Sprintf("; it has %d other files, such as %s", w.ignored, w.example)
}
