package datasets

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// folderLevels are the names of the folders in root, and of those in each of them.
type folderLevels struct {
	root  string
	names []string
	below map[string][]string
}

func listLevels(root string) (*folderLevels, error) {
	names, files, err := subfolders(root)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no folders (and %d files): want one folder for each class, %s, or %s with %s", root, files,
			filepath.Join(root, "CLASS", "image.png"), filepath.Join(root, "train", "CLASS", "image.png"), filepath.Join(root, "test", "CLASS", "image.png"))
	}
	l := &folderLevels{root, names, map[string][]string{}}
	for _, name := range names {
		if l.below[name], _, err = subfolders(filepath.Join(root, name)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// splitFolders are the names of the folders with the training and the test images; empty if the folders are classes.
// Without a folder of test images, the training images are still to be split.
type splitFolders struct{ train, test, others string }

func (s splitFolders) note() string {
	note := fmt.Sprintf("training images from the folder %s, test images from the folder %s", s.train, s.test)
	if s.others != "" {
		note += "; left out: " + s.others
	}
	return note
}

const training = 1

// splitWords are the words that say which split a folder has: 1 for training, and for testing the less the better.
var splitWords = map[string]int{
	"train": training, "training": training,
	"test": 2, "testing": 2,
	"val": 3, "valid": 3, "validation": 3,
	"eval": 4, "evaluation": 4, "dev": 5, "holdout": 5,
}

var (
	words  = regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+`)
	things = regexp.MustCompile(`(set|data|dataset|images?|imgs?|samples|split)$`) // that end a word, as in trainset
)

// roleOf returns which split a folder has by its name, such as "Train", "seg_test" or "TestImages"; 0 if it does not say.
func roleOf(name string) int {
	role := 0
	for _, word := range words.FindAllString(name, -1) {
		r := splitWords[things.ReplaceAllString(strings.ToLower(word), "")]
		if r != 0 && role != 0 && r != role {
			return 0
		}
		role = max(role, r)
	}
	return role
}

// findSplit decides whether the first or the second level is that of the classes, from the names of the folders.
func findSplit(l *folderLevels) (s splitFolders, err error) {
	const advice = "want either one folder for each class, or train and test with one for each class in both; rename or move folders"
	roles := map[int][]string{}
	nested := false // a folder that is named as a split has folders
	for _, name := range l.names {
		role := roleOf(name)
		roles[role] = append(roles[role], name)
		nested = nested || role != 0 && len(l.below[name]) > 0
	}
	plain, trains := roles[0], roles[training]
	both := len(trains) > 0 && len(trains)+len(plain) < len(l.names)
	exact := slices.ContainsFunc(trains, func(name string) bool { return splitWords[strings.ToLower(name)] != 0 })
	switch {
	case !nested && both && len(plain) == 0:
		return s, fmt.Errorf("%s has %s, which are named as splits and have no folders of classes in them: %s", l.root, some(l.names), advice)
	case !nested || len(plain) > 0 && !both && !exact:
		return s, l.alike(advice)
	case len(plain) > 0:
		return s, fmt.Errorf("%s has the folder %s, which is named as a split and has folders itself, and beside it %s: %s", l.root, slices.Concat(trains, l.names)[0], filepath.Join(l.root, plain[0]), advice)
	case len(trains) != 1:
		return s, fmt.Errorf("%s has %d folders that are named as training images, among %s: %s", l.root, len(trains), some(l.names), advice)
	}
	s.train = trains[0]
	var others []string
	for role := training + 1; role <= 5; role++ {
		switch {
		case s.test != "":
			others = append(others, roles[role]...)
		case len(roles[role]) > 1:
			return s, fmt.Errorf("%s has several folders of test images, %s: %s", l.root, some(roles[role]), advice)
		case len(roles[role]) == 1:
			s.test = roles[role][0]
		}
	}
	s.others = strings.Join(others, ", ")
	return s, nil
}

// alike returns an error if all folders have the same folders in them: either may be the classes.
func (l *folderLevels) alike(advice string) error {
	first := l.below[l.names[0]]
	for _, name := range l.names {
		if !slices.Equal(l.below[name], first) {
			return nil
		}
	}
	if len(l.names) < 2 || len(first) < 2 {
		return nil
	}
	return fmt.Errorf("%s: the folders %s all have the folders %s in them, so that both may be the classes: %s", l.root, some(l.names), some(first), advice)
}
