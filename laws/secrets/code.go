package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/app-sre/prcheck/integration/services"
)

// A forge holds the repositories of a scene. It stands for the client of git, whose requests take
// too long for so many runs, and writes down what the client is asked for.
type forge struct {
	scene *scene
	wire  *wire
}

var _ services.Repositories = forge{}

// note writes a request down.
func (f forge) note(of services.Repository, what string) {
	host := strings.TrimPrefix(of.URL, "https://")
	host, _, _ = strings.Cut(host, "/")
	owned := f.wire.owned(host)
	f.wire.note("git %s user %s password %s %s", of.URL, named(owned, of.User), named(owned, strings.TrimSpace(of.Password)), what)
}

// Heads implements [services.Repositories].
func (f forge) Heads(_ context.Context, of services.Repository, branches []string) (map[string]string, error) {
	f.note(of, "heads "+strings.Join(branches, " "))
	all, ok := f.scene.code[of.URL]
	if !ok {
		return nil, services.ErrNotThere
	}
	out := map[string]string{}
	for _, name := range branches {
		if c, ok := all[name]; ok {
			out[name] = c.sha
		}
	}
	return out, nil
}

// Log implements [services.Repositories].
func (f forge) Log(_ context.Context, of services.Repository, commit string, limit int) ([]string, error) {
	f.note(of, fmt.Sprintf("log %s %d", commit, limit))
	if f.scene.code[of.URL] == nil {
		return nil, services.ErrNotThere
	}
	return []string{commit}, nil
}

// Files implements [services.Repositories].
func (f forge) Files(_ context.Context, of services.Repository, sha, at string, deep bool) (map[string][]byte, error) {
	f.note(of, fmt.Sprintf("files %s %s %t", sha, at, deep))
	out := map[string][]byte{}
	for _, c := range f.scene.code[of.URL] {
		if c.sha != sha {
			continue
		}
		for name, text := range c.files {
			if rest, ok := strings.CutPrefix(name, strings.Trim(at, "/")); ok && (rest == "" || rest[0] == '/') {
				out[strings.TrimPrefix(rest, "/")] = []byte(text)
			}
		}
	}
	if len(out) == 0 {
		return nil, services.ErrNotThere
	}
	return out, nil
}

// helm renders a chart: its templates are texts of Go, as those of the program are, and get its
// values as they are.
func helm(_ context.Context, chart map[string][]byte, values map[string]any, name, namespace string) ([]byte, error) {
	var out bytes.Buffer
	for _, file := range slices.Sorted(maps.Keys(chart)) {
		if path.Dir(file) != "templates" {
			continue
		}
		t, err := template.New(file).Option("missingkey=zero").Funcs(template.FuncMap{
			"quote": func(v any) string { raw, _ := json.Marshal(fmt.Sprint(v)); return string(raw) },
			"upper": func(v any) string { return strings.ToUpper(fmt.Sprint(v)) },
			"first": func(n int, v any) string { return fmt.Sprint(v)[:n] },
		}).Parse(string(chart[file]))
		if err == nil {
			out.WriteString("---\n")
			err = t.Execute(&out, map[string]any{"Values": values, "Name": name, "Namespace": namespace})
		}
		if err != nil {
			return nil, fmt.Errorf("helm: %w", err)
		}
	}
	return out.Bytes(), nil
}
