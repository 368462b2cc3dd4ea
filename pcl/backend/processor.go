package backend

import (
	"fmt"
	"strings"
)

// OtherProcessor says why a result of [XLACPU] can have other bits on the processor now than on the one then, by their names
// ([Info].Device). It is empty if both have the same name.
func OtherProcessor(then, now string) string {
	if then == now {
		return ""
	}
	a, b := traits(then), traits(now)
	var differ []string
	for i, what := range []string{"vendor", "vector instructions", "L1 data cache"} {
		if a[i] != b[i] {
			differ = append(differ, fmt.Sprintf("%s (then %s, now %s)", what, a[i], b[i]))
		}
	}
	if differ == nil {
		return "type of processor"
	}
	return strings.Join(differ, ", ")
}

// traits are a processor's vendor, vector instructions and L1 data cache. A name with vector instructions and without a cache
// stands for 32 KB; older names tell neither.
func traits(device string) [3]string {
	name, about, _ := strings.Cut(device, " (")
	vendor, _, _ := strings.Cut(name, " ")
	t := [3]string{strings.TrimSuffix(vendor, "(R)"), "unknown", "unknown"}
	for _, part := range strings.Split(strings.TrimSuffix(about, ")"), ", ") {
		if strings.HasPrefix(part, "AVX") {
			t[1], t[2] = part, "32 KB"
		}
		if size, ok := strings.CutPrefix(part, "L1 "); ok {
			t[2] = size
		}
	}
	return t
}
