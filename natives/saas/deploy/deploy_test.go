package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A cell is deployed, and again nothing is written but what is new.
func TestRun(t *testing.T) {
	s := newScene(t)
	writes := s.mustRun(t, "shop/stage")
	want := []string{"patch shop-stage/deployments/shop", "patch shop-stage/services/shop"}
	if !slices.Equal(writes, want) {
		t.Errorf("wrote %q, want %q", writes, want)
	}
	o := s.cluster.Object(path("shop-stage", "Deployment", "shop"))
	notes := o["metadata"].(map[string]any)["annotations"].(map[string]any)
	if notes["qontract.integration"] != Name || notes["qontract.caller_name"] != "shop" {
		t.Errorf("the annotations are %v", notes)
	}
	if got, want := s.records()["shop-stage fedcba9"],
		`{"success": true, "target_config_hash": "`; !strings.HasPrefix(got, want) || len(s.records()) != 1 {
		t.Errorf("the records are %q", s.records())
	}
	puts := s.bucket.puts
	if writes := s.mustRun(t, "shop/stage"); len(writes) > 0 || s.bucket.puts != puts {
		t.Errorf("again: wrote %q and %d records", writes, s.bucket.puts-puts)
	}
	s.push("/openshift/template.yml", strings.Replace(shopTemplate, "port: 80", "port: 81", 1))
	if writes := s.mustRun(t, "shop/stage"); !slices.Equal(writes, want) {
		t.Errorf("another commit: wrote %q", writes)
	}
}

// production is the cell that is promoted from stage.
const production = "shop/production"

// The promotion gate closes a cell until the publisher ran the commit.
func TestGate(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct {
		name string
		do   func()
		want string // "" is open
	}{
		{"nobody ran it", func() {}, "did not run 0123456789ab"},
		{"the bucket does not answer", func() { s.bucket.away = true }, "SAAS_UNKNOWN"},
		{"nobody names the bucket", func() {
			s.bucket.away, s.own = false, "hosts: [github.com]"
		}, "do not name the place of the records"},
		{"it ran", func() {
			s.own = "records: s3://records\nwait: 2s"
			s.forge.heads[shopURL]["main"] = old
			s.mustRun(t, "shop/stage")
		}, ""},
	} {
		c.do()
		puts := s.bucket.puts
		writes, err := s.run(t, production)
		if c.want == "" {
			if s.fails(err) || len(writes) != 2 {
				t.Errorf("%s: wrote %q, %v\n%q", c.name, writes, err, s.said)
			}
			continue
		}
		if len(writes) > 0 || s.bucket.puts != puts ||
			!s.says("error", "/services/shop/saas.yml/resourceTemplates/0/targets/1/ref", c.want) {
			t.Errorf("%s: wrote %q, %v\n%q", c.name, writes, err, s.said)
		}
	}
}

// A target that cannot be rendered, and one that is disabled, keep their objects.
func TestObjectsAreKept(t *testing.T) {
	const template = "/openshift/template.yml"
	for _, c := range []struct {
		name string
		do   func(s *scene)
		want string // error; "" is none
	}{
		{"no template", func(s *scene) { s.push(template, "") }, "SAAS_TEMPLATE"},
		{"nonsense", func(s *scene) { s.push(template, "kind: [") }, "SAAS_TEMPLATE"},
		{"a parameter is missing", func(s *scene) {
			s.push(template, strings.Replace(shopTemplate, "- {name: LOG_LEVEL}", "- {name: OTHER, required: true}", 1))
		}, "SAAS_TEMPLATE"},
		{"no such branch", func(s *scene) {
			s.forge.heads[shopURL] = map[string]string{"other": next}
		}, `has no branch "main"`},
		{"no such repository", func(s *scene) { delete(s.forge.heads, shopURL) }, "there is no repository"},
		{"the forge does not answer", func(s *scene) { s.forge.away = true }, "SAAS_UNKNOWN"},
		{"the image is not allowed", func(s *scene) { s.Set(saastest.File, []any{"quay.io/else/"}, "imagePatterns") },
			"SAAS_IMAGE"},
		{"a secret is not allowed", func(s *scene) {
			s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
				"secret": map[string]any{"path": "sre/root", "field": "x"}}}
		}, "does not allow the path sre/root"},
		{"it is disabled beside another target", func(s *scene) {
			s.Target(saastest.File, 0, 0)["disable"] = true
			s.second(map[string]any{"PORT": 1})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.mustRun(t, "shop/stage")
			c.do(s)
			writes, err := s.run(t, "shop/stage")
			if slices.ContainsFunc(writes, func(w string) bool { return strings.HasPrefix(w, "delete") }) {
				t.Errorf("wrote %q", writes)
			}
			if o := s.cluster.Object(path("shop-stage", "Deployment", "shop")); o == nil {
				t.Error("the Deployment is gone")
			}
			if s.fails(err) != (c.want != "") || c.want != "" && !s.says("error", c.want) {
				t.Errorf("got %v, %q, want %q", err, s.said, c.want)
			}
			sha := s.forge.heads[shopURL]["main"]
			isKnown := sha != "" && !s.forge.away // which commit failed
			if failed := strings.HasPrefix(s.records()["shop-stage "+sha[:min(7, len(sha))]],
				`{"success": false`); c.want != "" && failed != isKnown {
				t.Errorf("the records are %q", s.records())
			}
		})
	}
}

