package csvcell

import (
	"bytes"
	"encoding/csv"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		v      any
		digits int
		want   string
	}{
		{nil, 6, ""}, {math.NaN(), -1, ""}, {1.0 / 3, 6, "0.333333"}, {0.1, -1, "0.1"}, {1.0 / 3, -1, "0.3333333333333333"},
		{7, 6, "7"}, {123456.0, 4, "123456"}, {"a", -1, "a"}, {math.Inf(1), 6, "+Inf"},
	} {
		if got := Text(c.v, c.digits); got != c.want {
			t.Errorf("Text(%v, %d) = %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}

// TestFormulas: texts that a spreadsheet would compute are marked, and read back as they were.
func TestFormulas(t *testing.T) {
	marked := []string{"=1+1", "+a", "-a", "@SUM(A1)", "\tx", "\rx", "\n=x", " =x", `"=x`, "'=x", "''-x", "\u00a0=x",
		"\ufeff=x", "＝x", "-1 2", "=", "-"}
	free := []string{"", "-1e-17", "+Inf", "-5", "a=b", "'a", " a", "'", "''", "é", "\xff"}
	var file bytes.Buffer
	want := [][]string{append(slices.Clone(marked), free...)}
	must.Do(t, Write(&file, slices.Values(want)))
	text := file.String()
	back, err := ReadAll(&file)
	if err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("came back as %q (%v)", back, err)
	}
	raw := must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	for i, cell := range want[0] {
		if written, safe := raw[0][i], i >= len(marked); written != cell && written != "'"+cell || (written == cell) != safe {
			t.Errorf("%q was written as %q", cell, written)
		}
	}
}
