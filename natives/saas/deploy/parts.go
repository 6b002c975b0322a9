package deploy

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/plan"
)

// A body is what an object should be, or a target that could not be rendered.
type body struct {
	Object  manifests.Object // nil for a target; in a dry run with placeholders for secrets
	Named   manifests.Object // the same with names of secrets in place of values
	Masked  []string         // places that are not shown
	Target  string           // label of the target
	Always  bool             // it is applied without a comparison
	Secrets bool             // the target has secrets
}

// MarshalJSON returns what both sides of a change are compared by: secrets by their names.
func (b body) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Object manifests.Object `json:"object,omitempty"`
		Masked []string         `json:"masked,omitempty"`
		Target string           `json:"target"`
		Always bool             `json:"always,omitempty"`
	}{b.Named, b.Masked, b.Target, b.Always})
}

// bodyOf returns what an object of a target should be. If the target has secrets, the object says which of
// them it holds, so that it can be compared without their values.
func bodyOf(t *target, i int) body {
	b := body{Object: t.out.Objects[i], Masked: t.out.Masked[i], Target: t.Label(), Secrets: t.out.HasSecrets}
	if !b.Secrets || t.out.Hidden[i] == nil { // nobody knows it without the values
		b.Object = manifests.Normal(withNames(b.Object, ""))
		b.Named = b.Object
		return b
	}
	b.Named = t.out.Hidden[i]
	names := strings.Join(t.out.Secrets[i], " ")
	switch {
	case len(b.Masked) == 0:
		names = noSecrets
	case names == "", len(names) > maxNames:
		names = fmt.Sprintf("%d secrets with the digest %x", len(t.out.Secrets[i]), sha256.Sum256([]byte(names)))
	}
	b.Object, b.Named = manifests.Normal(withNames(b.Object, names)), manifests.Normal(withNames(b.Named, names))
	return b
}

// noSecrets is what an object says that holds none of the secrets of its target.
const noSecrets = "none"

// maxNames is how many bytes of names an annotation has.
const maxNames = 4 << 10

// withNames returns an object with the annotation that names its secrets, without it for "". A template does
// not say it.
func withNames(object map[string]any, names string) map[string]any {
	metadata := member(object, "metadata")
	annotations := maps.Clone(member(metadata, "annotations"))
	if _, has := annotations[manifests.SecretsAnnotation]; !has && names == "" {
		return object
	}
	if annotations == nil {
		annotations = map[string]any{}
	}
	if annotations[manifests.SecretsAnnotation] = names; names == "" {
		delete(annotations, manifests.SecretsAnnotation)
	}
	out, of := maps.Clone(object), maps.Clone(metadata)
	if of == nil {
		of = map[string]any{}
	}
	of["annotations"], out["metadata"] = annotations, of
	return out
}

// digest returns the digest of the manifest as the object notes it. Values of secrets are not in it.
func (b body) digest() string { return manifests.Digest(b.Named) }

// options returns how the object is compared and applied. A dry run does not know the values of secrets.
func (b body) options(of manifests.Options, writes bool) manifests.Options {
	if len(b.Masked) == 0 {
		return of
	}
	of.Digest = b.digest()
	if !writes {
		of.Unknown = b.Masked
	}
	return of
}

// desired returns the parts of the cells of a side.
//
// Callers are those of base in the dry run of a change: what is done in a cell must not depend on
// which other saas files a change adds or removes, since the desired state of the cell does not.
func (s *side) desired() native.Desired {
	d := native.Desired{Callers: callers(s.model), Findings: s.findings}
	if b := s.run.base; s.name == headSide && b != nil && b.err == nil {
		d.Callers = callers(b.model)
	}
	for _, f := range s.model.Files {
		for _, of := range f.Templates {
			for _, t := range of.Targets {
				if c := t.Namespace.Cluster; c != nil && c.Problem == "" && !slices.Contains(d.Targets, any(c.Ref)) {
					d.Targets = append(d.Targets, c.Ref)
				}
			}
		}
	}
	seen := map[string]bool{} // two saas files of one name are a mistake that holds both
	for _, c := range s.cells {
		for _, at := range c.places() {
			if name := c.Key() + " " + at; !seen[name] {
				seen[name] = true
				d.Parts = append(d.Parts, s.part(c, at, &d.Findings))
			}
		}
	}
	if s.run.env.Shard == "" || s.run.env.Shard == Validation {
		d.Parts = append(d.Parts, native.Part{Shard: Validation, Skip: "it is checked by the data alone"})
	}
	return d
}

