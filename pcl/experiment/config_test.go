package experiment

import (
	"encoding/json"
	"errors"
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

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

var benchmarkSets = []string{"glyphs", "emnist-byclass", "emnist-byclass-test80", "mnist", "mnist-test80", "cifar-10", "cifar-100", "tiny-imagenet", "tiny-imagenet-32", "own"}

func parse(text string) (Config, error) { return ParseConfig([]byte(text), "testdata") }

func TestDefaults(t *testing.T) {
	for _, name := range benchmarkSets {
		c := DefaultConfig(name)
		if err := wrong(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := method.New(c.Method, c.Params); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		parsed, err := parse(`dataset = "` + name + `"`)
		if diff := cmp.Diff(c, parsed); err != nil || diff != "" {
			t.Errorf("a file that names %s only: %v\n%s", name, err, diff)
		}
	}
	if c, err := parse(""); err != nil || c.Dataset != "glyphs" {
		t.Errorf("an empty file: %q, %v; want the built-in glyphs", c.Dataset, err)
	}
}

// TestParseConfig sets a field of every kind; what is not named keeps its default.
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
	want.Method, want.Params, want.Increment, want.Hidden, want.Seed = "mgda", map[string]any{"norm": "l2"}, "class", []int{32}, 7
	want.Model, want.Edit = "mlp", pcl.Edit{Eta: 0.01, MaxDrift: 0.1, Aim: "ascend"}
	want.Optimizer.Name, want.Optimizer.LR = "sgd", 0.1
	want.Memory.Policy, want.Memory.Budget = "fixed_total", 300
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestUnknownKeys(t *testing.T) {
	for key, text := range map[string]string{
		"learning_rate": "learning_rate = 0.1", "Optimiser": "Optimiser = {}", "optimizer.rate": "[optimizer]\nrate = 1", "memory.size": "memory = { size = 3 }",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), `"`+key+`"`) {
			t.Errorf("%s: error %v, want one that names the key", text, err)
		}
	}
	for _, text := range []string{"seed = -1", "timeline = -1", "labelset = -1", "batch =", `batch = "many"`, "batch = 1.5", "batch = 1\nbatch = 2"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	path := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(path, []byte("bacth = 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadConfig(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "bacth") {
		t.Errorf("error %v, want one that names file and key", err)
	}
}

func TestValidateConfig(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		`increment "both"`:               func(c *Config) { c.Increment = "both" },
		"batch 0":                        func(c *Config) { c.Batch = 0 },
		"keeps none":                     func(c *Config) { c.Edit.Eta, c.Memory.Budget = 0.01, 0 },
		"Init, its checksum":             func(c *Config) { c.InitFile = "net.safetensors" },
		"β₁=NaN":                         func(c *Config) { c.Optimizer.Beta1 = math.NaN() },
		"β₂=NaN":                         func(c *Config) { c.Optimizer.Beta2 = math.NaN() },
		"ε=NaN":                          func(c *Config) { c.Optimizer.Epsilon = math.NaN() },
		"ε=+Inf":                         func(c *Config) { c.Optimizer.Epsilon = math.Inf(1) },
		"parameter weights":              func(c *Config) { c.Params = map[string]any{"weights": []any{math.NaN()}} },
		"batch 65537":                    func(c *Config) { c.Batch = 65537 },
		"epochs 0":                       func(c *Config) { c.Epochs = 0 },
		"tasks 0":                        func(c *Config) { c.Tasks = 0 },
		"train_per_class -1":             func(c *Config) { c.TrainPerClass = -1 },
		"test_per_class -1":              func(c *Config) { c.TestPerClass = -1 },
		"eval_every -1":                  func(c *Config) { c.EvalEvery = -1 },
		"0 hidden layers":                func(c *Config) { c.Hidden = nil },
		"65 hidden layers":               func(c *Config) { c.Hidden = make([]int, 65) },
		"hidden layer of 0":              func(c *Config) { c.Hidden = []int{8, 0} },
		`shared "some"`:                  func(c *Config) { c.Shared = "some" },
		`optimizer "lion"`:               func(c *Config) { c.Optimizer.Name = "lion" },
		"learning rate 0":                func(c *Config) { c.Optimizer.LR = 0 },
		"learning rate NaN":              func(c *Config) { c.Optimizer.LR = math.NaN() },
		"β₁=1":                           func(c *Config) { c.Optimizer.Beta1 = 1 },
		"β₂=-0.1":                        func(c *Config) { c.Optimizer.Beta2 = -0.1 },
		"ε=-1":                           func(c *Config) { c.Optimizer.Epsilon = -1 },
		`policy "all"`:                   func(c *Config) { c.Memory.Policy = "all" },
		"budget -1":                      func(c *Config) { c.Memory.Budget = -1 },
		`kind "circular"`:                func(c *Config) { c.Kind = "circular" },
		"3 to 2 classes":                 func(c *Config) { c.MaxClasses = 2 },
		"overlap 3":                      func(c *Config) { c.Overlap = 3 },
		"overlap 4":                      func(c *Config) { c.MinClasses, c.MaxClasses, c.Overlap = 4, 4, 4 },
		"duplicate belongs":              func(c *Config) { c.Duplicate = true },
		`unknown method "x"`:             func(c *Config) { c.Method = "x" },
		`no parameter "sigma"`:           func(c *Config) { c.Params = map[string]any{"sigma": 1.0} },
		"write it as text":               func(c *Config) { c.Params = map[string]any{"tau": math.Inf(1)} },
		`model "vgg"`:                    func(c *Config) { c.Model = "vgg" },
		"belong to model":                func(c *Config) { c.Base = 8 },
		"a resnet18 has none":            func(c *Config) { c.Model = "resnet18" },
		"width -1":                       func(c *Config) { c.Model, c.Hidden, c.Base = "resnet18", nil, -1 },
		"edit: parameter eta: -1":        func(c *Config) { c.Edit.Eta = -1 },
		`parameter aim: "up"`:            func(c *Config) { c.Edit.Aim = "up" },
		"edit: parameter every: -2":      func(c *Config) { c.Edit.Every = -2 },
		"edit: parameter max_drift: NaN": func(c *Config) { c.Edit.MaxDrift = math.NaN() },
		"repeats a step":                 func(c *Config) { c.Method, c.ExtraUpdate = "graddrop", true },
		"schema is missing":              func(c *Config) { c.Scenario = new(scenario.Scenario) },
	} {
		c := DefaultConfig("glyphs")
		change(&c)
		if err := wrong(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
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
		if name == "InitFile" { // Init is the file's checksum; where it lies changes nothing
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
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(data, &back); err != nil || back.ID() != c.ID() {
		t.Errorf("ID %s became %s (%v)", c.ID(), back.ID(), err)
	}
}

// TestLoadConfigWith: the data set of a run has the defaults, whatever the file names.
func TestLoadConfigWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.toml")
	for _, text := range []string{"method = \"er\"\n", "method = \"er\"\ndataset = \"mnist\"\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, dataset := range []string{"emnist-byclass-test80", "cifar-100", "glyphs"} {
			want := DefaultConfig(dataset)
			want.Method = "er"
			if c, err := LoadConfigWith(path, map[string]any{"dataset": dataset}); err != nil || c.ID() != want.ID() {
				t.Errorf("%s with %q: %+v, want %+v (%v)", dataset, text, c, want, err)
			}
		}
	}
	if c, err := LoadConfig(path); err != nil || c.Dataset != "mnist" || c.MaxClasses != 3 {
		t.Errorf("without another data set: %+v (%v)", c, err)
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

// TestKeysBeside: the error names the keys that there are, of the table where the unknown one was.
func TestKeysBeside(t *testing.T) {
	for text, want := range map[string]string{
		"hiden = [3]":             "hidden",
		"optimizer = {decay = 1}": "weight_decay",
		"optimizer = {schedule = {kind = \"cosine\", period = 3}}": "warmup",
		"memory = {size = 3}": "budget, policy",
		"edit.etta = 1":       "max_drift",
	} {
		if _, err := ParseConfig([]byte(text), ""); err == nil || !strings.Contains(err.Error(), "unknown key") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

// TestDocumentedConfig: docs/config.md names every key, and its file is a configuration.
func TestDocumentedConfig(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("there is no file in it")
	}
	c, err := ParseConfig(block[1], "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Optimizer.Name != "adamw" || c.Optimizer.Schedule.Warmup != 20 || c.Memory.Budget != 5 {
		t.Errorf("it is read as %+v", c)
	}
	if declared := params.TOML(params.Of(pcl.Edit{})); !strings.Contains(string(block[1]), declared) {
		t.Errorf("the lines of [edit] are not those of its declaration:\n%s", declared)
	}
	tables := map[string]bool{"optimizer": true, "memory": true, "edit": true, "schedule": true}
	for _, table := range []toml.Key{{"x"}, {"optimizer", "x"}, {"optimizer", "schedule", "x"}, {"memory", "x"}, {"edit", "x"}} {
		for _, key := range keysBeside(table) {
			if !tables[key] && !regexp.MustCompile(`(?m)^(# )?`+key+` =`).Match(block[1]) {
				t.Errorf("%s of %v is not in it", key, table)
			}
		}
	}
}

// TestOtherModel: a file that names another network than the default of its data set need not take that one's layers back.
func TestOtherModel(t *testing.T) {
	for text, want := range map[string]Config{
		"model = \"linear\"":                           {Model: "linear"},
		"model = \"resnet18\"\nwidth = 8":              {Model: "resnet18", Base: 8},
		"dataset = \"cifar-10\"\nmodel = \"mlp\"":      {Model: "mlp", Hidden: []int{128, 64}},
		"dataset = \"cifar-10\"\nwidth = 8":            {Model: "resnet18", Base: 8},
		"model = \"mlp\"\nhidden = [32]":               {Model: "mlp", Hidden: []int{32}},
		"dataset = \"cifar-10\"\nmodel = \"linear\"\n": {Model: "linear"},
	} {
		c, err := ParseConfig([]byte(text), "")
		if err != nil || c.Model != want.Model || c.Base != want.Base || !slices.Equal(c.Hidden, want.Hidden) {
			t.Errorf("%s: %s, width %d, hidden %v (%v)", text, c.Model, c.Base, c.Hidden, err)
		}
	}
	if _, err := ParseConfig([]byte("model = \"linear\"\nhidden = [8]"), ""); err == nil {
		t.Error("hidden layers of a linear classifier are not refused")
	}
}

// TestVariantTellsEditsApart: whatever an edit has beside its defaults is in the name of the variant.
func TestVariantTellsEditsApart(t *testing.T) {
	plain := Config{Edit: pcl.Edit{Eta: 0.2}}
	bounded, free := plain, plain
	bounded.Edit.MaxDrift, free.Edit.Unclamped = 0.1, true
	if a, b, c := plain.variant(), bounded.variant(), free.variant(); a == b || a == c || b == c {
		t.Errorf("variants %q, %q and %q", a, b, c)
	}
}

// wrong is what is wrong with a configuration.
func wrong(c Config) error {
	_, err := c.Check()
	return err
}

// checked is a configuration in which nothing is wrong.
func checked(c Config) Checked {
	out, err := c.Check()
	if err != nil {
		panic(err)
	}
	return out
}

// TestLoadConfigWith checks what counts where a file and flags both say something, and that a value that would do nothing
// is told.
func TestLoadConfigWithValues(t *testing.T) {
	dir := t.TempDir()
	file, played := filepath.Join(dir, "c.toml"), filepath.Join(dir, "s.json")
	if err := os.WriteFile(file, []byte("hidden = [8]\nbatch = 7\n[optimizer]\nlr = 0.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(played, []byte(`{"schema": 1, "increment": "class", "tasks": [{"classes": [0, 1]}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values map[string]any
		idle   string
		want   func(Config) bool
	}{
		{map[string]any{"batch": 9}, "", func(c Config) bool { return c.Batch == 9 && c.Optimizer.LR == 0.5 && c.Hidden[0] == 8 }},
		{map[string]any{"model": "resnet18", "width": 16}, "", func(c Config) bool { return c.Base == 16 && c.Hidden == nil }},
		{map[string]any{"model": "mlp"}, "", func(c Config) bool { return c.Hidden[0] == 8 }},
		{map[string]any{"edit.eta": 0.1, "edit.mode": "per_sample"}, "", func(c Config) bool { return c.Edit.Mode == "per_sample" }},
		{map[string]any{"edit.eta": 0.0, "edit.mode": "batch"}, "", func(c Config) bool { return !c.Edit.On() }},
		{map[string]any{"edit.every": 2}, "edit.every", nil},
		{map[string]any{"scenario": played, "batch": 9}, "", func(c Config) bool { return c.Tasks == 1 && c.Increment == "class" && c.Batch == 9 }},
		{map[string]any{"scenario": played, "timeline": uint64(1)}, "timeline", nil},
	} {
		got, err := LoadConfigWith(file, c.values)
		idle := new(IdleError)
		if errors.As(err, &idle); idle.Key != c.idle || c.want != nil && (err != nil || !c.want(got)) {
			t.Errorf("%v: %+v, %v", c.values, got, err)
		}
	}
}
