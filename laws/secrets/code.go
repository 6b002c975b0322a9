package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A forge holds the repositories of a scene. The real client asks it for branches, as a server of git. It stands for
// the program git as well, which takes too long for so many runs, and writes down what the program is asked for.
type forge struct {
	scene *scene
	wire  *wire
	heads services.Repositories
}

var _ services.Repositories = forge{}

// note writes down what the program git is asked for.
func (f forge) note(of services.Repository, what string) {
	host := strings.TrimPrefix(of.URL, "https://")
	host, _, _ = strings.Cut(host, "/")
	owned := f.wire.owned(host)
	f.wire.note("git %s user %s password %s %s", of.URL, named(owned, of.User),
		named(owned, strings.TrimSpace(of.Password)), what)
}

// Heads implements [services.Repositories].
func (f forge) Heads(ctx context.Context, of services.Repository, branches []string) (map[string]string, error) {
	return f.heads.Heads(ctx, of, branches)
}

// refPrefix matches a line of a request for branches.
var refPrefix = regexp.MustCompile(`ref-prefix (\S+)`)

// serveGit answers as a server of git that is asked for branches.
func (s *scene) serveGit(w http.ResponseWriter, r *http.Request) {
	repository, ok := strings.CutSuffix(r.URL.Path, "/git-upload-pack")
	branches := s.code["https://"+r.Host+strings.TrimSuffix(repository, ".git")]
	if !ok || branches == nil {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	prefixes := refPrefix.FindAllStringSubmatch(string(body), -1)
	for _, name := range slices.Sorted(maps.Keys(branches)) {
		ref := "refs/heads/" + name
		if slices.ContainsFunc(prefixes, func(p []string) bool { return strings.HasPrefix(ref, p[1]) }) {
			line := branches[name].sha + " " + ref + "\n"
			_, _ = fmt.Fprintf(w, "%04x%s", len(line)+4, line) // in memory
		}
	}
	_, _ = io.WriteString(w, "0000")
}

// Log implements [services.Repositories].
func (f forge) Log(_ context.Context, of services.Repository, commit string, limit int) ([]string, error) {
	f.note(of, fmt.Sprintf("log %s %d", commit, limit))
	switch {
	case f.scene.code[of.URL] == nil:
		return nil, services.ErrNotThere
	case commit == mainSha: // newer than the one of before
		return []string{mainSha, saastest.Sha}, nil
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

// helm returns what stands for the program helm. It writes down what the program is given.
func helm(w *wire) func(context.Context, map[string][]byte, map[string]any, string, string) ([]byte, error) {
	return func(_ context.Context, chart map[string][]byte, values map[string]any,
		name, namespace string) ([]byte, error) {
		raw, err := json.Marshal(values)
		w.note("helm %s %s with %d files and the values %s, %v", name, namespace, len(chart), raw, err)
		return renderChart(chart, values, name, namespace)
	}
}

// renderChart renders a chart: its templates are texts of Go, as those of the program are, and get its
// values as they are.
func renderChart(chart map[string][]byte, values map[string]any, name, namespace string) ([]byte, error) {
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
