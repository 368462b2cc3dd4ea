package cli

import "fmt"

// count is the value of a flag that must be 0 or more.
type count int

// Validate is called by the parser of the command line.
func (c count) Validate() error {
	if c < 0 {
		return fmt.Errorf("%d is negative", c)
	}
	return nil
}

// processes is how many processes make runs.
type processes int

// Validate is called by the parser of the command line.
func (p processes) Validate() error {
	if p < 1 || p > 1024 {
		return fmt.Errorf("%d: want 1 to 1024 processes", p)
	}
	return nil
}

// number is the value of a flag that must be 1 or more.
type number int

// Validate is called by the parser of the command line.
func (n number) Validate() error {
	if n < 1 {
		return fmt.Errorf("%d is too small: want 1 or more", n)
	}
	return nil
}
