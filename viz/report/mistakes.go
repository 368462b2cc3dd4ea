package report

import (
	"errors"
	"fmt"
)

// maxMistakes is how many mistakes are told; a text may be full of them.
const maxMistakes = 20

// mistakes gathers the first errors of many.
type mistakes struct {
	told []error
	more int
}

func (m *mistakes) add(err error) {
	switch {
	case err == nil:
	case len(m.told) == maxMistakes:
		m.more++
	default:
		m.told = append(m.told, err)
	}
}

// err is all of them as one; nil where there is none.
func (m *mistakes) err() error {
	if m.more > 0 {
		return errors.Join(append(m.told, fmt.Errorf("and %d mistakes more", m.more))...)
	}
	return errors.Join(m.told...)
}
