package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// An object is a datafile or a part of it.
type object = map[string]any

// A world is the data of one side, as a bundle has them.
type world struct {
	Data      map[string]object `json:"data"`
	Resources map[string]object `json:"resources"`
	Schemas   json.RawMessage   `json:"schemas,omitempty"`
	GraphQL   json.RawMessage   `json:"graphql"`
}

// root returns the folder of the repository: the nearest one above with a go.mod.
func root() (string, error) {
	at, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(at, "go.mod")); missing == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return "", errors.New("start it in the checkout: no folder above this one has a go.mod")
		}
		at = filepath.Dir(at)
	}
	return "", err
}

// example returns the data of a folder of examples.
func example(ctx context.Context, name string) (*world, error) {
	top, err := root()
	if err != nil {
		return nil, err
	}
	tree := bundler.Folder(filepath.Join(top, "examples", name))
	section := func(dir string) bundler.TreePart {
		return bundler.TreePart{Tree: tree, Dir: dir, Shown: dir, Optional: dir == "resources"}
	}
	made, problems, err := bundler.Make(ctx, bundler.Input{
		Data: section("data"), Resources: section("resources"), Schemas: section("schemas"),
		GraphQL: section("graphql-schemas/schema.yml"),
	}, bundler.Options{})
	if err != nil || len(problems) > 0 {
		return nil, fmt.Errorf("bundling examples/%s: %w, %v", name, err, problems)
	}
	var raw bytes.Buffer
	defer made.Close()
	if _, err := made.WriteTo(&raw); err != nil {
		return nil, err
	}
	out := &world{}
	return out, json.Unmarshal(raw.Bytes(), out)
}

// clone returns a copy whose datafiles can be changed.
func (w *world) clone() *world {
	out := *w
	out.Data, out.Resources = map[string]object{}, maps.Clone(w.Resources)
	for path, file := range w.Data {
		out.Data[path] = copyOf(file).(object)
	}
	return &out
}

// copyOf returns a copy of a value of JSON.
func copyOf(v any) any {
	switch is := v.(type) {
	case object:
		out := make(object, len(is))
		for k, item := range is {
			out[k] = copyOf(item)
		}
		return out
	case []any:
		out := make([]any, len(is))
		for i, item := range is {
			out[i] = copyOf(item)
		}
		return out
	}
	return v
}

// bundle returns the bundle of the world.
func (w *world) bundle() (*bundle.Bundle, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	return bundle.Parse(raw, nil)
}

// at returns the object at a path of keys and positions of a datafile, nil if there is none.
func (w *world) at(file string, path ...any) object {
	var v any = w.Data[file]
	for _, part := range path {
		switch part := part.(type) {
		case string:
			of, _ := v.(object)
			v = of[part]
		case int:
			list, _ := v.([]any)
			if part >= len(list) {
				return nil
			}
			v = list[part]
		}
	}
	out, _ := v.(object)
	return out
}

// ref returns a reference to a datafile.
func ref(path string) object { return object{"$ref": path} }

// secret returns a reference to a secret.
func secret(path, field string) object { return object{"path": path, "field": field} }
