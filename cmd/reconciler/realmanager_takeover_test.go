//go:build !race

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manager"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// rendered returns the manifests that the data ask for, and publishes the data.
func (in *installation) rendered(t *testing.T, name string) []datafile {
	t.Helper()
	in.publish(t, name)
	raw, err := os.ReadFile(filepath.Join(in.dir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine := gql.New(b, schema)
	query := func(ctx context.Context, text string, _ map[string]any) ([]byte, error) {
		var answer struct{ Data json.RawMessage }
		return answer.Data, json.Unmarshal(engine.Answer(ctx, gql.Request{Query: text}).JSON(), &answer)
	}
	config, err := os.ReadFile(filepath.Join(in.dir, name+"-write.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", config)
	if err != nil {
		t.Fatal(err)
	}
	native, ok := manager.New().(interface {
		DesiredState(context.Context, integration.QueryFunc, settings.Integration) (any, error)
	})
	if !ok {
		t.Fatal("the manager has no desired state")
	}
	state, err := native.DesiredState(t.Context(), query, rules.For(managerName))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Parts []struct{ Items []struct{ Body string } }
	}
	mustDecode(t, raw, &all)
	var out []datafile
	for _, p := range all.Parts {
		for _, it := range p.Items {
			var body struct{ Object datafile }
			mustDecode(t, []byte(it.Body), &body)
			out = append(out, body.Object)
		}
	}
	return out
}

// at returns the object below another one, which is made if it is not there.
func at(o datafile, names ...string) datafile {
	for _, n := range names {
		if o[n] == nil {
			o[n] = datafile{}
		}
		o = o[n].(datafile)
	}
	return o
}

// pathOfObject returns the path of an object, and that of its list.
func pathOfObject(o datafile) (list, path string) {
	m := at(o, "metadata")
	r := manifests.Named(fmt.Sprint(o["kind"]))
	list = fmt.Sprintf("/apis/%s/%s/namespaces/%v/%s", r.Group, r.Version, m["namespace"], r.Plural)
	if r.Group == "" {
		list = fmt.Sprintf("/api/%s/namespaces/%v/%s", r.Version, m["namespace"], r.Plural)
	}
	return list, fmt.Sprintf("%s/%v", list, m["name"])
}

// lastApplied is the annotation in which kubectl apply keeps what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// applyAsPeer makes an object as the manager of qontract-reconcile does by kubectl apply, with
// fields that no entry wants any more.
func (in *installation) applyAsPeer(t *testing.T, o datafile) {
	t.Helper()
	notes := at(o, "metadata", "annotations")
	maps.Copy(notes, datafile{"qontract.integration": managerName, "qontract.integration_version": "0.4.0",
		"qontract.sha256sum": "0123abcd",
		"qontract.update":    "2026-10-01T10:00:00", "qontract.caller_name": "https://github.com/app-sre/qontract-reconcile",
		"old-note": "x"})
	at(o, "metadata", "labels")["old-label"] = "x"
	switch o["kind"] {
	case "Deployment":
		maps.Copy(at(o, "spec"), datafile{"minReadySeconds": 5, "progressDeadlineSeconds": 300})
	case "StatefulSet":
		at(o, "spec")["minReadySeconds"] = 5
	case "CronJob":
		at(o, "spec")["startingDeadlineSeconds"] = 200
	}
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	notes[lastApplied] = string(raw) + "\n"
	if raw, err = json.Marshal(o); err != nil {
		t.Fatal(err)
	}
	list, _ := pathOfObject(o)
	if code, answer := in.real.Send(t, "admin", http.MethodPost,
		list+"?fieldManager=kubectl-client-side-apply&fieldValidation=Strict", "application/json",
		string(raw)); code != http.StatusCreated {
		t.Fatalf("%d %s", code, answer)
	}
}

// templates returns the templates of pods of objects as JSON, by path.
func (in *installation) templates(t *testing.T, paths []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range paths {
		spec := at(in.get(t, path), "spec")
		if spec["jobTemplate"] != nil {
			spec = at(spec, "jobTemplate", "spec")
		}
		raw, err := json.Marshal(spec["template"])
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(raw)
	}
	return out
}

// The objects that qontract-reconcile made become ours: pods stay as they are, fields that no
// entry wants go, and then nothing is written. Selectors change only when somebody asks for it.
func TestRealManagerTakeOver(t *testing.T) {
	in := newInstallation(t, 4)
	in.settings = "{mode: parity}"
	for i := range 40 {
		in.addAccount(fmt.Sprintf("account-%02d", i))
	}
	for i := range 4 {
		in.define(fmt.Sprintf("by-account-%d", i), i, datafile{"state": true}, datafile{"strategy": "per-aws-account"})
	}
	for i := range 9 {
		in.define(fmt.Sprintf("job-%d", i), i%4, datafile{"cron": "10 * * * *"}, nil)
		in.define(fmt.Sprintf("cache-%d", i), i%4, datafile{"cache": true}, nil)
	}
	in.define("by-number", 3, datafile{}, datafile{"strategy": "static", "shards": 17})
	var paths []string
	for _, o := range in.rendered(t, "rendered") {
		in.applyAsPeer(t, o)
		_, path := pathOfObject(o)
		paths = append(paths, path)
	}
	if len(paths) != 200 {
		t.Fatalf("there are %d objects, want 200", len(paths))
	}
	was := in.templates(t, paths)

	if r := in.run(t, command{more: []string{"--no-dry-run"}}); len(in.sent(t, "write").writes()) > 0 ||
		r.Outcome == "done" {
		t.Errorf("a run writes to what another version made: %v", r)
	}
	dry := in.mustRun(t, command{verb: "take-over", account: "read", more: []string{"--state", "state"}})
	wet := in.mustRun(t, command{verb: "take-over", more: []string{"--no-dry-run", "--state", "state"}})
	if !slices.Equal(dry.actions(), wet.actions()) || len(wet.Steps) != len(paths) {
		t.Errorf("the dry run has %d steps, the run %d\n%v", len(dry.Steps), len(wet.Steps), wet)
	}
	in.checkTemplates(t, "the take-over", paths, was)
	for _, path := range paths {
		in.checkTaken(t, path)
	}
	in.checkQuiet(t)

	in.settings = "{}"
	r := in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	in.checkTemplates(t, "the default mode", paths, was)
	if strategy := at(in.get(t, deploymentPath(0, "by-account-0-account-00")), "spec",
		"strategy"); strategy["type"] != "Recreate" || strategy["rollingUpdate"] != nil {
		t.Errorf("the strategy is %v\n%v", strategy, r)
	}
	in.checkQuiet(t)
}

func deploymentPath(namespace int, name string) string {
	return fmt.Sprintf("/apis/apps/v1/namespaces/%s/deployments/qontract-reconcile-%s", namespaceName(namespace), name)
}

// checkTemplates checks that the templates of pods are as they were.
func (in *installation) checkTemplates(t *testing.T, what string, paths []string, was map[string]string) {
	t.Helper()
	for path, now := range in.templates(t, paths) {
		if now != was[path] {
			t.Errorf("%s changed the pods of %s from\n%s\nto\n%s", what, path, was[path], now)
			return
		}
	}
}

// checkTaken checks that an object is ours alone and has nothing that no entry wants.
func (in *installation) checkTaken(t *testing.T, path string) {
	t.Helper()
	o := in.get(t, path)
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"old-note", "old-label", "minReadySeconds\":5", "Deadline\":300",
		"progressDeadlineSeconds\":300", "startingDeadlineSeconds", "last-applied", "kubectl-client"} {
		if strings.Contains(string(raw), old) {
			t.Errorf("%s has still %s", path, old)
		}
	}
	var of []string
	for _, m := range at(o, "metadata")["managedFields"].([]any) {
		of = append(of, fmt.Sprintf("%v %v", m.(datafile)["operation"], m.(datafile)["manager"]))
	}
	if !slices.Equal(of, []string{"Apply prcheck-" + managerName}) {
		t.Errorf("%s has fields of %q", path, of)
	}
}
