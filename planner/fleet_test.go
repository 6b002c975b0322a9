package planner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// fleetQueries are what the integrations of a fleet ask, from shallow to deep.
var fleetQueries = []string{
	"{ users { name org_username github_username roles { name } } }",
	"{ roles { name users { org_username } } }",
	"{ namespaces { name cluster { name } app { name } } }",
	"{ namespaces { name externalResources { provider provisioner { name uid } resources { identifier defaults overrides } } } }",
	"{ namespaces { name openshiftResources { provider path version } cluster { name serverUrl } } }",
	"{ clusters { name serverUrl spec { version account { name } } } }",
	"{ clusters { name namespaces { name app { name } } } }",
	"{ saas_files { name resourceTemplates { name url targets { ref parameters namespace { name cluster { name } } } } } }",
	"{ apps { name onboardingStatus namespaces { name cluster { name } } saasFiles { name } } }",
	"{ accounts { name uid consoleUrl } }",
	"{ users { org_username roles { name access { role namespace { name cluster { name serverUrl } } } } } }",
	"{ roles { name aws_groups { policy account { name uid } } users { org_username email } } }",
}

// fleetSchemas are what they may read.
var fleetSchemas = list{"/access/user-1.yml", "/access/role-1.yml", "/openshift/namespace-1.yml",
	"/openshift/cluster-1.yml",
	"/app-sre/app-1.yml", "/app-sre/saas-file-2.yml", "/aws/account-1.yml"}

// fleetFiles writes base and head of a fleet with n datafiles and a hundred
// integrations, and returns the settings of those.
func fleetFiles(tb testing.TB, dir string, n int) *settings.Settings {
	tb.Helper()
	return fleetOf(tb, dir, n, 100)
}

// fleetOf is fleetFiles with as many integrations as one likes.
func fleetOf(tb testing.TB, dir string, n, integrations int) *settings.Settings {
	tb.Helper()
	f := newFleet(n, 1)
	rules := strings.Builder{}
	rules.WriteString("version: 1\nexec: {argv: [run, '{cmd}', '{shard_args}']}\nintegrations:\n")
	for i := range integrations {
		q := i % len(fleetQueries)
		f.data[fmt.Sprintf("/integrations/int-%03d.yml", i)] = object{"$schema": "/app-sre/integration-1.yml",
			"labels": object{},
			"name":   fmt.Sprintf("int-%03d", i), "description": f.words(5), "schemas": fleetSchemas,
			"pr_check": object{"cmd": "int"}}
		fmt.Fprintf(&rules, "  int-%03d:\n    queries: [%d.graphql]\n", i, q)
		if q == len(fleetQueries)-1 {
			rules.WriteString("    shards: {by: ['roles[*].aws_groups[*].account.name'], arg: --account}\n")
		}
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), f.text(fleetTypes()), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	write("base.json")
	f.change()
	write("head.json")
	s, err := settings.Read("prcheck.yaml", []byte(rules.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// fleetInput opens both bundles from disk.
func fleetInput(tb testing.TB, dir string, s *settings.Settings) planner.Input {
	tb.Helper()
	base, err := bundle.Open(filepath.Join(dir, "base.json"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	head, err := bundle.Open(filepath.Join(dir, "head.json"), base)
	if err != nil {
		tb.Fatal(err)
	}
	return planner.Input{Base: base, Head: head, BaseRef: "base.json", HeadRef: "head.json", Settings: s,
		ReadQuery: func(path string) ([]byte, error) {
			var i int
			_, err := fmt.Sscanf(path, "%d.graphql", &i)
			return []byte(fleetQueries[i]), err
		}}
}

// The plan of a fleet has everything in it, and verifies.
func TestFleet(t *testing.T) {
	dir := t.TempDir()
	in := fleetInput(t, dir, fleetFiles(t, dir, 600))
	p := made(t, in)
	if gaps := verify(t, in, p); len(gaps) > 0 {
		t.Errorf("got %v", gaps)
	}
	counts := map[plan.Action]int{}
	for _, d := range p.Integrations {
		counts[d.Decision]++
	}
	if counts[plan.Run] == 0 || counts[plan.Shards] == 0 || counts[plan.Skip] == 0 {
		t.Errorf("got %v", counts)
	}
}
