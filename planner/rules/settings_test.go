package rules_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/rules"
)

type digest string

func (d digest) Digest() string { return string(d) }

func TestSettingsOfPlan(t *testing.T) {
	missing := errors.New("no such file")
	for _, tt := range []struct {
		name        string
		config      string
		here, base  string // digests; "" when they cannot be read
		want        string
		wantFailure bool
	}{
		{name: "the usual file", here: "plan", base: "other", want: "plan"},
		{name: "base's", here: "other", base: "plan", want: "plan"},
		{name: "base's, since there is no file", base: "plan", want: "plan"},
		{name: "neither", here: "other", base: "third", want: "other"},
		{name: "neither can be read", wantFailure: true},
		{name: "named", config: "own.yaml", here: "other", base: "plan", want: "other"},
		{name: "named, and cannot be read", config: "own.yaml", base: "plan", wantFailure: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rules.SettingsOfPlan(&plan.Plan{Config: "plan"}, tt.config, func(name string) (digest, error) {
				d := tt.here
				if name == "base:prcheck.yaml" {
					d = tt.base
				} else if name != tt.config {
					t.Errorf("opened %q, want %q", name, tt.config)
				}
				if d == "" {
					return "", missing
				}
				return digest(d), nil
			})
			if string(got) != tt.want || (err != nil) != tt.wantFailure {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestJobSettings(t *testing.T) {
	disk := files(map[string]string{"prcheck.yaml": "", "ci/own.yaml": "", "ci/new.yaml": "", "ci/folder/x": ""})
	disk["ci/link.yaml"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("own.yaml")}
	for _, tt := range []struct {
		name    string
		outside bool   // the current folder is not of the repository
		base    string // paths that base has
		head    string // and head
		want    string
	}{
		{name: "", base: "prcheck.yaml", want: "base:prcheck.yaml"},
		{name: "", want: "base:prcheck.yaml"},
		{name: "", outside: true, base: "prcheck.yaml", want: "prcheck.yaml"},
		{name: "ci/own.yaml", base: "ci/own.yaml", want: "base:ci/own.yaml"},
		{name: "ci/own.yaml", head: "ci/own.yaml", want: "base:ci/own.yaml"},
		{name: "ci/new.yaml", want: "ci/new.yaml"},
		{name: "ci/link.yaml", want: "base:ci/link.yaml"},
		{name: "ci/folder", want: "base:ci/folder"},
		{name: "ci/gone.yaml", want: "base:ci/gone.yaml"},
		{name: "/elsewhere/x.yaml", want: "/elsewhere/x.yaml"},
		{name: "base:ci/x.yaml", want: "base:ci/x.yaml"},
		{name: "git:v1:ci/x.yaml", want: "git:v1:ci/x.yaml"},
	} {
		t.Run(fmt.Sprintf("%s %s %s %v", tt.name, tt.base, tt.head, tt.outside), func(t *testing.T) {
			job := rules.JobCheckout{Base: "b", Head: "h", Lstat: disk.Lstat,
				PathOf: func(name string) (string, bool) { return name, !tt.outside && !path.IsAbs(name) },
				HasPath: func(name string, commits ...string) (bool, error) {
					has := map[string]string{"b": tt.base, "h": tt.head}
					return slices.ContainsFunc(commits, func(c string) bool { return has[c] == name }), nil
				}}
			got, err := job.Settings(tt.name)
			if got != tt.want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}
