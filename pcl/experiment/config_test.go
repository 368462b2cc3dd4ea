package experiment

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

var benchmarkSets = []string{"glyphs", "emnist-byclass", "emnist-byclass-test80", "mnist", "mnist-test80", "cifar-10",
	"cifar-100", "tiny-imagenet", "tiny-imagenet-32", "own"}

func parse(text string) (Config, error) { return parseIn("testdata", text) }

// parseIn is what the text of a file in a folder configures, if that is a run.
func parseIn(dir, text string) (c Config, err error) {
	l := Layer{Dir: dir}
	_, err = toml.Decode(text, &l.Values)
	if err == nil {
		c, err = NewConfig(l)
	}
	return c, errors.Join(err, wrong(c))
}

func TestDefaults(t *testing.T) {
	for _, name := range benchmarkSets {
		t.Run(name, func(t *testing.T) {
			c := DefaultConfig(name)
			parsed, err := parse(`dataset = "` + name + `"`)
			if diff := cmp.Diff(c, parsed); err != nil || diff != "" {
				t.Errorf("a file that names %s only: %v\n%s", name, expect.Text(err), diff)
			}
		})
	}
	if c, err := parse(""); err != nil || c.Dataset != "glyphs" {
		t.Errorf("an empty file: %q, %v; want the built-in glyphs", c.Dataset, expect.Text(err))
	}
}

// TestParseConfig sets a field of every kind; fields that are not named keep their defaults.
func TestParseConfig(t *testing.T) {
	got, err := parse(`
dataset = "cifar-100"
method = "mgda"
increment = "class"
model = "mlp"
hidden = [32]
seed = 7
params = { norm = "l2" }
optimizer = { name = "sgd", lr = 0.1 }
edit = { eta = 0.01, max_drift = 0.1, aim = "ascend" }
memory = { policy = "fixed_total", budget = 300 }
`)
	want := DefaultConfig("cifar-100")
	want.Method, want.Params, want.Increment, want.Hidden, want.Seed = "mgda", map[string]any{"norm": "l2"}, "class",
		[]int{32}, 7
	want.Model, want.Edit = "mlp", pcl.Edit{Eta: 0.01, MaxDrift: 0.1, Direction: "ascend"}
	want.Optimizer.Name, want.Optimizer.LR = "sgd", 0.1
	want.Memory.Policy, want.Memory.Budget = "fixed_total", 300
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", expect.Text(err), diff)
	}
}

// TestBadFiles: an error names the file and the key.
func TestBadFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.toml")
	for text, key := range map[string]string{
		"learning_rate = 0.1": "learning_rate", "Optimiser = {}": "Optimiser", "[optimizer]\nrate = 1": "optimizer.rate",
		"edit.etta = 1":         "max_drift",
		"memory = { size = 3 }": "budget", "seed = -1": "seed", "labelset = -1": "labelset", "batch =": "",
		"batch = \"many\"": "batch", "batch = 1.5": "batch",
		"batch = 1\nbatch = 2": "batch", "hidden = [0]": "hidden", "optimizer.schedule.kind = \"spiral\"": "spiral",
		"edit.aim = \"up\"": "aim",
		"model = \"\"":      "model", "params = 3": "params",
	} {
		t.Run(text, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
			l, err := ReadLayer(path)
			if err == nil {
				_, err = NewConfig(l)
			}
			expect.Refusal(t, "the file", err, path, key)
		})
	}
}

