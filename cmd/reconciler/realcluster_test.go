//go:build !race

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/script"
)

// The test kills reconciler run at random moments while it keeps the namespaces of a real API
// server, and other tools change them. PRCHECK_KILLS says how often; PRCHECK_SEED repeats a run.

const keeperName = "openshift-namespaces"

// callers are the two instances that work on one cluster.
var callers = []string{"blue", "green"}

// A fleet is a cluster with two instances of the integration, and what others own in it.
type fleet struct {
	real   *kubetest.Real // nil if the cluster is one in memory
	url    string
	dir    string
	users  map[string]string // accounts by instance, and "read"
	random *rand.Rand

	mu       sync.Mutex
	versions map[string]string // resourceVersions of the namespaces of others, by name
}

// newFleet starts the cluster, makes the accounts and the namespaces of others.
func newFleet(t *testing.T, random *rand.Rand) *fleet {
	f := &fleet{real: kubetest.Start(t), dir: t.TempDir(), users: map[string]string{}, random: random,
		versions: map[string]string{}}
	f.url = f.real.URL
	f.real.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: prcheck\n")
	for name, role := range map[string]string{"read": "read", "blue": "write", "green": "write"} {
		raw, err := os.ReadFile("../../examples/rbac/" + role + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		f.real.Apply(t, strings.ReplaceAll(string(raw), "prcheck-"+role, "prcheck-"+name))
		var token string
		token, f.users[name] = f.real.AccountToken(t, "prcheck", "prcheck-"+name)
		f.writeToken(t, name, token)
	}
	f.writeSettings(t)
	for i := range 10 {
		f.make(t, fmt.Sprintf("foreign-%d", i), `{}`)
		f.make(t, fmt.Sprintf("other-%d", i), `{"qontract.integration": "terraform", "qontract.caller_name": "blue"}`)
	}
	return f
}

func (f *fleet) writeToken(t *testing.T, account, token string) {
	t.Helper()
	f.write(t, filepath.Join("secrets-"+account, "kube", "west", "token"), token)
}

// writeSettings writes the settings of both instances, for writing and for reading.
func (f *fleet) writeSettings(t *testing.T) {
	t.Helper()
	for _, caller := range callers {
		for _, account := range []string{caller, "read"} {
			f.write(t, caller+"-"+account+".yaml", fmt.Sprintf(`version: 1
integrations:
  %s:
    native: namespaces
    settings: {instance: %s, instances: [blue, green]}
    deletes: {max: 40, percent: 90}
secrets:
  files: {folder: %s}
`, keeperName, caller, filepath.Join(f.dir, "secrets-"+account)))
		}
	}
}

// write writes a file at once, so that nobody reads half of it.
func (f *fleet) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	err = errors.Join(err, os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
	if err != nil {
		t.Fatal(err)
	}
}

// make makes a namespace of others, unless somebody has made it.
func (f *fleet) make(t *testing.T, name, annotations string) {
	code, raw := f.real.Send(t, "admin", http.MethodPost, "/api/v1/namespaces", "application/json",
		fmt.Sprintf(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": %q, "annotations": %s}}`, name,
			annotations))
	switch code {
	case http.StatusCreated:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.versions[name] = decodeNamespace(t, raw).Metadata.ResourceVersion
	case http.StatusConflict:
	default:
		t.Errorf("%d %s", code, raw)
	}
}

type namespaceObject struct {
	Metadata struct {
		Name, UID, ResourceVersion, DeletionTimestamp string
		Labels, Annotations                           map[string]string
	}
}

func decodeNamespace(t *testing.T, raw []byte) (n namespaceObject) {
	t.Helper()
	mustDecode(t, raw, &n)
	return n
}

func mustDecode(t *testing.T, raw []byte, out any) {
	t.Helper()
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
}

// A wish is what the data of one instance say about a namespace.
type wish struct {
	name     string
	isDelete bool
}

// size is how many namespaces each instance has of its own.
const size = 100

// races is how many namespaces both instances want in the end.
const races = 60

// wishes returns what the data of an instance say. Others own some of these namespaces. Each
// fourth revision deletes one more, and each revision has one more that both want, and that
// another tool may make first.
func wishes(caller string, revision int) []wish {
	var out []wish
	for i := range size {
		out = append(out, wish{fmt.Sprintf("%s-%03d", caller, i), i < 20 && revision >= 3+4*i})
	}
	for i := range min(races, revision+1) {
		out = append(out, wish{name: fmt.Sprintf("a-race-%d", i)})
	}
	for i := range 3 {
		out = append(out, wish{name: fmt.Sprintf("foreign-%d", i)}, wish{name: fmt.Sprintf("other-%d", i)})
	}
	theirs := map[string]string{"blue": "green", "green": "blue"}[caller]
	return append(out, wish{"foreign-5", true}, wish{"other-5", true}, wish{theirs + "-050", true},
		wish{"nobody-" + caller, true})
}

// deletes returns the names of the namespaces that are to be deleted in the end.
func deletes() map[string]bool {
	out := map[string]bool{}
	for _, caller := range callers {
		for _, w := range wishes(caller, 1000) {
			if w.isDelete && strings.HasPrefix(w.name, caller) {
				out[w.name] = true
			}
		}
	}
	return out
}

// setData writes the bundle of an instance. Each revision has other labels.
func (f *fleet) setData(t *testing.T, caller string, revision int) {
	t.Helper()
	data := map[string]any{
		"/integrations/namespaces.yml": map[string]any{"$schema": "/app-sre/integration-1.yml", "name": keeperName,
			"description": "x",
			"schemas": []string{"/app-sre/integration-1.yml", "/openshift/namespace-1.yml", "/openshift/cluster-1.yml",
				"/common-1.json"}},
		"/clusters/west.yml": map[string]any{"$schema": "/openshift/cluster-1.yml", "name": "west", "serverUrl": f.url,
			"insecureSkipTLSVerify": true,
			"automationToken":       map[string]any{"path": "kube/west", "field": "token"}},
	}
	for _, w := range wishes(caller, revision) {
		data["/namespaces/"+w.name+".yml"] = map[string]any{"$schema": "/openshift/namespace-1.yml", "name": w.name,
			"delete":  w.isDelete,
			"cluster": map[string]any{"$ref": "/clusters/west.yml"},
			"labels":  map[string]any{"team": caller, "revision": "r" + strconv.Itoa(revision)}}
	}
	raw, err := json.Marshal(map[string]any{"data": data, "resources": map[string]any{}, "schemas": map[string]any{},
		"graphql":    namespaceTypes(t),
		"git_commit": strings.Repeat("1", 40), "git_commit_timestamp": strconv.Itoa(1_700_000_000 + revision)})
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, caller+".json", string(raw))
}

