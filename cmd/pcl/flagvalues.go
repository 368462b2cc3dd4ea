package main

import "fmt"

// count is a number of things, from 0.
type count int

// Validate is asked by the parser.
func (c count) Validate() error {
	if c < 0 {
		return fmt.Errorf("%d is negative", c)
	}
	return nil
}

// number is a number of things, from 1.
type number int

// Validate is asked by the parser.
func (n number) Validate() error {
	if n < 1 {
		return fmt.Errorf("%d is too small: want 1 or more", n)
	}
	return nil
}
