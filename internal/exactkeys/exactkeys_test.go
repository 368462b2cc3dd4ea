package exactkeys

import (
	"testing"

	"github.com/BurntSushi/toml"
)

type inner struct {
	LR float64 `toml:"lr"`
}

type embedded struct {
	Seed   int            `toml:"seed"`
	Params map[string]any `toml:"params"`
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"seed = 1\n[optimizer]\nlr = 1\n":              "",
		"[params]\nAlpha = 1\nalpha = 2\n":             "",
		"[table.A]\nlr = 1\n[table.a]\nlr = 2\n":       "",
		"foreign = 1\n[other]\nLR = 1\n":               "",
		"SEED = 1\n":                                   `unknown key "SEED": it is written seed`,
		"seed = 1\nSeed = 2\n":                         `unknown key "Seed": it is written seed`,
		"Optimizer.lr = 1\n":                           `unknown key "Optimizer": it is written optimizer`,
		"optimizer.Lr = 1\n":                           `unknown key "optimizer.Lr": it is written lr`,
		"[table.A]\nLr = 1\n":                          `unknown key "table.A.Lr": it is written lr`,
		"[[list]]\nlr = 1\n[[list]]\nlr = 1\nlR = 2\n": `unknown key "list.lR": it is written lr`,
	} {
		var v struct {
			*embedded
			Optimizer inner            `toml:"optimizer"`
			Table     map[string]inner `toml:"table"`
			List      []inner          `toml:"list"`
		}
		v.embedded = new(embedded)
		meta, err := toml.Decode(text, &v)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		switch err := Check(meta, &v); {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && err == nil:
			t.Errorf("%q: no error, want %s", text, want)
		}
	}
}
