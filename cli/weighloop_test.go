package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// served is what pcl weigh writes for some input, line by line, and the error at its end.
func served(t *testing.T, name string, in ...string) ([]string, error) {
	t.Helper()
	rule := must.Get(weigh.New(name, nil, 1))(t)
	var out bytes.Buffer
	err := (&weigher{rule}).serve(strings.NewReader(strings.Join(in, "")), &out)
	return strings.SplitAfter(out.String(), "\n"), err
}

// begin compares each line with how it must begin.
func begin(t *testing.T, got []string, want ...string) {
	t.Helper()
	if got = slices.DeleteFunc(got, func(line string) bool { return line == "" }); len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, ""))
	}
	for i, line := range got {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d is %swant %s", i+1, line, want[i])
		}
	}
}

// TestServerGoesOn: each line that is refused is answered by an error, which speaks of the input
// instead of Go, and the others as if it had not been there.
func TestServerGoesOn(t *testing.T) {
	bad := []string{
		`{"gram":[[1,NaN],[0,1]]}`, `nonsense`, `{"gram":[[1,2]]}`, `{"jacobain":[[1]]}`, `{"gram":[[1e308,0],[0,-1]]}`,
		`[1]`, `{}`, `"a"`,
		`{"gram":[[1,0],[0,1]],"ids":[1,1]}`, `{"gram":[[1,0],[0,1]],"losses_after":[1]}`,
		`{"jacobian":[[1.7e308,0],[1.7e308,1e300]]}`,
		`{"end":5}`, `{"end":false}`, `{"load":{}}`, `{"save":true,"gram":[[1]]}`, `{"gram":[[1]],"direction":"up"}`,
		`{"ids":[1]}`, `}`, `]]`, "\x00",
		`{"gram":[[1,0],[0,1]],"frame":null}`, `{"frame":{"dtype":"float16","rows":1,"columns":1,"bytes":0}}`,
		`{"jacobian":[[null],[1]]}`, `{"jacobian":[[1],[NaN]]}`, `{"jacobian":[[1,1e999]]}`, `{"jacobian":[["1"]]}`,
		`{"jacobian":[1,2]}`,
		`{"jacobian":[[1,2],[1]]}`, `{"jacobian":[[]]}`, `{"jacobian":[]}`, `{"jacobian":null}`, `{"gram":[[1,0],[null,1]]}`,
		`{"gram":[[1,0],[0.5,1]]}`, `{"gram":[]}`, `{"gram":[[1]],"losses":[null]}`, `{"gram":[[1]],"ids":[1.5]}`,
		`{"gram":[[1]],"sigma":[1,1]}`,
		`{"gram":[[1,0],[0,1]],"sigma":[1,-1]}`, `{"gram":[[1,2],[2,1]]}`, `{"gram":[[1]],"jacobian":[[1]]}`, `[[1]]`,
		`{"gram":[[1]],"losses":3}`,
		`{"gram":[[1]]} {"gram":[[1]]}`,
	}
	good := []string{baseJ + "\n", base + "\n", threeJ + "\n"}
	var mixed []string
	for i, line := range bad {
		if i%16 == 0 {
			mixed = append(mixed, good[i/16])
		}
		mixed = append(mixed, line+"\n")
	}
	for _, name := range []string{"emgd-log", "emgd-gs"} {
		t.Run(name, func(t *testing.T) {
			want := must.Get(served(t, name, good...))(t)
			got, err := served(t, name, mixed...)
			if err == nil {
				t.Error("no error at the end")
			}
			var answers, errors []string
			for i, line := range got {
				var r refusal
				if json.Unmarshal([]byte(line), &r) == nil && r.Error != "" {
					errors = append(errors, line)
					switch {
					case r.Line != i+1:
						t.Errorf("r.Line is %d; want %d", r.Line, i+1)
					case r.Problem != i+1:
						t.Errorf("r.Problem is %d; want %d", r.Problem, i+1)
					case strings.Contains(r.Error, "Go "):
						t.Errorf("r.Error is %q; want no %q in it", r.Error, "Go ")
					}
				} else if line != "" {
					answers = append(answers, line)
				}
			}
			if !slices.Equal(answers, slices.DeleteFunc(want, func(s string) bool { return s == "" })) {
				t.Errorf("answers %s, want %s", answers, want)
			}
			// The sum of the huge gradients is in range for emgd-gs, whose weights are small there.
			if len(errors) < len(bad)-1 {
				t.Errorf("%d errors for %d bad lines", len(errors), len(bad))
			}
		})
	}
}

