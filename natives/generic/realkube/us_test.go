package realkube

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/fields"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// Us is the generic reconciler, with the state that it keeps of one kind.
type us struct {
	*cluster
	kind    kind
	rules   rules.Rules
	applied map[string]any // what was applied, by name
	rest    *rest.Client
}

func (c *cluster) us(t *testing.T, k kind) *us {
	t.Helper()
	return &us{c, k, rules.Of(c.classifier(t, k.typeName), nil), map[string]any{}, c.client(t)}
}

// An outcome is what became of one application.
type outcome struct {
	plan  fields.OwnedPlan // the first one
	did   rest.Did
	notes []rest.Note
	err   error
}

// plan plans an object.
func (u *us) plan(t *testing.T, namespace, name string, desired map[string]any) fields.OwnedPlan {
	t.Helper()
	live := u.live(t, u.kind, namespace, name)
	return u.planOver(rest.Live{Found: live != nil, Body: any(live)}, namespace, name, desired)
}

func (u *us) planOver(live rest.Live, namespace, name string, desired map[string]any) fields.OwnedPlan {
	applied, was := u.applied[name]
	return fields.Make(threeway.Input{Applied: applied, WasApplied: was, Desired: u.kind.object(namespace, name, desired),
		Live: live.Body, IsThere: live.Found, Rules: u.rules}, family.FieldManager)
}

// A planner plans one write of one object.
type planner struct {
	*us
	namespace, name string
	desired         map[string]any
	made            []fields.OwnedPlan
}

func (p *planner) Mutate(_ context.Context, s rest.Sending) (any, error) { return s.Body, nil }

func (p *planner) Plan(_ context.Context, live rest.Live) (*rest.Change, error) {
	made := p.planOver(live, p.namespace, p.name, p.desired)
	p.made = append(p.made, made)
	if made.Action != threeway.Create && made.Action != threeway.Update {
		return nil, nil
	}
	c := &rest.Change{Desired: made.Apply, Merge: made.MergePatch, Put: made.PutBody, Applied: p.applied[p.name]}
	for _, change := range made.Changes {
		c.Paths = append(c.Paths, change.Path)
		if change.Op == "remove" {
			c.Removed = append(c.Removed, change.Path)
		}
	}
	return c, nil
}

func (p *planner) Left(_ context.Context, _ rest.Live) ([]rest.Difference, error) { return nil, nil }

type memory struct{}

func (memory) Intend(context.Context) error                     { return nil }
func (memory) Began(context.Context, operation.Operation) error { return nil }

// tokened sends requests as a user.
type tokened struct {
	token string
	next  http.RoundTripper
}

func (s tokened) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return s.next.RoundTrip(r)
}

// client returns the client of the package rest.
func (c *cluster) client(t *testing.T) *rest.Client {
	t.Helper()
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	next := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // its own certificate
	t.Cleanup(next.CloseIdleConnections)
	return &rest.Client{Family: family.Kubernetes, Endpoint: u, Transport: tokened{c.Token("us"), next}}
}

// target returns what a request about an object is about.
func (u *us) target(t *testing.T, namespace, name string) rest.Target {
	t.Helper()
	of := u.typeOf(t, u.kind.typeName)
	a, err := family.Kubernetes.Locate(of, family.Reference{Parent: "/api/v1/namespaces/" + namespace, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	can, err := rest.AbilitiesOf(family.Kubernetes, of, u.classifier(t, u.kind.typeName), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rest.Target{Address: a, Type: of.ID(), Abilities: can}
}

// apply makes an object as desired.
func (u *us) apply(t *testing.T, namespace, name string, desired map[string]any) outcome {
	t.Helper()
	p := &planner{us: u, namespace: namespace, name: name, desired: desired}
	r, err := u.rest.Write(t.Context(), u.target(t, namespace, name), p, memory{})
	if len(p.made) == 0 {
		t.Fatalf("%s: no plan: %v", name, err)
	}
	out := outcome{plan: p.made[0], did: r.Did, notes: r.Notes, err: err}
	if err == nil && out.plan.Action != threeway.Blocked {
		u.applied[name] = threeway.Remember(out.plan.Apply, u.rules, nil)
	}
	return out
}

// comparable returns an object without what differs between any two objects.
func comparable(v map[string]any) map[string]any {
	out, _ := body.Clone(v).(map[string]any)
	meta, _ := out["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace",
		"generation"} {
		delete(meta, name)
	}
	delete(out, "status")
	spec, _ := out["spec"].(map[string]any)
	switch out["kind"] {
	case "Service":
		if spec["clusterIP"] != "None" {
			delete(spec, "clusterIP")
			delete(spec, "clusterIPs")
		}
		ports, _ := spec["ports"].([]any)
		for _, p := range ports {
			delete(p.(map[string]any), "nodePort")
		}
	case "Job":
		delete(spec, "selector")
		template, _ := spec["template"].(map[string]any)
		inner, _ := template["metadata"].(map[string]any)
		labels, _ := inner["labels"].(map[string]any)
		own, _ := meta["labels"].(map[string]any)
		for _, name := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
			delete(labels, name)
			delete(own, name)
		}
	}
	return out
}
