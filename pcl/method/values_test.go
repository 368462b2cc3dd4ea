package method

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allValues has a value of every registered method, with its defaults.
var allValues = []Value{
	AGEM{},
	AlignedMTL{},
	AvgGrad{},
	CAGrad{},
	CappedMGDA{},
	ConFIG{},
	Constant{},
	COSMOS{},
	CRMOGM{},
	DBMTL{},
	DERPP{},
	DualProj{},
	DWA{},
	EMGD{},
	EMGDGS{},
	EMGDRecommended{},
	EMGDLog{},
	ER{},
	ExcessMTL{},
	FairGrad{},
	FAMO{},
	GDumb{},
	GEM{},
	GLS{},
	GMED{},
	GMEDRelease{},
	GradDrop{},
	GradNorm{},
	GradVac{},
	GSS{},
	ICaRL{},
	IMTL{},
	IMTLG{},
	IMTLL{},
	Krum{},
	MaxDOMinMax{},
	MaxDORelease{},
	MDMTR{},
	MEGA1{},
	MEGA2{},
	MEGARelease{},
	MGDA{},
	MIR{},
	MoCo{},
	MoDo{},
	NashMTL{},
	PBI{},
	PCD{},
	PCGrad{},
	POCL{},
	RLW{},
	SDMGrad{},
	STCH{},
	Sum{},
	TrimmedMean{},
	UPGrad{},
	UW{},
}

// TestValues: each method has a value, whose fields are its parameters and whose zero value has their defaults.
func TestValues(t *testing.T) {
	var seen []string
	for _, v := range allValues {
		m, err := v.New()
		if err != nil {
			t.Fatal(err)
		}
		name := m.Info().Name
		seen = append(seen, name)
		byName, err := New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !same(m, byName) {
			t.Errorf("%T{} is not the method %s with its defaults", v, name)
		}
		spec, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, p := range Parameters(spec) {
			want = append(want, p.Name)
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if param := f.Tag.Get("param"); param != "" {
				got = append(got, param)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%T has the parameters %v, the method %v", v, got, want)
		}
	}
	slices.Sort(seen)
	registered := slices.DeleteFunc(Names(), func(name string) bool { return strings.HasPrefix(name, "test-") })
	if !slices.Equal(seen, registered) {
		t.Errorf("values of %v, registered are %v", seen, registered)
	}
}

// same says whether two methods are equal. The functions of their rehearsals are those of their parts, and cannot
// be compared themselves.
func same(a, b Method) bool { return reflect.DeepEqual(comparable(a), comparable(b)) }

func comparable(m Method) Method {
	c, ok := m.(*composed)
	if !ok {
		return m
	}
	r, out := *c.rehearsal, *c
	r.Draw, r.Rank, r.Renew = nil, nil, nil
	out.rehearsal = &r
	out.assign()
	return &out
}

// TestValueOfParameters: what is set reaches the method, a zero by its pointer; what is out of range is refused.
func TestValueOfParameters(t *testing.T) {
	for _, c := range []struct {
		value  Value
		name   string
		params map[string]any
	}{
		{EMGD{Tau: 10, Momentum: new(0.0), Floor: "release"}, "emgd-gmc", map[string]any{"tau": "10", "momentum": 0.0, "floor": "release"}},
		{EMGD{Tau: math.Inf(1)}, "emgd-gmc", map[string]any{"tau": "inf"}},
		{EMGD{AutoTau: true}, "emgd-gmc", map[string]any{"tau": "auto"}},
		{EMGDGS{Tau: 0.5, Rescale: "mean"}, "emgd-gs", map[string]any{"tau": "0.5", "rescale": "mean"}},
		{DERPP{Alpha: new(0.0)}, "der-pp", map[string]any{"alpha": 0.0}},
		{GSS{ScoreAll: true}, "gss", map[string]any{"score_all": true}},
	} {
		got, err := c.value.New()
		if err != nil {
			t.Fatal(err)
		}
		want, err := New(c.name, c.params)
		if err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Errorf("%+v is not %s with %v", c.value, c.name, c.params)
		}
	}
	for _, v := range []Value{EMGD{Tau: -1}, EMGD{Tau: 1, AutoTau: true}, CAGrad{Divide: "3"}, EMGD{Rescale: "double"}} {
		if _, err := v.New(); err == nil {
			t.Errorf("%+v: no error", v)
		}
	}
}

// TestValuesNameTheirChoices: the comment of a field says which strings it may have.
func TestValuesNameTheirChoices(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "values.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if fields, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range fields.Fields.List {
				for _, name := range f.Names {
					comments[spec.Name.Name+"."+name.Name] = f.Doc.Text()
				}
			}
		}
		return true
	})
	for _, v := range allValues {
		m, err := v.New()
		if err != nil {
			t.Fatal(err)
		}
		spec, err := Lookup(m.Info().Name)
		if err != nil {
			t.Fatal(err)
		}
		choices := map[string][]string{}
		for _, p := range Parameters(spec) {
			choices[p.Name] = p.Choices
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			name := reflect.TypeOf(v).Name() + "." + f.Name
			for _, c := range choices[f.Tag.Get("param")] {
				if !strings.Contains(comments[name], strconv.Quote(c)) {
					t.Errorf("the comment of %s does not name %q: %s", name, c, comments[name])
				}
			}
		}
	}
}
