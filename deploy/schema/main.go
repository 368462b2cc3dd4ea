// Command schema prints the part of Kubernetes' description of its objects that a Job needs, without its prose.
// batch-v1.json was made of the one for Kubernetes 1.33 in the package kubernetes-validate 1.37.0 (PyPI, Apache-2.0):
//
//	go run . <kubernetes_validate/kubernetes-json-schema/v1.33.0-local-strict/_definitions.json >batch-v1.json
//
// The test in this folder compares the manifests of package deploy with it. It is a module of its own, so that programs
// which use parallelcl do not depend on what only this test needs.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	where = "#/$defs/"
	job   = "io.k8s.api.batch.v1.Job"
)

func main() {
	if err := reduce(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// reduce writes what a Job is described by.
func reduce(in io.Reader, out io.Writer) error {
	var all struct {
		Version string         `json:"$schema"`
		Defs    map[string]any `json:"$defs"`
	}
	if err := json.NewDecoder(in).Decode(&all); err != nil {
		return err
	}
	needed := map[string]any{}
	for next := []string{job}; len(next) > 0; next = next[1:] {
		name := next[0]
		if needed[name] != nil {
			continue
		}
		s, ok := all.Defs[name]
		if !ok {
			return fmt.Errorf("%s is not described", name)
		}
		needed[name] = s
		next = append(next, references(s)...)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{"$schema": all.Version, "$ref": where + job, "$defs": needed})
}

// references returns the names that a description refers to, and removes its prose.
func references(v any) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			names = append(names, references(e)...)
		}
	case map[string]any:
		if _, isText := v["description"].(string); isText {
			delete(v, "description")
		}
		if ref, ok := v["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(ref, where))
		}
		for _, e := range v {
			names = append(names, references(e)...)
		}
	}
	return names
}
