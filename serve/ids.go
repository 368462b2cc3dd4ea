package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// idBlock is how many ids of tasks are reserved at once.
const idBlock = 64

// idsFile has the highest id that may have been given. It is written before that id is, so that an id which was given and
// then lost, since the program was killed before the next save, is not given to somebody else.
func idsFile(file string) string { return file + ".ids" }

// reserve makes sure that no later service gives this id. Call it with s.mu held.
func (s *Service) reserve(id int) error {
	if s.options.File == "" || id <= s.file.given {
		return nil
	}
	return s.giveUpTo(id + idBlock - 1)
}

func (s *Service) giveUpTo(id int) error {
	err := atomicfile.WriteBytes(idsFile(s.options.File), fmt.Appendln(nil, id))
	if err == nil {
		s.file.given = id
	}
	return err
}

// skipGiven leaves out the ids that may have been given before.
func (s *Service) skipGiven() error {
	name := idsFile(s.options.File)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	given, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || given < 0 {
		return fmt.Errorf("%s: %.20q is not the highest id that was given: want a whole number of 0 or more", name, text)
	}
	return s.learner.Skip(given)
}
