package helm

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// script returns a program that is a shell script.
func script(t *testing.T, lines string) *Program {
	t.Helper()
	at := filepath.Join(t.TempDir(), "helm")
	if err := os.WriteFile(at, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PRCHECK_SECRET", "s3cret")
	return &Program{path: at, timeout: 10 * time.Second}
}

var chart = map[string][]byte{"Chart.yaml": []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
	"templates/a.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\ndata: {tag: {{ .Values.image.tag | quote }}, n: {{ .Values.n | quote }}}\n")}

func values() map[string]any {
	return map[string]any{"image": map[string]any{"tag": "abc"}, "n": json.Number("3")}
}

func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		name, script string
		change       func(chart map[string][]byte, release *string)
		want         string // output or a part of the error
		isTransient  bool
	}{
		{name: "what the program gets",
			script: `echo "$@"; env | cut -d= -f1 | sort | tr '\n' ' '; echo; find . -type f | sort; cat values.json`,
			want: "template web chart --namespace=shop --values=values.json\nALL_PROXY HELM_CACHE_HOME HELM_CONFIG_HOME HELM_DATA_HOME HELM_KUBEAPISERVER HOME HTTPS_PROXY HTTP_PROXY KUBECONFIG LC_ALL NO_PROXY PWD " +
				"all_proxy http_proxy https_proxy no_proxy \n./chart/Chart.yaml\n./chart/templates/a.yaml\n./values.json\n" +
				`{"image":{"tag":"abc"},"n":3}`},
		{name: "a mistake of the chart", script: `echo "Error: $PWD/chart: no" >&2; echo more >&2; exit 1`,
			want: "helm: Error: chart: no more"},
		{name: "too much output", script: `head -c 9000000 /dev/zero`, want: "becomes more than 8 MiB"},
		{name: "killed", script: `kill -9 $$`, want: "running helm: signal: killed", isTransient: true},
		{name: "a name that is an option", script: `echo`, change: func(_ map[string][]byte, release *string) {
			*release = "--post-renderer=x"
		}, want: "is no name of a release"},
		{name: "out of the folder", script: `echo`, change: func(chart map[string][]byte, _ *string) { chart["../x"] = nil },
			want: "leads out of its folder"},
		{name: "an absolute name", script: `echo`, change: func(chart map[string][]byte, _ *string) { chart["/etc/x"] = nil },
			want: "leads out of its folder"},
		{name: "out through a folder", script: `echo`, change: func(chart map[string][]byte, _ *string) {
			chart["a/../../x"] = nil
		}, want: "leads out of its folder"},
		{name: "a file that is a folder", script: `echo`, change: func(chart map[string][]byte, _ *string) {
			chart["Chart.yaml/x"] = nil
		}, want: "a file and a folder of one name"},
		{name: "too large", script: `echo`, change: func(chart map[string][]byte, _ *string) {
			chart["x"] = make([]byte, maxChart)
		}, want: "the chart is larger than 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, release := map[string][]byte{}, "web"
			for name, raw := range chart {
				files[name] = raw
			}
			if c.change != nil {
				c.change(files, &release)
			}
			out, err := script(t, c.script).Template(t.Context(), files, values(), release, "shop")
			got := string(out)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, "s3cret") ||
				(integration.ClassOfFailure(err) == integration.FailureTransient) != c.isTransient {
				t.Errorf("got %.300s, class %q, want %s", got, integration.ClassOfFailure(err), c.want)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	p := script(t, "exec sleep 60")
	p.timeout = 50 * time.Millisecond
	if _, err := p.Template(t.Context(), chart, values(), "web", "shop"); err == nil ||
		!strings.Contains(err.Error(), "helm took longer than 50ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := p.Template(ctx, chart, values(), "web", "shop"); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v, want the cause", err)
	}
}

// The real program, if it is there.
func TestHelm(t *testing.T) {
	p, ok := Find()
	if !ok {
		t.Skip("the program helm is not there")
	}
	out, err := p.Template(t.Context(), chart, values(), "web", "shop")
	if want := "metadata: {name: web, namespace: shop}\ndata: {tag: \"abc\", n: \"3\"}\n"; err != nil ||
		!strings.Contains(string(out), want) {
		t.Errorf("got %s and %v, want %s", out, err, want)
	}
	broken := map[string][]byte{"Chart.yaml": chart["Chart.yaml"], "templates/a.yaml": []byte("{{ .Values.image.tag")}
	if _, err := p.Template(t.Context(), broken, values(), "web",
		"shop"); err == nil || !strings.Contains(err.Error(), "helm: Error: parse error") ||
		strings.Contains(err.Error(), os.TempDir()) {
		t.Errorf("got %v for a broken chart", err)
	}
	missing := map[string][]byte{"Chart.yaml": []byte(string(chart["Chart.yaml"]) +
		"dependencies: [{name: x, version: 1.0.0, repository: \"https://charts.example.com\"}]\n")}
	if _, err := p.Template(t.Context(), missing, values(), "web", "shop"); err == nil ||
		!strings.Contains(err.Error(), "missing in charts/ directory") {
		t.Errorf("got %v for a chart that lacks another", err)
	}
}
