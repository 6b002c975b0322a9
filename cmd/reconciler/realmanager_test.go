//go:build !race

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// The tests of these files run integrations-manager as a program, over bundles with the types of
// examples/integrations, on a real API server.

const managerName = "integrations-manager"

// A datafile is a datafile or a part of it.
type datafile = map[string]any

// An installation is a cluster with integrations, and the data about them.
type installation struct {
	real     *kubetest.Real
	dir      string
	graphql  any
	data     map[string]datafile
	settings string            // of the manager, as YAML in one line
	keys     string            // more keys of the integration, as lines of YAML
	users    map[string]string // names of the accounts "read" and "write" at the server
	stamp    int               // of the next bundle
}

// newInstallation starts a cluster with the accounts of examples/rbac, and returns data with one
// definition, that of the manager, in the first of the namespaces.
func newInstallation(t *testing.T, namespaces int) *installation {
	t.Helper()
	in := &installation{real: kubetest.Start(t), dir: t.TempDir(), users: map[string]string{}, settings: "{}",
		stamp: 1_700_000_000}
	in.real.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: prcheck\n")
	for _, account := range []string{"read", "write"} {
		raw, err := os.ReadFile("../../examples/rbac/manager-" + account + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		in.real.Apply(t, string(raw))
		token, user := in.real.AccountToken(t, "prcheck", "prcheck-manager-"+account)
		in.users[account] = user
		in.write(t, filepath.Join("secrets-"+account, "kube", "west", "token"), token)
		in.write(t, filepath.Join("secrets-"+account, "kube", "west", "server"), in.real.URL)
	}
	in.readExample(t)
	for i := range namespaces {
		name := namespaceName(i)
		in.real.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+name+"\n")
		in.data["/namespaces/"+name+".yml"] = datafile{"$schema": "/openshift/namespace-1.yml", "name": name,
			"cluster": refTo("/clusters/west.yml"), "environment": refTo("/environments/production.yml")}
	}
	in.data["/clusters/west.yml"] = datafile{"$schema": "/openshift/cluster-1.yml", "name": "west",
		"serverUrl":             in.real.URL,
		"insecureSkipTLSVerify": true, "automationToken": datafile{"path": "kube/west", "field": "token"}}
	in.define(managerName, 0, datafile{}, nil)
	in.data["/integrations/"+managerName+".yml"]["pr_check"] = datafile{"cmd": managerName}
	return in
}

func namespaceName(i int) string { return fmt.Sprintf("int-%02d", i) }

func refTo(path string) datafile { return datafile{"$ref": path} }

