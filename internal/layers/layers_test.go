package layers

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestModule(t *testing.T) {
	broken, err := check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

// Each opener of the table opens something, so that the table has no way that nobody needs.
func TestOpeners(t *testing.T) {
	sources, err := parse(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, s := range sources {
		for _, name := range usedNames(s) {
			if slices.Contains(ways, name) {
				for of := range openers {
					used[of] = used[of] || covers(of, s.pkg)
				}
			}
		}
	}
	for of, why := range openers {
		if !used[of] || why == "" {
			t.Errorf("%s opens nothing, or nobody says why it may: take it from the table", of)
		}
	}
}

// The checker must be able to fail: each rule is broken once, beside a file
// that keeps it.
func TestCheck(t *testing.T) {
	const long = "package plan\n\nfunc long() {\n"
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"lower floor", "planner/a.go", `package planner; import _ "` + module + `/affected"`, nil},
		{"same floor", "plan/a.go", `package plan; import _ "` + module + `/state"`,
			[]string{"plan/a.go:1: imports " + module + "/state: not on a lower floor"}},
		{"the check imports the data", "planner/a.go", `package planner; import _ "` + module + `/qontract/gql"`, nil},
		{"the check imports what acts", "planner/a.go", `package planner; import _ "` + module + `/natives/native"`,
			[]string{"planner/a.go:1: imports " + module + "/natives/native: the house check has no door to it"}},
		{"what acts imports the contract", "natives/native/a.go", `package native; import _ "` + module + `/integration"`,
			nil},
		{"what acts imports the check", "natives/native/a.go", `package native; import _ "` + module + `/planner"`,
			[]string{"natives/native/a.go:1: imports " + module + "/planner: the house natives has no door to it"}},
		{"a door of one package", "natives/rounds/a.go", `package rounds; import _ "` + module + `/source"`, nil},
		{"higher floor", "trace/a.go", "package trace\n\nimport x \"" + module + "/affected\"\n\nvar _ = x.Y\n",
			[]string{"trace/a.go:3: imports " + module + "/affected: not on a lower floor"}},
		{"unknown package", "util/a.go", "package util", []string{
			"util: stands on no floor; add its line to the table of internal/layers"}},
		{"package at the root", "a.go", "package prcheck", []string{
			".: stands on no floor; add its line to the table of internal/layers"}},
		{"import of the root", "trace/a.go", `package trace; import _ "` + module + `"`, []string{
			"trace/a.go:1: imports " + module + ": not on a lower floor"}},
		{"deciding imports doing", "planner/a.go", `package planner; import _ "` + module + `/wrapper"`, []string{
			"planner/a.go:1: imports " + module + "/wrapper: deciding and doing are apart"}},
		{"doing imports deciding", "wrapper/a.go", `package wrapper; import _ "` + module + `/qontract/bundle"`, []string{
			"wrapper/a.go:1: imports " + module + "/qontract/bundle: deciding and doing are apart"}},
		{"side imported", "plan/a.go", `package plan; import _ "` + module + `/internal/shared"`, nil},
		{"side imports a floor", "internal/cli/a.go", `package cli; import _ "` + module + `/plan"`, []string{
			"internal/cli/a.go:1: imports " + module + "/plan: a package beside the houses imports none of them"}},
		{"qontract imports what decides", "qontract/server/a.go", `package server; import _ "` + module + `/integration"`,
			[]string{
				"qontract/server/a.go:1: imports " + module + "/integration: the house qontract has no door to it"}},
		{"a double imports a double", "doubles/armtest/a.go",
			`package armtest; import _ "` + module + `/doubles/slotest"; import _ "` + module + `/internal/retry"`, nil},
		{"a double imports the product", "doubles/armtest/a.go", `package armtest; import _ "` + module + `/plan"`, []string{
			"doubles/armtest/a.go:1: imports " + module + "/plan: a package beside the houses imports none of them"}},
		{"the product imports a double", "natives/kube/a.go", `package kube; import _ "` + module + `/doubles/kubetest"`,
			[]string{
				"natives/kube/a.go:1: imports " + module + "/doubles/kubetest: only tests have doubles"}},
		{"command imports what it opens", "cmd/planner/a.go", `package main; import _ "` + module + `/change"`, nil},
		{"command imports a command", "cmd/planner/a.go", `package main; import _ "` + module + `/cmd/runner"`, []string{
			"cmd/planner/a.go:1: imports " + module + "/cmd/runner: not on a lower floor"}},
		{"a library imports a package of cmd", "source/a.go", `package source; import _ "` + module + `/cmd/runner"`,
			[]string{
				"source/a.go:1: imports " + module + "/cmd/runner: nobody outside of cmd imports a package of cmd"}},
		{"native integration", "natives/manager/a.go", `package manager; import _ "` + module + `/natives/native"`, nil},
		{"its own package below", "natives/manager/a.go", `package manager; import _ "` + module + `/natives/manager/render"`,
			nil},
		{"native integration opens files", "natives/manager/a.go", `package manager; import _ "os"`, []string{
			"natives/manager/a.go:1: imports os: a native integration reaches the world through its environment"}},
		{"native integration sends requests", "natives/manager/a.go",
			`package manager; import "net/http"; var _ = http.DefaultClient`, []string{
				"natives/manager/a.go:1: uses net/http.DefaultClient; openers stand in the table of internal/layers with a reason"}},
		{"client of natives makes a client", "natives/systems/registry/a.go",
			`package registry; import "net/http"; var _ = http.Client{}`, []string{
				"natives/systems/registry/a.go:1: uses net/http.Client; what natives send leaves through internal/outward"}},
		{"clusters take the usual transport", "natives/kube/a.go",
			`package kube; import "net/http"; var _ = http.DefaultTransport.RoundTrip`, []string{
				"natives/kube/a.go:1: uses net/http.DefaultTransport; what natives send leaves through internal/outward"}},
		{"clusters of submit", "runner/submit/jobs/a.go",
			`package jobs; import "k8s.io/client-go/rest"; var _ = rest.RESTClientFor`, nil},
		{"a reader that may send anything", "natives/systems/a.go",
			"package systems; import \"" + module + "/internal/outward\"\nvar _ = outward.Anything", []string{
				"natives/systems/a.go:2: uses " + module +
					"/internal/outward.Anything; only writers may send anything: natives/kube/writer, natives/writers"}},
		{"a reader that opens a connection of its own", "natives/systems/a.go",
			"package systems; import \"" + module + "/natives/kube\"\nvar _ = kube.Dial", []string{
				"natives/systems/a.go:2: uses " + module +
					"/natives/kube.Dial; only writers may send anything: natives/kube/writer, natives/writers"}},
		{"a writer that may send anything", "natives/writers/a.go",
			"package writers; import \"" + module + "/internal/outward\"\nvar _ = outward.Anything", nil},
		{"client of natives starts a program", "natives/systems/registry/a.go",
			`package registry; import "os"; var _ = os.StartProcess`, []string{
				"natives/systems/registry/a.go:1: uses os.StartProcess; openers stand in the table of internal/layers with a reason"}},
		{"client of natives connects", "natives/systems/registry/a.go", `package registry; import _ "net"`, []string{
			"natives/systems/registry/a.go:1: imports net: what natives send leaves through internal/outward"}},
		{"clusters connect", "natives/kube/a.go", `package kube; import _ "net"`, []string{
			"natives/kube/a.go:1: imports net: what natives send leaves through internal/outward"}},
		{"the way out connects", "internal/outward/a.go", `package outward; import "net"; var _ = net.Dialer{}`, nil},
		{"native integration makes a party", "natives/manager/a.go",
			"package manager; import \"" + module + "/internal/outward\"\nvar _ = outward.Party{}", []string{
				"natives/manager/a.go:2: makes a party; clients of natives do, for servers that internal/outward.Hosts lets them ask"}},
		{"native integration decides about hosts", "natives/manager/a.go",
			"package manager\ntype s struct { Hosts []string }", []string{
				"natives/manager/a.go:2: a list of hosts is an outward.Hosts, which alone says who may be asked"}},
		{"native integration names hosts", "natives/manager/a.go", "package manager; import \"" + module +
			"/internal/outward\"\ntype s struct { Hosts outward.Hosts }\nvar _ = outward.Hosts{}.MayAsk", nil},
		{"native integration imports another", "natives/manager/render/a.go",
			`package render; import _ "` + module + `/natives/namespaces"`, []string{
				"natives/manager/render/a.go:1: imports " + module +
					"/natives/namespaces: it may import only integration, settings, natives/native, natives/reconcile, plan, state, integration/sharding, natives/manifests, integration/services, natives/template"}},
		{"native integration reaches far", "natives/manager/a.go",
			`package manager; import _ "` + module + `/qontract/bundle"`, []string{
				"natives/manager/a.go:1: imports " + module +
					"/qontract/bundle: it may import only integration, settings, natives/native, natives/reconcile, plan, state, integration/sharding, natives/manifests, integration/services, natives/template"}},
		{"example", "examples/shop/x/main.go", `package main; import "os"; func f() { os.Exit(1) }`, nil},
		{"example imports its helper", "examples/shop/x/main.go", `package main; import _ "` + module + `/examples/shop/ask"`,
			nil},
		{"example starts a simulated service", "examples/cloud/x/main.go",
			`package main; import _ "` + module + `/doubles/armtest"`, nil},
		{"example imports us", "examples/shop/x/main.go", `package main; import _ "` + module + `/plan"`, []string{
			"examples/shop/x/main.go:1: imports " + module + "/plan: examples stand alone"}},
		{"law serves data", "laws/x/main.go", `package main; import _ "` + module + `/qontract/server"`, nil},
		{"law imports what it holds", "laws/x/main.go", `package main; import _ "` + module + `/planner"`, []string{
			"laws/x/main.go:1: imports " + module + "/planner: examples stand alone"}},

		{"owner", "wrapper/a.go", `package wrapper; import _ "golang.org/x/sync/errgroup"`, nil},
		{"not the owner", "report/a.go", `package report; import _ "golang.org/x/sync/errgroup"`, []string{
			"report/a.go:1: imports golang.org/x/sync/errgroup: the library belongs to qontract/bundler, runner/archive, qontract/live, world, wrapper, bench, tests"}},
		{"owner of starting programs", "internal/git/a.go", `package git; import _ "os/exec"`, nil},
		{"not the owner of starting programs", "qontract/bundler/a.go", `package bundler; import _ "os/exec"`, []string{
			"qontract/bundler/a.go:1: imports os/exec: the library belongs to internal/git, internal/reads, internal/rlimit, natives/systems/helm, wrapper, runner/guard, report/live, doubles/kubetest, internal/script, doubles/gitlabtest, internal/shared, bench, laws/worlds, laws/secrets, laws/specs, laws/mutants, laws/broken, laws/proofs, tests"}},
		{"no owner", "qontract/gql/a.go", `package gql; import _ "example.org/x"`, []string{
			"qontract/gql/a.go:1: imports example.org/x: the library has no owner; name one in the table of internal/layers"}},
		{"library of a similar name", "wrapper/a.go", `package wrapper; import _ "golang.org/x/synctree"`, []string{
			"wrapper/a.go:1: imports golang.org/x/synctree: the library has no owner; name one in the table of internal/layers"}},

		{"impure", "affected/a.go", `package affected; import _ "os/exec"`, []string{
			"affected/a.go:1: imports os/exec: a deciding package touches nothing outside"}},
		{"disk", "planner/rules/a.go", "package rules; import \"path/filepath\"\nvar _ = filepath.EvalSymlinks", []string{
			"planner/rules/a.go:2: uses path/filepath.EvalSymlinks; a deciding package touches nothing outside"}},
		{"path without disk", "planner/rules/a.go", "package rules; import \"path/filepath\"\nvar _ = filepath.Join", nil},
		{"clock", "plan/a.go", "package plan; import now \"time\"\nvar _ = now.Now", []string{
			"plan/a.go:2: uses time.Now; a deciding package has no clock"}},
		{"no clock", "plan/a.go", "package plan; import \"time\"\nvar _ = time.Second", nil},
		{"clock of others", "wrapper/a.go", "package wrapper; import \"time\"\nvar _ = time.Now", nil},
		{"a package of a native dials", "natives/native/a.go", "package native; import \"net\"\nvar _ = net.Dial", []string{
			"natives/native/a.go:2: uses net.Dial; openers stand in the table of internal/layers with a reason"}},
		{"an opener dials", "qontract/live/a.go", "package live; import \"net\"\nvar _ = net.Dialer{}", nil},
		{"init", "qontract/gql/a.go", "package gql\nfunc init() {}", []string{"qontract/gql/a.go:2: has an init function"}},
		{"method init", "qontract/gql/a.go", "package gql\ntype x int\nfunc (x) init() {}", nil},
		{"goroutine", "qontract/gql/a.go", "package gql\nfunc f() {\n\tgo f()\n}",
			[]string{"qontract/gql/a.go:3: starts a goroutine"}},
		{"goroutine of the wrapper", "wrapper/a.go", "package wrapper\nfunc f() {\n\tgo f()\n}", nil},
		{"exit in main", "cmd/planner/a.go", "package main; import \"os\"\nfunc main() { os.Exit(0) }", nil},
		{"exit in a command", "cmd/planner/a.go", "package main; import \"os\"\nfunc run() { os.Exit(0) }", []string{
			"cmd/planner/a.go:2: only main calls os.Exit"}},
		{"exit in a library", "qontract/gql/a.go", "package gql; import \"os\"\nfunc main() { os.Exit(0) }", []string{
			"qontract/gql/a.go:2: only main calls os.Exit"}},
		{"fatal", "qontract/gql/a.go", "package gql; import \"log\"\nvar _ = log.Fatal",
			[]string{"qontract/gql/a.go:2: uses log.Fatal; return the error"}},
		{"world", "qontract/gql/a.go", "package gql; import \"os\"\nvar _ = os.Getenv",
			[]string{"qontract/gql/a.go:2: uses os.Getenv; take it from cli.Env"}},
		{"world in cli", "internal/cli/a.go", "package cli; import \"os\"\nvar _ = os.Getenv", nil},

		{"long file", "plan/a.go", "package plan\n" + strings.Repeat("\n", 500),
			[]string{"plan/a.go: has 501 lines, more than 500"}},
		{"file of 500 lines", "plan/a.go", "package plan\n" + strings.Repeat("\n", 499), nil},
		{"long function", "plan/a.go", long + strings.Repeat("\n", 59) + "}\n",
			[]string{"plan/a.go:3: long has 61 lines, more than 60"}},
		{"function of 60 lines", "plan/a.go", long + strings.Repeat("\n", 58) + "}\n", nil},
		{"long literal", "plan/a.go", "package plan\n\nvar _ = func() {\n" + strings.Repeat("\n", 59) + "}\n", []string{
			"plan/a.go:3: a function literal has 61 lines, more than 60"}},

		{"test", "plan/a_test.go", `package plan; import _ "` + module + `/qontract/bundle"`, nil},
		{"testdata", "plan/testdata/a.go", "package nothing", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _, _ := strings.Cut(tt.file, "a.go")
			tree := fstest.MapFS{
				tt.file:        {Data: []byte(tt.text)},
				dir + "doc.go": {Data: []byte("// Package x is documented.\npackage x\n")},
			}
			if !strings.HasSuffix(tt.file, "/a.go") {
				delete(tree, dir+"doc.go")
			}
			got, err := check(tree)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestCheckDoc(t *testing.T) {
	const want = "plan: has no doc.go that says what it does"
	tests := []struct {
		name string
		tree fstest.MapFS
		want []string
	}{
		{"none", fstest.MapFS{"plan/a.go": {Data: []byte("// Package plan …\npackage plan")}}, []string{want}},
		{"empty", fstest.MapFS{"plan/doc.go": {Data: []byte("package plan")}}, []string{want}},
		{"command", fstest.MapFS{"cmd/planner/a.go": {Data: []byte("package main")}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := check(tt.tree)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestCheckBrokenFile(t *testing.T) {
	_, err := check(fstest.MapFS{"plan/a.go": {Data: []byte("package")}})
	if err == nil {
		t.Error("a file that does not parse is taken")
	}
}