// second adds a second template whose only target is in the namespace of stage. It has a Service.
func (s *scene) second(parameters map[string]any) {
	const text = "apiVersion: template.openshift.io/v1\nkind: Template\nparameters: [{name: PORT}]\n" +
		"objects: [{apiVersion: v1, kind: Service, metadata: {name: second}, spec: {selector: {app: x}, ports: [{name: http, port: '${{PORT}}'}]}}]"
	s.push("/second.yml", text)
	templates := s.Data[saastest.File]["resourceTemplates"].([]any)
	s.Set(saastest.File,
		append(templates, map[string]any{"name": "second", "url": shopURL, "path": "/second.yml", "targets": []any{
			map[string]any{"namespace": saastest.Ref(saastest.Stage), "ref": "main", "parameters": parameters}}}),
		"resourceTemplates")
}

// What a template no longer has is deleted, and a target that must go loses its objects whatever
// the limits are. The objects of other saas files and of nobody stay.
func TestDelete(t *testing.T) {
	s := newScene(t)
	s.second(map[string]any{"PORT": 1})
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many,
			"- {apiVersion: v1, kind: Service, metadata: {name: many-%d}, spec: {selector: {app: x}, ports: [{name: http, port: 1}]}}\n", i)
	}
	s.push("/openshift/template.yml", shopTemplate+many.String())
	s.mustRun(t, "shop/stage")
	for name, caller := range map[string]string{"other": "other", "mine": ""} {
		s.cluster.Edit(t, "prcheck-saas-deploy", path("shop-stage", "Service", name), func(o map[string]any) {
			o["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(1)}}}
			if caller != "" {
				o["metadata"].(map[string]any)["annotations"] = map[string]any{"qontract.integration": Name,
					"qontract.caller_name": caller}
			}
		})
	}
	s.push("/second.yml", strings.Replace(s.forge.files[shopURL][s.forge.heads[shopURL]["main"]]["/second.yml"],
		"name: second", "name: renamed", 1))
	if writes := s.mustRun(t, "shop/stage"); !slices.Equal(writes, []string{"delete shop-stage/services/second",
		"patch shop-stage/services/renamed"}) {
		t.Errorf("wrote %q", writes)
	}
	s.push("/openshift/template.yml", shopTemplate)
	if writes, err := s.run(t, "shop/stage"); len(writes) > 0 || !s.says("error", "TOO_MANY_DELETES") {
		t.Errorf("wrote %q, %v, %q", writes, err, s.said)
	}
	before := s.Clone()
	s.Target(saastest.File, 0, 0)["delete"] = true
	s.Target(saastest.File, 1, 0)["delete"] = true
	if err := s.dryRun(t, "shop/stage", before); err != nil || !s.says("delete", "many-3") || s.says("TOO_MANY") ||
		s.says("SAAS_CHANNEL") {
		t.Errorf("the merge request: %v, %q", err, s.said)
	}
	s.mustRun(t, "shop/stage")
	var left []string
	for _, p := range s.cluster.Paths() {
		if strings.Contains(p, "shop-stage/") && !strings.Contains(p, "/pods/") && !strings.Contains(p, "/replicasets/") {
			left = append(left, p[strings.LastIndexByte(p, '/')+1:])
		}
	}
	if !slices.Equal(left, []string{"mine", "other"}) {
		t.Errorf("there is %q", left)
	}
	s.mustRun(t, "shop/stage")
	if !s.says("note", "FINISHED", "its targets can be removed") {
		t.Errorf("nobody says that the targets can be removed: %q", s.said)
	}
}