func TestCheck(t *testing.T) {
	for i, change := range []func(c *Config){
		func(c *Config) { c.Increment = "both" },
		func(c *Config) { c.Batch = 0 },
		func(c *Config) { c.Edit.Eta, c.Memory.Budget = 0.01, 0 },
		func(c *Config) { c.InitFile = "net.safetensors" },
		func(c *Config) { c.Optimizer.Beta1 = math.NaN() },
		func(c *Config) { c.Optimizer.Epsilon = math.Inf(1) },
		func(c *Config) { c.Params = map[string]any{"weights": []any{math.NaN()}} },
		func(c *Config) { c.Epochs = 0 },
		func(c *Config) { c.TrainPerClass = -1 },
		func(c *Config) { c.Hidden = nil },
		func(c *Config) { c.Hidden = make([]int, 65) },
		func(c *Config) { c.Hidden = []int{8, 0} },
		func(c *Config) { c.Shared = "some" },
		func(c *Config) { c.Optimizer.Name = "no such optimiser" },
		func(c *Config) { c.Optimizer.LR = 0 },
		func(c *Config) { c.Optimizer.Beta1 = 1 },
		func(c *Config) { c.Optimizer.Epsilon = -1 },
		func(c *Config) { c.Memory.Policy = "all" },
		func(c *Config) { c.Memory.Budget = -1 },
		func(c *Config) { c.Kind = "circular" },
		func(c *Config) { c.MaxClasses = 2 },
		func(c *Config) { c.Overlap = 3 },
		func(c *Config) { c.MinClasses, c.MaxClasses, c.Overlap = 4, 4, 4 },
		func(c *Config) { c.Duplicate = true },
		func(c *Config) { c.Method = "x" },
		func(c *Config) { c.Params = map[string]any{"sigma": 1.0} },
		func(c *Config) { c.Params = map[string]any{"tau": math.Inf(1)} },
		func(c *Config) { c.Model = "vgg" },
		func(c *Config) { c.StemChannels = 8 },
		func(c *Config) { c.Model = "resnet18" },
		func(c *Config) { c.Model, c.Hidden, c.StemChannels = "resnet18", nil, -1 },
		func(c *Config) { c.Edit.Eta = -1 },
		func(c *Config) { c.Edit.Direction = "up" },
		func(c *Config) { c.Edit.MaxDrift = math.NaN() },
		func(c *Config) { c.Method, c.ExtraUpdate = "graddrop", true },
		func(c *Config) { c.Scenario = new(scenario.Scenario) },
	} {
		c := DefaultConfig("glyphs")
		change(&c)
		if wrong(c) == nil {
			t.Errorf("change %d is not refused", i)
		}
	}
}

// TestIDFollowsEveryField changes each field of the configuration in turn.
func TestIDFollowsEveryField(t *testing.T) {
	c := DefaultConfig("glyphs")
	met := map[string]string{c.ID(): "the default"}
	if same := DefaultConfig("glyphs"); same.ID() != c.ID() {
		t.Error("equal configurations have different IDs")
	}
	for i := range reflect.TypeFor[Config]().NumField() {
		name := reflect.TypeFor[Config]().Field(i).Name
		if strings.HasSuffix(name, "File") { // where a file lies changes nothing
			continue
		}
		other := DefaultConfig("glyphs")
		alter(t, reflect.ValueOf(&other).Elem().Field(i))
		if twin, twice := met[other.ID()]; twice {
			t.Errorf("changing %s gives the ID of %s", name, twin)
		}
		met[other.ID()] = name
	}
	a := Config{Params: map[string]any{"tau": "1", "floor": "0", "momentum": 0.5}}
	b := Config{Params: map[string]any{"momentum": 0.5, "floor": "0", "tau": "1"}}
	if a.ID() != b.ID() {
		t.Error("the order of the parameters matters")
	}
}

func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"tau": "2"}))
	case reflect.Slice:
		v.Set(reflect.ValueOf([]int{9}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		alter(t, v.Field(0))
	default:
		t.Fatalf("no rule for a field of kind %s", v.Kind())
	}
}

// TestConfigAsJSON: result files hold the configuration as JSON; it comes back the same.
func TestConfigAsJSON(t *testing.T) {
	c := DefaultConfig("emnist-byclass")
	c.Params = map[string]any{"tau": "auto", "momentum": 0.5}
	data := must.Get(json.Marshal(c))(t)
	var back Config
	if err := json.Unmarshal(data, &back); err != nil || back.ID() != c.ID() {
		t.Errorf("ID %s became %s (%v)", c.ID(), back.ID(), expect.Text(err))
	}
}

// FuzzParseConfig reads arbitrary text; what passes is valid and has an ID.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("dataset = \"emnist-byclass\"\n[params]\ntau = 1\n[memory]\npolicy = \"fixed_total\"\nbudget = 310"))
	f.Add([]byte("hidden = [128, 64]\noptimizer = { lr = 1e-3, beta1 = 0.5 }\nseed = 18446744073709551615"))
	id := regexp.MustCompile("^([0-9a-f]{12}|invalid)$")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(string(data))
		if err != nil {
			return
		}
		if err := wrong(c); err != nil {
			t.Errorf("passed, but %v", err)
		}
		if !id.MatchString(c.ID()) {
			t.Errorf("ID %q", c.ID())
		}
	})
}

var regen = flag.Bool("regen", false, "write what is made from declarations into docs/config.md")