// TestServerWords: streams that end, states, losses after a step, and the end.
func TestServerWords(t *testing.T) {
	got := must.Get(served(t, "emgd-gmc", `{"gram":[[1,0],[0,4]],"ids":[3,8]}`, "\n", `{"end":[3]}`, "\n", `{"save":true}`,
		"\n", `{"losses_after":[1]}`, "\n"))(t)
	begin(t, got, `{"weights":`, `{"ended":[3]}`, `{"state":{"method":"emgd-gmc"`, `{"followed":false}`)
	if !strings.Contains(got[2], `"norms":{"8":2}`) {
		t.Errorf("the stream that ended is still in %s", got[2])
	}
	state := strings.TrimSpace(strings.TrimPrefix(got[2], `{"state":`))
	more := must.Get(served(t, "emgd-gmc", `{"load":`, state[:len(state)-1], "}\n", `{"save":true}`))(t)
	begin(t, more, `{"loaded":true}`, got[2])

	in := `{"gram":[[1,0],[0,4]],"losses":[1,2]}` + "\n"
	after := `{"losses_after":[0.5,1.9]}` + "\n"
	apart := must.Get(served(t, "famo", in, after, in))(t)
	together := must.Get(served(t, "famo", strings.Replace(in, "}", `,"losses_after":[0.5,1.9]}`, 1), in))(t)
	begin(t, apart, together[0], `{"followed":true}`, together[1])
	if apart[0] == apart[2] {
		t.Error("famo did not learn from the losses")
	}
}

// TestServerLines: each line is a request, also after one that was cut.
func TestServerLines(t *testing.T) {
	cut := `{"gram":[[1,` + "\n"
	got, err := served(t, "mgda", "\n  \n", `{"gram":[[1]]}`+"\n", cut, `{"gram":[[4]]}`+"\n", cut)
	if err == nil {
		t.Error("no error at the end")
	}
	begin(t, got, `{"weights":[1]`, `{"error":"the JSON text ends in the middle of a value","line":4,"problem":2}`,
		`{"weights":[1]`, `{"error":"the JSON text ends in the middle of a value","line":6,"problem":4}`)
}

// TestServerAnswersAtOnce: a client that waits for each answer, with part of the next request sent,
// gets it.
func TestServerAnswersAtOnce(t *testing.T) {
	rule := must.Get(weigh.New("emgd-gmc", nil, 1))(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- (&weigher{rule}).serve(inR, outW)
		outW.Close()
	}()
	answers := bufio.NewReader(outR)
	rest := ""
	for _, in := range []string{base + "\n" + base[:10], base[10:] + "\nbad\n", base + "\n{", base[1:] + "\n"} {
		t.Run(in, func(t *testing.T) {
			must.Get(io.WriteString(inW, in))(t)
			rest += in
			for strings.Contains(rest, "\n") {
				_, rest, _ = strings.Cut(rest, "\n")
				if line, err := answers.ReadString('\n'); err != nil ||
					!strings.Contains(line, "weights") && !strings.Contains(line, "error") {
					t.Fatalf("%q %v", line, expect.Text(err))
				}
			}
		})
	}
	inW.Close()
	if err := <-done; err == nil {
		t.Error("no error at the end")
	}
}
