package backend

import (
	"fmt"
	"strings"
)

// OtherProcessor says why a result of [XLACPU] can have other bits on the processor now than on the
// one then, by their names ([Info].Device). It is empty if both have the same name.
func OtherProcessor(then, now string) string {
	if then == now {
		return ""
	}
	a, b := traits(then), traits(now)
	var differ []string
	for i, what := range []string{"vendor", "vector instructions", "L1 data cache", "L2 cache"} {
		if a[i] != b[i] {
			differ = append(differ, fmt.Sprintf("%s (then %s, now %s)", what, a[i], b[i]))
		}
	}
	if differ == nil {
		return "type of processor"
	}
	return strings.Join(differ, ", ")
}

// traits are a processor's vendor, vector instructions and caches. A name with vector instructions
// and without caches stands for the [usual] ones; older names tell neither.
func traits(device string) [4]string {
	name, about, _ := strings.Cut(device, " (")
	vendor, _, _ := strings.Cut(name, " ")
	t := [4]string{strings.TrimSuffix(vendor, "(R)"), "unknown", "unknown", "unknown"}
	for _, part := range strings.Split(strings.TrimSuffix(about, ")"), ", ") {
		switch kind, size, _ := strings.Cut(part, " "); {
		case strings.HasPrefix(part, "AVX"):
			t[1], t[2], t[3] = part, "32 KB", "512 KB"
		case kind == "L1":
			t[2] = size
		case kind == "L2":
			t[3] = size
		}
	}
	return t
}
