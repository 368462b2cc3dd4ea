package download

import (
	"fmt"
	"net/http"
	"os"
	"regexp"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// partHeader asks for what follows the first have bytes of a file, if it is still the same file.
func partHeader(part string, have int64) http.Header {
	header := http.Header{}
	if have > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if tag, err := os.ReadFile(tagFile(part)); err == nil {
			header.Set("If-Range", string(tag))
		}
	}
	return header
}

// The tag beside a part names the version of the file that it is a part of.
func tagFile(part string) string { return part + ".etag" }

// strongTag matches an ETag that promises that the bytes are equal. A weak one begins with W/.
var strongTag = regexp.MustCompile(`^"[!#-~]{1,200}"$`)

func saveTag(part, tag string) error {
	if !strongTag.MatchString(tag) {
		os.Remove(tagFile(part))
		return nil
	}
	return atomicfile.WriteBytes(tagFile(part), []byte(tag))
}

// Forget deletes a download, whether it is complete or not.
func Forget(part string) {
	os.Remove(part)
	os.Remove(tagFile(part))
}