// A run whose objects do not work fails, also the next one, which has nothing to write.
func TestHealth(t *testing.T) {
	s := newScene(t)
	s.cluster.Fate = func(map[string]any) kubetest.Fate { return kubetest.Crashing }
	for _, name := range []string{"first", "second"} {
		if _, err := s.run(t, "shop/stage"); err == nil || !strings.Contains(err.Error(), "CrashLoopBackOff") {
			t.Errorf("the %s run: %v\n%s", name, err, s.log.String())
		}
		if got := s.records()["shop-stage fedcba9"]; !strings.HasPrefix(got, `{"success": false`) {
			t.Errorf("the %s run: the record is %s", name, got)
		}
	}
}

// A run that failed only because a service did not answer changes no record.
func TestUnknownIsNoFailure(t *testing.T) {
	s := newScene(t)
	s.mustRun(t, "shop/stage")
	before := maps.Clone(s.bucket.objects)
	s.registry = silent{}
	if _, err := s.run(t, "shop/stage"); !s.fails(err) || !s.says("error SAAS_UNKNOWN", "nobody answers") ||
		!maps.Equal(before, s.bucket.objects) {
		t.Errorf("got %v, %q, %q", err, s.said, s.bucket.objects)
	}
}

// A silent registry does not answer.
type silent struct{}

func (silent) Digest(context.Context, services.Image) (string, error) {
	return "", errors.New("nobody answers")
}

// Objects of qontract-reconcile are taken over only if somebody says so: by marks alone, or by the
// settings with the next run.
func TestTakeOver(t *testing.T) {
	for _, c := range []struct {
		name        string
		integration string // on the mark
		version     string
		own         func(e *integration.Environment)
		says        string // "" is success
		keeps       bool   // the Service stays as it is
	}{
		{name: "nobody says so", integration: "openshift-saas-deploy", version: "0.1.0",
			own: func(*integration.Environment) {}, says: "OWNED_BY_OTHER", keeps: true},
		{name: "the settings say so", integration: "openshift-saas-deploy", version: "0.1.0",
			own: func(e *integration.Environment) { e.Settings.TakeOverFrom = "openshift-saas-deploy" }},
		{name: "another version", integration: Name, version: "0.1.0", own: func(*integration.Environment) {},
			says: "NOT_ADOPTED", keeps: true},
		{name: "take-over of another version", integration: Name, version: "0.1.0", own: func(e *integration.Environment) {
			e.Approve.TakeOver = true
		}},
		{name: "another saas file", integration: Name, own: func(*integration.Environment) {}, says: "OWNED_BY_OTHER",
			keeps: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.change = c.own
			s.cluster.Edit(t, "oc", path("shop-stage", "Service", "shop"), func(o map[string]any) {
				caller := "shop"
				if c.name == "another saas file" {
					caller = "other"
				}
				notes := map[string]any{"qontract.integration": c.integration, "qontract.caller_name": caller}
				if c.version != "" {
					notes["qontract.integration_version"] = c.version
				}
				o["metadata"].(map[string]any)["annotations"] = notes
				o["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(9), "name": "http"}}}
			})
			if c.name == "another saas file" { // it lives
				s.Data["/services/shop/other.yml"] = maps.Clone(s.Data[saastest.File])
				s.Set("/services/shop/other.yml", "other", "name")
				s.Set("/services/shop/other.yml", []any{}, "resourceTemplates")
			}
			_, err := s.run(t, "shop/stage")
			if c.says != "" && !s.says("error", c.says) {
				t.Errorf("got %v, %q", err, s.said)
			}
			o := s.cluster.Object(path("shop-stage", "Service", "shop"))
			notes := o["metadata"].(map[string]any)["annotations"].(map[string]any)
			if taken := notes["qontract.integration"] == Name && notes["qontract.integration_version"] == nil &&
				notes["qontract.caller_name"] == "shop"; taken == c.keeps || s.fails(err) != c.keeps {
				t.Errorf("the annotations are %v; %v, %q", notes, err, s.said)
			}
			if n := len(s.bucket.objects); strings.HasPrefix(c.name, "take-over") && n > 0 {
				t.Errorf("there are %d records", n)
			}
		})
	}
}
