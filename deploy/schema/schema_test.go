// Package schema compares the manifests of package deploy with Kubernetes' description of what is
// in them, in a module of its own, so that programs which use parallelcl do not depend on what only
// this test needs. kubernetes.json is the part of the definitions for Kubernetes 1.33, in the
// package kubernetes-validate 1.37.0 (PyPI, Apache-2.0), that a Job, a Deployment and a Service
// refer to, without its prose.
package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// schemas are Kubernetes' descriptions of the kinds of objects that manifests have.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	f, err := os.Open("kubernetes.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("kubernetes.json", text); err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for kind, group := range map[string]string{"Job": "batch.v1", "Deployment": "apps.v1", "Service": "core.v1"} {
		if out[kind], err = c.Compile("kubernetes.json#/$defs/io.k8s.api." + group + "." + kind); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// check compares the objects of a manifest with their descriptions.
func check(t *testing.T, s map[string]*jsonschema.Schema, text string) error {
	t.Helper()
	for object := range strings.SplitSeq(text, "\n---\n") {
		data, err := yaml.YAMLToJSONStrict([]byte(object))
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := v.(map[string]any)["kind"].(string)
		if s[kind] == nil {
			return fmt.Errorf("the kind %q is none of those that are described", kind)
		}
		if err := s[kind].Validate(v); err != nil {
			return err
		}
	}
	return nil
}

// TestManifests checks the manifests that package deploy's own tests compare its output with.
func TestManifests(t *testing.T) {
	s := schemas(t)
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

// TestMistakes makes sure that the descriptions would notice one.
func TestMistakes(t *testing.T) {
	s := schemas(t)
	for file, mistakes := range map[string]map[string]string{
		"plain.yaml": {
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
		},
		"service.yaml": {
			"replicas: 1":                  "replicas: one",
			"type: Recreate":               "kind: Recreate",
			"containerPort: 8080":          "containerport: 8080",
			"path: /readyz":                "url: /readyz",
			"failureThreshold: 60":         `failureThreshold: "60"`,
			"selector:\n    app.kubern":    "selectors:\n    app.kubern",
			"targetPort: http":             "targetport: http",
			"kind: Service":                "kind: Services",
			"prometheus.io/port: \"8080\"": "prometheus.io/port: 8080",
		},
	} {
		data, err := os.ReadFile("../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for old, mistake := range mistakes {
			text := strings.Replace(string(data), old, mistake, 1)
			if text == string(data) {
				t.Errorf("%q is not in %s", old, file)
			}
			if check(t, s, text) == nil {
				t.Errorf("%q instead of %q is not noticed in %s", mistake, old, file)
			}
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
