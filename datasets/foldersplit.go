package datasets

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// splitFolders are the names of the folders with the training and the test images; empty if the
// folders are classes. Without a folder of test images, the training images are still to be split.
type splitFolders struct {
	train, test string
	others      []string // of test images
	unlabelled  []string // named as test images, without folders of classes
}

// note says where the images are from; share is that of test images if they have no folder.
func (s splitFolders) note(share float64) string {
	note := fmt.Sprintf("%g of each class are test images, chosen by their names", share)
	if s.test != "" {
		note = "training images from the folder " + s.train + ", test images from the folder " + s.test
	}
	if s.others != nil {
		note += "; left out: " + strings.Join(s.others, ", ")
	}
	if s.unlabelled != nil {
		note += "; left out, since it has no folders of classes: " + strings.Join(s.unlabelled, ", ")
	}
	return note
}

const training, leastTest = 1, 5

// splitWords are the words that say which split a folder has: 1 for training, and for testing the
// less the better.
var splitWords = map[string]int{
	"train": training, "training": training,
	"test": 2, "testing": 2,
	"val": 3, "valid": 3, "validation": 3,
	"eval": 4, "evaluation": 4, "dev": leastTest, "holdout": leastTest,
}

var (
	words  = regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+`)
	things = regexp.MustCompile(`(set|data|dataset|images?|imgs?|samples|split)$`) // that end a word, as in trainset
)

// roleOf returns which split a folder has by its name, such as "Train", "seg_test" or "TestImages";
// 0 if it does not say.
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

const splitAdvice = "want either one folder for each class, or train and test with one for each class in both; " +
	"rename or move folders"

// findSplit decides whether the first or the second level is that of the classes, from the names of
// the folders.
func findSplit(b *branch) (s splitFolders, err error) {
	roles, all := map[int][]string{}, b.names()
	nested := false // a folder that is named as a split has folders
	for _, f := range b.folders {
		role := roleOf(f.name)
		roles[role] = append(roles[role], f.name)
		nested = nested || role != 0 && len(f.folders) > 0
	}
	plain, trains := roles[0], roles[training]
	both := len(trains) > 0 && len(trains)+len(plain) < len(all)
	exact := slices.ContainsFunc(trains, func(name string) bool { return splitWords[strings.ToLower(name)] != 0 })
	switch {
	case !nested && both && len(plain) == 0:
		return s, fmt.Errorf("it has %s, which are named as splits and have no folders of classes in "+
			"them: %s", some(all), splitAdvice)
	case !nested || len(plain) > 0 && !both && !exact:
		if b.alike() {
			return s, fmt.Errorf("the folders %s all have the folders %s in them, so that both may be the "+
				"classes: %s", some(all), some(b.folders[0].names()), splitAdvice)
		}
		return s, nil
	case len(plain) > 0:
		return s, fmt.Errorf("it has the folder %s, which is named as a split and has folders itself, and beside "+
			"it %s: %s", slices.Concat(trains, all)[0], some(plain), splitAdvice)
	case len(trains) != 1:
		return s, fmt.Errorf("it has %d folders that are named as training images, "+
			"among %s: %s", len(trains), some(all), splitAdvice)
	}
	s.train = trains[0]
	return s, s.findTest(b, roles)
}

// findTest chooses the folder of test images. One without classes is left out.
func (s *splitFolders) findTest(b *branch, roles map[int][]string) error {
	for role := training + 1; role <= leastTest; role++ {
		var labelled []string
		for _, name := range roles[role] {
			if b.folder(name).labelled(b.folder(s.train)) {
				labelled = append(labelled, name)
			} else {
				s.unlabelled = append(s.unlabelled, name)
			}
		}
		if s.test == "" && len(labelled) > 1 {
			return fmt.Errorf("it has several folders of test images, %s: %s", some(labelled), splitAdvice)
		}
		if s.test == "" {
			s.test = strings.Join(labelled, "") // the one that there is, if any
		} else {
			s.others = append(s.others, labelled...)
		}
	}
	return nil
}

// alike reports whether all folders have the same folders in them: either may be the classes.
func (b *branch) alike() bool {
	first := b.folders[0].names()
	return len(b.folders) > 1 && len(first) > 1 &&
		!slices.ContainsFunc(b.folders, func(f *branch) bool { return !slices.Equal(f.names(), first) })
}
