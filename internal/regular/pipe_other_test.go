//go:build !unix

package regular

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