// TestDocumentedConfig: the file in docs/config.md is made from the declaration, and is a
// configuration.
func TestDocumentedConfig(t *testing.T) {
	const path = "../../docs/config.md"
	text := must.Get(os.ReadFile(path))(t)
	declared := tomlOf(params.Of(Config{}))
	block := regexp.MustCompile("(?s)```toml\n.*?```")
	want := block.ReplaceAllLiteralString(string(text), "```toml\n"+declared+"```")
	if *regen {
		must.Do(t, os.WriteFile(path, []byte(want), 0o644))
		text = []byte(want)
	}
	if string(text) != want {
		t.Error(
			"the file in docs/config.md is not that of the declaration (go test ./pcl/experiment -run Documented -regen writes it)")
	}
	switch c, err := parse(declared); {
	case err != nil:
		t.Error(err)
	case c.Batch != 128:
		t.Errorf("c.Batch is %d; want 128", c.Batch)
	}
	for i := range reflect.TypeFor[Config]().NumField() {
		f := reflect.TypeFor[Config]().Field(i)
		key, named := f.Tag.Lookup("param")
		json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key, _, _ = strings.Cut(key, ","); named && json != "-" && key != json {
			t.Errorf("%s is %q in JSON and %q elsewhere", f.Name, json, key)
		}
	}
}

// TestOtherModel: a file that names another network than the default of its data set need not take
// that one's layers back.
func TestOtherModel(t *testing.T) {
	for text, want := range map[string]Config{
		"model = \"linear\"":                           {Model: "linear"},
		"model = \"resnet18\"\nwidth = 8":              {Model: "resnet18", StemChannels: 8},
		"dataset = \"cifar-10\"\nmodel = \"mlp\"":      {Model: "mlp", Hidden: []int{128, 64}},
		"dataset = \"cifar-10\"\nwidth = 8":            {Model: "resnet18", StemChannels: 8},
		"model = \"mlp\"\nhidden = [32]":               {Model: "mlp", Hidden: []int{32}},
		"dataset = \"cifar-10\"\nmodel = \"linear\"\n": {Model: "linear"},
	} {
		t.Run(text, func(t *testing.T) {
			c, err := parse(text)
			switch {
			case err != nil:
				t.Error(err)
			case c.Model != want.Model:
				t.Errorf("c.Model is %q; want %q", c.Model, want.Model)
			case c.StemChannels != want.StemChannels:
				t.Errorf("c.StemChannels is %d; want %d", c.StemChannels, want.StemChannels)
			case !slices.Equal(c.Hidden, want.Hidden):
				t.Errorf("c.Hidden is %v; want %v", c.Hidden, want.Hidden)
			}
		})
	}
	if _, err := parse("model = \"linear\"\nhidden = [8]"); err == nil {
		t.Error("hidden layers of a linear classifier are not refused")
	}
}

// TestVariantTellsEditsApart: whatever an edit has beside its defaults is in the name of the
// variant.
func TestVariantTellsEditsApart(t *testing.T) {
	plain := Config{Edit: pcl.Edit{Eta: 0.2}}
	bounded, free := plain, plain
	bounded.Edit.MaxDrift, free.Edit.Unclamped = 0.1, true
	switch a, b, c := plain.variant(), bounded.variant(), free.variant(); {
	case a == b:
		t.Errorf("a is %q", b)
	case a == c:
		t.Errorf("a is %q", c)
	case b == c:
		t.Errorf("b is %q", c)
	}
}

// wrong is what is wrong with a configuration.
func wrong(c Config) error {
	_, err := c.Check()
	return err
}

// TestLayers checks what counts where a file and flags both say something.
func TestLayers(t *testing.T) {
	played := filepath.Join(t.TempDir(), "s.json")
	must.Do(t, os.WriteFile(played, []byte(`{"schema": 1, "increment": "class", "tasks": [{"classes": [0, 1]}]}`), 0o666))
	file := map[string]any{"hidden": []any{int64(8)}, "batch": int64(7), "optimizer": map[string]any{"lr": 0.5},
		"params": map[string]any{"tau": 1.0, "floor": 0.0}}
	for _, c := range []struct {
		values map[string]any
		want   func(Config) bool
	}{
		{map[string]any{"batch": "9"}, func(c Config) bool {
			return c.Batch == 9 && c.Optimizer.LR == 0.5 && c.Hidden[0] == 8
		}},
		{map[string]any{"model": "resnet18", "width": "16"}, func(c Config) bool {
			return c.StemChannels == 16 && c.Hidden == nil
		}},
		{map[string]any{"model": "mlp"}, func(c Config) bool { return c.Hidden[0] == 8 }},
		{map[string]any{"hidden": "3,4", "release": false, "seed": "18446744073709551615"}, func(c Config) bool {
			return c.Hidden[1] == 4 && c.Seed == math.MaxUint64
		}},
		{map[string]any{"edit.eta": "0.1", "edit.mode": "per_sample"}, func(c Config) bool {
			return c.Edit.Mode == "per_sample" && c.Edit.Eta == 0.1
		}},
		{map[string]any{"params": map[string]any{"tau": "2"}}, func(c Config) bool {
			return c.Params["tau"] == "2" && c.Params["floor"] == 0.0
		}},
		{map[string]any{"dataset": "mnist"}, func(c Config) bool {
			return c.Dataset == "mnist" && c.MaxClasses == 3 && c.Batch == 7
		}},
		{map[string]any{"scenario": played, "batch": 9}, func(c Config) bool {
			return c.Tasks == 1 && c.Increment == "class" && c.Batch == 9
		}},
		{map[string]any{"scenario": played, "timeline": uint64(1)}, nil},
	} {
		got, err := NewConfig(Layer{Values: file}, Layer{Values: c.values})
		switch {
		case (err == nil) != (c.want != nil):
			t.Errorf("%v: (err == nil) is %t; want %t", c.values, (err == nil), (c.want != nil))
		case c.want != nil && !c.want(got):
			t.Errorf("%v: %+v, %v", c.values, got, err)
		}
	}
	if file["params"].(map[string]any)["tau"] != 1.0 {
		t.Error("a layer was changed")
	}
}