// namespaceTypes returns the GraphQL types of the bundles.
func namespaceTypes(t *testing.T) (out any) {
	t.Helper()
	err := json.Unmarshal([]byte(`{"$schema": "/app-interface/graphql-schemas-1.yml", "confs": [
{"name": "Integration_v1", "datafile": "/app-sre/integration-1.yml", "fields": [{"name": "path", "type": "string"}, {"name": "schema", "type": "string"},
  {"name": "name", "type": "string"}, {"name": "description", "type": "string"}, {"name": "schemas", "type": "string", "isList": true}]},
{"name": "Secret_v1", "fields": [{"name": "path", "type": "string"}, {"name": "field", "type": "string"}, {"name": "version", "type": "int"}]},
{"name": "JumpHost_v1", "fields": [{"name": "hostname", "type": "string"}]},
{"name": "Disable_v1", "fields": [{"name": "integrations", "type": "string", "isList": true}]},
{"name": "Cluster_v1", "datafile": "/openshift/cluster-1.yml", "fields": [{"name": "path", "type": "string"}, {"name": "schema", "type": "string"},
  {"name": "name", "type": "string"}, {"name": "serverUrl", "type": "string"}, {"name": "insecureSkipTLSVerify", "type": "boolean"},
  {"name": "jumpHost", "type": "JumpHost_v1"}, {"name": "automationToken", "type": "Secret_v1"}, {"name": "clusterAdminAutomationToken", "type": "Secret_v1"},
  {"name": "disable", "type": "Disable_v1"}]},
{"name": "Namespace_v1", "datafile": "/openshift/namespace-1.yml", "fields": [{"name": "path", "type": "string"}, {"name": "schema", "type": "string"},
  {"name": "name", "type": "string"}, {"name": "delete", "type": "boolean"}, {"name": "managedByExternal", "type": "boolean"},
  {"name": "clusterAdmin", "type": "boolean"}, {"name": "labels", "type": "json"}, {"name": "cluster", "type": "Cluster_v1"}]},
{"name": "Query", "fields": [{"name": "integrations", "type": "Integration_v1", "isList": true, "datafileSchema": "/app-sre/integration-1.yml"},
  {"name": "namespaces_v1", "type": "Namespace_v1", "isList": true, "datafileSchema": "/openshift/namespace-1.yml"}]}]}`), &out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A roundReport is the report of one run of reconciler run.
type roundReport struct {
	Outcome string
	Steps   []struct{ Key, Action, Status, Error string }
	Errors  []string
}

// actions returns the steps of a report on lines, without what came of them.
func (r roundReport) actions() []string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, s.Action+" "+s.Key)
	}
	slices.Sort(out)
	return out
}

// command returns the command that runs an instance with an account.
func (f *fleet) command(t *testing.T, caller, account string, more ...string) *exec.Cmd {
	t.Helper()
	args := []string{"run", keeperName, "--bundle", filepath.Join(f.dir, caller+".json"),
		"--config", filepath.Join(f.dir, caller+"-"+account+".yaml"), "--format", "json"}
	cmd := exec.Command(script.Program(t, "reconciler"), append(args, more...)...) //nolint:gosec,noctx // the program that is tested
	cmd.Dir, cmd.Env = f.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir}
	return cmd
}

// run runs an instance to its end.
func (f *fleet) run(t *testing.T, caller, account string, more ...string) (r roundReport) {
	t.Helper()
	var log strings.Builder
	cmd := f.command(t, caller, account, more...)
	cmd.Stderr = &log
	raw, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 1) {
		t.Fatalf("%v: %s\n%s", err, raw, log.String())
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return r
}