// part returns the part of a cell in one namespace.
func (s *side) part(c *cell, at string, findings *[]plan.Finding) native.Part {
	targets := slices.DeleteFunc(slices.Clone(c.targets), func(t *target) bool { return t.at() != at })
	cluster := targets[0].Namespace.Cluster
	p := native.Part{Shard: c.Key(), Caller: c.File.Name, At: at, Skip: c.closed, Target: cluster.Ref}
	if s.run.isSingle() && c.File.ClusterAdmin && cluster.Admin != nil {
		ref := cluster.Ref
		ref.Token = *cluster.Admin
		p.Target = ref
	}
	p.Clear = !slices.ContainsFunc(targets, func(t *target) bool { return !t.Delete })
	switch {
	case p.Skip != "":
	case slices.Contains(cluster.Disabled, s.run.env.Integration):
		p.Skip = fmt.Sprintf("the cluster %q disables %s", cluster.Name, s.run.env.Integration)
	case cluster.Problem != "":
		p.Skip = fmt.Sprintf("the cluster %q %s, so nothing is done there", cluster.Name, cluster.Problem)
		*findings = append(*findings, plan.Finding{Code: CodeCluster, Severity: plan.SeverityError,
			Place: plan.Place{File: cluster.Path}, Message: p.Skip})
	case s.run.services.Repositories == nil:
		p.Skip = "this program reads no repositories"
	}
	claim := reconcile.NoClaim
	if s.run.isSingle() && c.File.Takeover {
		claim = reconcile.Adopt
	}
	for _, t := range targets {
		switch {
		case p.Skip != "":
		case errors.Is(t.err, render.ErrOpaque):
			p.Items = append(p.Items, s.opaque(t)...)
		default:
			p.Items = append(p.Items, c.items(t, claim, s.run.isSingle() && !c.File.Compare)...)
		}
	}
	s.run.see(s, c, p, targets)
	return p
}

// opaque returns the entries of a target of which nobody knows what it deploys: the objects that base has
// for it. They are looked at, and nothing is said of them.
func (s *side) opaque(t *target) []reconcile.Item {
	base := s.run.base
	if base == nil || base == s || base.err != nil {
		return nil
	}
	for _, c := range base.cells {
		for _, was := range c.targets {
			if was.UID() != t.UID() || was.err != nil || was.at() != t.at() {
				continue
			}
			items := c.items(was, reconcile.NoClaim, false)
			for i := range items {
				items[i].Policy, items[i].Place = reconcile.Observe, t.Place
			}
			return items
		}
	}
	return nil
}

// isSingle reports whether one cell alone is worked on: only then some switches of saas files
// count, as for qontract-reconcile.
func (r *run) isSingle() bool { return r.env.Shard != "" }

// items returns the entries of a target: its objects, or that it cannot be rendered.
func (c *cell) items(t *target, claim reconcile.Claim, always bool) []reconcile.Item {
	if t.err != nil {
		it := reconcile.Item{Key: reconcile.Key("target " + t.Label()), Place: t.Place, Body: body{Target: t.Label()}}
		it.Mistake = reconcile.Mistake{Code: CodeUnknown, Message: "it is not rendered, and its objects stay as they are: " +
			t.err.Error()}
		if m := (*render.TargetMistake)(nil); errors.As(t.err, &m) {
			it.Mistake.Code, it.Place = m.Code, t.place(m.Pointer)
		} else if t.Broken == "" {
			it.Mistake.Message = c.unknown(it.Mistake.Message)
		}
		return []reconcile.Item{it}
	}
	var out []reconcile.Item
	for i := range t.out.Objects {
		b := bodyOf(t, i)
		b.Always = always
		it := reconcile.Item{Key: keyOf(t.at(), b.Object), Place: t.Place, Claim: claim, Body: b}
		if strings.Count(string(it.Key), "/") != 3 {
			it.Mistake = reconcile.Mistake{Code: render.CodeObject, Message: "its kind or name has a slash, which no object has"}
		}
		out = append(out, it)
	}
	return out
}

// keyOf returns the key of an object of a namespace: cluster/namespace/Kind.group/name.
func keyOf(at string, o manifests.Object) reconcile.Key {
	kind, _ := o["kind"].(string)
	version, _ := o["apiVersion"].(string)
	metadata, _ := o["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	group, _, hasGroup := strings.Cut(version, "/")
	if !hasGroup {
		group = ""
	}
	return objectKey(at, integration.Kind{Resource: integration.Resource{Group: group}, Name: kind}, name)
}

func objectKey(at string, k integration.Kind, name string) reconcile.Key {
	kind := k.Name
	if k.Group != "" {
		kind += "." + k.Group
	}
	return reconcile.Key(at + "/" + kind + "/" + name)
}