// TestCheckedStays: a checked configuration does not change with the one that it came from, nor
// with a copy of its own.
func TestCheckedStays(t *testing.T) {
	c := blobConfig("emgd-gmc")
	c.Params = map[string]any{"tau": 5}
	checked := must.Get(c.Check())(t)
	id := checked.ID()
	c.Params["tau"], c.Hidden[0] = -1, 99
	own := checked.Config()
	own.Params["tau"], own.Hidden[0], own.Batch = -1, 99, 0
	switch {
	case checked.ID() != id:
		t.Errorf("the checked configuration changed: checked.ID() is %q; want %q", checked.ID(), id)
	case checked.Config().Hidden[0] == 99:
		t.Error("the checked configuration changed: checked.Config().Hidden[0] is 99")
	}
	switch other := checked.WithSeeds(7, 8, 9); {
	case checked.ID() != id:
		t.Errorf("other seeds: checked.ID() is %q; want %q", checked.ID(), id)
	case other.ID() == id:
		t.Errorf("other seeds: other.ID() is %q", id)
	case other.Config().Timeline != 8:
		t.Errorf("other seeds: other.Config().Timeline is %d; want 8", other.Config().Timeline)
	}
}

// TestSharedSettings: a setting that a learner and an experiment share has one type, the same
// choices and range, and one default, except for those that the comment of Config names.
func TestSharedSettings(t *testing.T) {
	learner, run := reflect.TypeFor[pcl.Options](), reflect.TypeFor[Config]()
	var shared []string
	for i := range learner.NumField() {
		own := learner.Field(i)
		other, ok := run.FieldByName(own.Name)
		if !ok || own.Type != other.Type {
			continue
		}
		shared = append(shared, own.Name)
		if _, declared := own.Tag.Lookup("default"); !declared {
			continue
		}
		for _, tag := range []string{"choices", "range", "default"} {
			named := tag == "default" && (own.Name == "Increment" || own.Name == "Batch")
			if a, b := own.Tag.Get(tag), other.Tag.Get(tag); (a == b) == named {
				t.Errorf("%s of %s is %q for a learner and %q for an experiment", tag, own.Name, a, b)
			}
		}
	}
	want := []string{"Increment", "Shared", "Batch", "Memory", "Seed", "Edit", "ExtraUpdate"}
	if !slices.Equal(shared, want) {
		t.Errorf("shared are %v, want %v", shared, want)
	}
}

// TestPartsAreMadeOnce: the first learner of a checked configuration gets the method that Check has
// made, whichever copy of it asks, and each further one a method of its own.
func TestPartsAreMadeOnce(t *testing.T) {
	checked := must.Get(DefaultConfig("glyphs").Check())(t)
	made := checked.made.Load()
	other := checked.WithSeeds(1, 2, 3)
	first := must.Get(other.parts())(t)
	second := must.Get(checked.parts())(t)
	third := must.Get(other.parts())(t)
	if first != made {
		t.Error("the first learner gets another method than the one that was checked")
	}
	switch {
	case second == made:
		t.Errorf("second and made are both %v", second)
	case third == made:
		t.Errorf("third and made are both %v", third)
	case second == third:
		t.Errorf("second and third are both %v", second)
	case second.method == first.method:
		t.Errorf("second.method and first.method are both %v", second.method)
	case third.method == second.method:
		t.Errorf("third.method and second.method are both %v", third.method)
	}
	switch unchecked := must.Get(Checked{config: checked.config}.parts())(t); {
	case unchecked.method == nil:
		t.Error("unchecked.method is nil")
	case unchecked.optimizer == nil:
		t.Error("unchecked.optimizer is nil")
	}
}