// readExample reads the types, the environment and the settings of examples/integrations.
func (in *installation) readExample(t *testing.T) {
	t.Helper()
	section := func(dir string) bundler.TreePart {
		return bundler.TreePart{Tree: bundler.Folder("../../examples/integrations"), Dir: dir, Shown: dir,
			Optional: dir == "resources"}
	}
	made, problems, err := bundler.Make(t.Context(), bundler.Input{
		Data: section("data"), Resources: section("resources"), Schemas: section("schemas"),
		GraphQL: section("graphql-schemas/schema.yml"),
	}, bundler.Options{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	defer made.Close()
	var raw bytes.Buffer
	if _, err := made.WriteTo(&raw); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Data    map[string]datafile
		GraphQL any
	}
	mustDecode(t, raw.Bytes(), &all)
	in.graphql = all.GraphQL
	maps.DeleteFunc(all.Data, func(path string, _ datafile) bool {
		return !strings.HasPrefix(path, "/environments/") && !strings.HasPrefix(path, "/settings/")
	})
	in.data = all.Data
}

// define adds a definition that runs in a namespace, and returns its entry. A sharding of nil is
// left out.
func (in *installation) define(name string, namespace int, spec, sharding datafile) datafile {
	if spec["resources"] == nil {
		spec["resources"] = datafile{"requests": datafile{"cpu": "100m", "memory": "200Mi"},
			"limits": datafile{"memory": "400Mi"}}
	}
	entry := datafile{"namespace": refTo("/namespaces/" + namespaceName(namespace) + ".yml"), "spec": spec}
	if sharding != nil {
		entry["sharding"] = sharding
	}
	in.data["/integrations/"+name+".yml"] = datafile{"$schema": "/app-sre/integration-1.yml", "name": name,
		"description": "x",
		"upstream":    "https://github.com/app-sre/qontract-reconcile", "managed": []any{entry},
		"schemas": []any{"/app-sre/integration-1.yml", "/app-sre/environment-1.yml",
			"/app-interface/app-interface-settings-1.yml", "/aws/account-1.yml",
			"/openshift/cluster-1.yml", "/openshift/namespace-1.yml", "/openshift/openshift-cluster-manager-1.yml"}}
	return entry
}

// entry returns the entry of a definition.
func (in *installation) entry(name string) datafile {
	return in.data["/integrations/"+name+".yml"]["managed"].([]any)[0].(datafile)
}

// addAccount adds an AWS account.
func (in *installation) addAccount(name string) {
	in.data["/accounts/"+name+".yml"] = datafile{"$schema": "/aws/account-1.yml", "name": name}
}

// write writes a file at once, so that nobody reads half of it.
func (in *installation) write(t *testing.T, name, text string) {
	(&fleet{dir: in.dir}).write(t, name, text)
}

// publish writes the data as a bundle that is newer than the last one, and the settings.
func (in *installation) publish(t *testing.T, name string) {
	t.Helper()
	in.stamp++
	raw, err := json.Marshal(map[string]any{"data": in.data, "resources": map[string]any{}, "schemas": map[string]any{},
		"graphql":    in.graphql,
		"git_commit": fmt.Sprintf("%040x", in.stamp), "git_commit_timestamp": strconv.Itoa(in.stamp)})
	if err != nil {
		t.Fatal(err)
	}
	in.write(t, name+".json", string(raw))
	for _, account := range []string{"read", "write"} {
		in.write(t, name+"-"+account+".yaml",
			fmt.Sprintf("version: 1\nsecrets:\n  files: {folder: %s}\nintegrations:\n  %s:\n    settings: %s\n%s",
				filepath.Join(in.dir, "secrets-"+account), managerName, in.settings, in.keys))
	}
}

// A command is one run of the program.
type command struct {
	verb    string // run, unless it says another
	bundle  string // name of the bundle; "" publishes the data first
	account string // write, unless it says another
	more    []string
}

// start returns the command that runs the manager.
func (in *installation) command(t *testing.T, c command) *exec.Cmd {
	t.Helper()
	if c.bundle == "" {
		c.bundle = "now"
		in.publish(t, c.bundle)
	}
	args := []string{cmp.Or(c.verb, "run"), managerName, "--bundle", filepath.Join(in.dir, c.bundle+".json"),
		"--config", filepath.Join(in.dir, c.bundle+"-"+cmp.Or(c.account, "write")+".yaml"), "--format", "json"}
	cmd := exec.Command(script.Program(t, "reconciler"), append(args, c.more...)...) //nolint:gosec,noctx // the program that is tested
	cmd.Dir, cmd.Env = in.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.dir}
	return cmd
}

// A managerReport is what a run said, and what it took.
type managerReport struct {
	Outcome   string
	MoreSteps int `json:"more_steps"`
	Steps     []struct{ Key, Action, Status, Error, Reason string }
	Findings  []struct{ Severity, Code, Message, File string }
	Errors    []string
	log       string
	code      int
	cpu       time.Duration
}

// String returns what is wrong, for messages.
func (r managerReport) String() string {
	text := fmt.Sprintf("%s: %d steps, %v", r.Outcome, len(r.Steps)+r.MoreSteps, r.Errors)
	for _, s := range r.Steps {
		if s.Error != "" {
			text += fmt.Sprintf("\n  %s %s: %s: %s", s.Action, s.Key, s.Status, s.Error)
		}
	}
	for _, f := range r.Findings {
		text += fmt.Sprintf("\n  %s %s: %s %s", f.Severity, f.Code, f.Message, f.File)
	}
	return text
}

// actions returns the steps on lines, without what came of them.
func (r managerReport) actions() []string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, s.Action+" "+s.Key)
	}
	slices.Sort(out)
	return out
}

// run runs the manager to its end. It must have done something.
func (in *installation) run(t *testing.T, c command) managerReport {
	t.Helper()
	r := in.runAny(t, c)
	if r.code > 1 {
		t.Fatalf("exit code %d: %v\n%s", r.code, r, r.log)
	}
	return r
}

// runAny runs the manager to its end.
func (in *installation) runAny(t *testing.T, c command) (r managerReport) {
	t.Helper()
	var log, out strings.Builder
	cmd := in.command(t, c)
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	mustDecode(t, []byte(out.String()), &r)
	r.code = cmd.ProcessState.ExitCode()
	r.log, r.cpu = log.String(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	return r
}

// mustRun runs the manager to its end, and wants that it did all that it had to do.
func (in *installation) mustRun(t *testing.T, c command) managerReport {
	t.Helper()
	r := in.run(t, c)
	if r.Outcome != "done" {
		t.Fatalf("%v\n%s", r, r.log)
	}
	return r
}

// get returns an object of the cluster, nil if it is not there.
func (in *installation) get(t *testing.T, path string) datafile {
	t.Helper()
	code, raw := in.real.Send(t, "admin", http.MethodGet, path, "", "")
	if code == http.StatusNotFound {
		return nil
	}
	var out datafile
	mustDecode(t, raw, &out)
	return out
}
