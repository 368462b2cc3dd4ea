// Package schema compares the manifests of package deploy with Kubernetes' description of a Job, in
// a module of its own, so that programs which use parallelcl do not depend on what only this test
// needs. batch-v1.json is the part of the definitions for Kubernetes 1.33, in the package
// kubernetes-validate 1.37.0 (PyPI, Apache-2.0), that a Job refers to, without its prose.
package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// schema is Kubernetes' description of a Job.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open("batch-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("batch-v1.json", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("batch-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check compares a manifest with the description.
func check(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestManifests checks the manifests that package deploy's own tests compare its output with.
func TestManifests(t *testing.T) {
	s := schema(t)
	files, err := filepath.Glob("../testdata/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("files %v (%v)", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t, s, string(text)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestMistakes makes sure that the description would notice one.
func TestMistakes(t *testing.T) {
	s := schema(t)
	data, err := os.ReadFile("../testdata/plain.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for old, mistake := range map[string]string{
		"backoffLimitPerIndex: ":          "backoffLimitPerindex: ",
		"completions: 40":                 "completions: forty",
		"action: FailIndex":               "actions: FailIndex",
		"operator: In":                    "",
		"values: [2]":                     `values: ["2"]`,
		`- type: DisruptionTarget`:        "- kind: DisruptionTarget",
		"restartPolicy: Never":            "restart: Never",
		"claimName: ":                     "name: ",
		"terminationGracePeriodSeconds: ": "terminationGracePeriodSeconds: about ",
		"shareProcessNamespace: true":     "shareProcessNamespace: pod",
		"mountPath: /tmp":                 "path: /tmp",
	} {
		text := strings.Replace(string(data), old, mistake, 1)
		if text == string(data) {
			t.Errorf("%q is not in the manifest", old)
		}
		if check(t, s, text) == nil {
			t.Errorf("%q instead of %q is not noticed", mistake, old)
		}
	}
}

// TestAwkward reads back a name that YAML, a shell and Kubernetes could take for something else.
// Kubernetes replaces $$ by a dollar sign.
func TestAwkward(t *testing.T) {
	data, err := os.ReadFile("../testdata/awkward.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Args []string }
				}
			}
		}
	}
	if data, err = yaml.YAMLToJSONStrict(data); err == nil {
		err = json.Unmarshal(data, &job)
	}
	if err != nil {
		t.Fatal(err)
	}
	const want = `a: 'b' "c" $$(JOB_COMPLETION_INDEX) $$$$ # {x} é`
	if got := job.Spec.Template.Spec.Containers[0].Args[2]; got != want {
		t.Errorf("the name is %q, want %q", got, want)
	}
}
