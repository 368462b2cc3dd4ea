package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// settingFlags returns a struct with a flag for each setting of a run, as [experiment.Config]
// declares them. A setting that names its flag is often needed; the other flags are called like
// their settings. Settings named in without get no flag here: the command sets those itself.
func settingFlags(without ...string) any {
	var fields []reflect.StructField
	for i, p := range params.Of(experiment.Config{}) {
		if p.Name == "data_sha256" || slices.Contains(without, p.Name) { // which the program writes
			continue
		}
		tag := fmt.Sprintf(`key:%q name:%q`, p.Name, p.Flag)
		if p.Flag == "" {
			tag = fmt.Sprintf(`key:%q name:%q rare:""`, p.Name, strings.NewReplacer(".", "-", "_", "-").Replace(p.Name))
		}
		field := reflect.StructField{Name: fmt.Sprint("Setting", i), Type: reflect.TypeFor[string]()}
		if _, isBool := p.Default.(bool); isBool {
			field.Type = reflect.TypeFor[bool]()
		} else {
			tag += fmt.Sprintf(` placeholder:%q`, placeholder(p))
		}
		field.Tag = reflect.StructTag(tag + fmt.Sprintf(` help:%q`, sentence(p)))
		fields = append(fields, field)
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

func placeholder(p params.Param) string {
	switch p.Default.(type) {
	case float64, uint64:
		return "N"
	case []int:
		return "N,…"
	}
	if len(p.Choices) > 0 {
		return strings.Join(p.Choices, "|")
	}
	return "NAME"
}

// sentence is what the help says of a setting.
func sentence(p params.Param) string {
	first, size := utf8.DecodeRuneInString(p.Doc)
	text := string(unicode.ToUpper(first)) + p.Doc[size:]
	// only defaults that are words are shown: numbers depend on the data set
	if len(p.Choices) > 0 {
		text += fmt.Sprintf(" (default %v)", p.Default)
	}
	return text + "."
}

// configOf returns the configuration of under, such as a file, changed by the flags of settings and
// by given parameters. If paper is set, the settings of the paper's tables for the data set lie
// below both.
func configOf(k *kong.Context, paper bool, under experiment.Layer, given assigned) (c experiment.Config, err error) {
	values, flag := map[string]any{}, ""
	for _, p := range k.Path {
		if p.Flag != nil && p.Flag.Tag.Has("key") {
			key := p.Flag.Tag.Get("key")
			if values[key] = k.FlagValue(p.Flag); strings.HasPrefix(key, "edit.") {
				flag = p.Flag.Name
			}
		}
	}
	if len(given) > 0 {
		values["params"] = parameters(given)
	}
	layers := []experiment.Layer{under, {Values: values}}
	if c, err = experiment.NewConfig(layers...); err != nil {
		return experiment.Config{}, err
	}
	if paper { // only now is the data set known, on which the paper's settings depend
		tables, err := grid.PaperLayer(c.Dataset)
		if err != nil {
			return experiment.Config{}, err
		}
		if c, err = experiment.NewConfig(append([]experiment.Layer{tables}, layers...)...); err != nil {
			return experiment.Config{}, err
		}
	}
	_, etaGiven := values["edit.eta"]
	if flag != "" && !etaGiven && c.Edit.Eta == 0 {
		return experiment.Config{}, fmt.Errorf(
			"--%s says how the memory is edited, which is turned off: add a step size, such as --edit 0.003",
			flag)
	}
	return c, nil
}
