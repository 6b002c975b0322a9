package generic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/importer"
	"github.com/app-sre/prcheck/natives/generic/plain"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// resource imports a resource, and what stands in it.
func (s *source) resource(ctx context.Context, of *resources.Type, at family.Address,
	withChildren bool) ([]Imported, error) {
	t := rest.Target{Address: at, Type: of.ID()}
	if of.Family == resources.Plain {
		var err error
		if t.Plain, err = s.api.Specs().Plain(of); err != nil {
			return nil, reconcile.Config(err)
		}
		if withChildren {
			return nil, reconcile.Config(errPlainChildren)
		}
	}
	live, err := s.client.Read(ctx, t)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", at.ID, err)
	case !live.Found:
		return nil, reconcile.Config(fmt.Errorf("%s is not there", at.ID))
	}
	one, err := s.imported(ctx, of, at, live, t.Plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.ID, err)
	}
	out := []Imported{one}
	if !withChildren {
		return out, nil
	}
	for _, child := range s.api.Specs().Types() {
		if !strings.EqualFold(child.Parent, of.Name) || child.Version != of.Version {
			continue
		}
		more, err := s.children(ctx, child, at)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// errPlainChildren says what an import of a plain API leaves out.
var errPlainChildren = errors.New("what stands in a resource of a plain API is imported by its own id: leave out " +
	"--with-children")

// maxImported is how many resources one import writes about.
const maxImported = 1000

// children imports the resources of a type that stand in another one. Those that something
// else in the service made, as controllers of Kubernetes do, are left out.
func (s *source) children(ctx context.Context, of *resources.Type, parent family.Address) ([]Imported, error) {
	f := s.client.Family
	any, err := f.Locate(of, family.Reference{Parent: parent.ID, Name: "x"})
	if of.IsSingleton {
		any, err = f.Locate(of, family.Reference{Parent: parent.ID})
	}
	if err != nil {
		return nil, nil //nolint:nilerr // the type stands in another resource of this type
	}
	if of.IsSingleton {
		live, err := s.client.Read(ctx, rest.Target{Address: any, Type: of.ID()})
		if err != nil || !live.Found {
			return nil, err
		}
		return s.resource(ctx, of, any, true)
	}
	items, err := s.client.List(ctx, rest.Target{Address: any, Type: of.ID()}, path.Dir(any.Path))
	var e *rest.Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
		return nil, nil // nothing can be listed there
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", path.Dir(any.ID), err)
	}
	var out []Imported
	for _, item := range items {
		if owners, _ := body.Get(item, "/metadata/ownerReferences"); owners != nil {
			continue
		}
		at, err := f.Locate(of, referenceOf(item, parent))
		if err != nil {
			return nil, reconcile.Config(fmt.Errorf("the service lists a resource in %s with a wrong address: %w", parent.ID,
				err))
		}
		more, err := s.resource(ctx, of, at, true)
		if err != nil {
			return nil, err
		}
		if out = append(out, more...); len(out) > maxImported {
			return nil, reconcile.Config(fmt.Errorf("%s has more than %d resources: import parts of it", parent.ID, maxImported))
		}
	}
	return out, nil
}

// referenceOf returns how an item of a list is called.
func referenceOf(item any, parent family.Address) family.Reference {
	for _, at := range []string{"/id", "/metadata/name", "/name"} {
		v, _ := body.Get(item, at)
		if text, isText := v.(string); isText && at == "/id" && strings.HasPrefix(text, "/") {
			return family.Reference{ID: text}
		} else if isText && at != "/id" {
			return family.Reference{Parent: parent.ID, Name: text}
		}
	}
	return family.Reference{}
}

// marksToDrop is the names of all members that a mark can have.
var marksToDrop = reconcile.Mark{Integration: "i", Version: "v", Caller: "c"}

// imported makes the datafile about a resource.
func (s *source) imported(ctx context.Context, of *resources.Type, at family.Address,
	live rest.Live, habits *plain.Habits) (Imported, error) {
	f, specs := s.client.Family, s.api.Specs()
	mark, isMarkable, envelopeOf := markOf(f, live.Body), canMark(f, specs, of), ""
	if habits != nil {
		mark, isMarkable, envelopeOf = habits.Marks.Of(live.Body), habits.Marks.Member != "", habits.Answer
		live.Body = habits.Alike(habits.Marks.Drop(live.Body), nil)
	}
	if err := importer.CheckMark(mark, s.owner.Mark()); err != nil {
		return Imported{}, err
	}
	known, err := specs.Rules(of)
	if err != nil {
		return Imported{}, reconcile.Config(err)
	}
	got, err := s.strip(ctx, hooks.Subject{Type: of.ID(), ID: at.ID}, known, &live)
	if err != nil {
		return Imported{}, err
	}
	typ, err := validate.NewType(of, known, specs.Lock)
	if err != nil {
		return Imported{}, reconcile.Config(err)
	}
	got.Refuse(typ)
	unread, err := s.unread(of, live.Body)
	if err != nil {
		return Imported{}, reconcile.Config(err)
	}
	got.Secrets = slices.Compact(slices.Sorted(slices.Values(append(got.Secrets, unread...))))
	desired := got.Body
	if f.Envelope != nil {
		envelope := f.Envelope(of, at)
		desired = body.Merge(got.Body, envelope)
		got.Body = withoutAll(got.Body, envelope)
	}
	applied := threeway.Remember(desired, known, s.key)
	if err := s.checkEmpty(f, known, applied, desired, live.Body); err != nil {
		return Imported{}, err
	}
	e := importer.Entry{API: s.api.File, Type: of.ID(), ResourceID: at.ID, Body: got.Body, Secrets: got.Secrets,
		Whole: got.Whole, Refused: got.Refused}
	text, err := e.Text()
	if err != nil {
		return Imported{}, err
	}
	key, root := cloud.KeyOf(s.api, f, at)
	return Imported{File: path.Join(s.folder, e.File()), Text: text, ID: at.ID, Entry: e, key: key,
		record: record{Body: body.Canonical(applied), Type: of.ID(), ID: at.ID, URI: at.URI(),
			Digest: body.Digest(desired), Envelope: envelopeOf},
		part:     native.Part{Shard: root, Caller: s.owner.Caller, At: s.api.Endpoint},
		Unmarked: mark == (reconcile.Mark{}) && isMarkable}, nil
}

// strip returns what data hold of a live resource.
func (s *source) strip(ctx context.Context, x hooks.Subject, known rules.Rules,
	live *rest.Live) (importer.Stripped, error) {
	var names []string
	var err error
	if live.Body, err = s.Hooks.PostRead(ctx, with(x, nil, live.Body)); err != nil {
		return importer.Stripped{}, err
	}
	if f := s.client.Family; f.Marks != "" {
		texts, err := marksOf(f, marksToDrop)
		if err != nil {
			return importer.Stripped{}, err
		}
		names = sortedKeys(texts)
	}
	got := importer.Strip(live.Body, known, s.client.Family, names)
	got.Body, err = s.Hooks.Import(ctx, with(x, got.Body, live.Body))
	return got, err
}

// unread returns the places of secrets that the service never answers, in objects that are
// there.
func (s *source) unread(of *resources.Type, live any) ([]string, error) {
	c, err := s.api.Specs().Classifier(of)
	if err != nil {
		return nil, err
	}
	defer s.api.Specs().Lock()()
	all, _, err := c.All()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range all {
		if p.Secret == nil || p.WriteOnly == nil || p.ReadOnly != nil || strings.Contains(p.Pattern, "*") ||
			p.Type == "object" {
			continue
		}
		if around, isThere := body.Get(live, path.Dir(p.Pattern)); isThere && around != nil {
			out = append(out, p.Pattern)
		}
	}
	return out, nil
}

// checkEmpty returns an error if the plan after the import would not be empty.
func (s *source) checkEmpty(f *family.Family, known rules.Rules, applied, desired, live any) error {
	e := &entry{family: f}
	p := e.planOf(threeway.Input{Applied: applied, WasApplied: true, Desired: desired, Live: live, IsThere: true,
		Rules: known, Key: s.key})
	if p.Action == threeway.None && len(p.Violations) == 0 {
		return nil
	}
	var paths []string
	for _, c := range p.Changes {
		paths = append(paths, c.Path)
	}
	for _, v := range p.Violations {
		paths = append(paths, v.Code+" "+v.Path)
	}
	return reconcile.Config(fmt.Errorf("the plan after the import would not be empty: %.500s; correct their classes "+
		"with overrides", strings.Join(paths, ", ")))
}

func with(x hooks.Subject, desired, live any) hooks.Subject {
	x.Desired, x.Live = desired, live
	return x
}

// withoutAll returns a body without the members that another one has. Objects that become
// empty go as well.
func withoutAll(v any, drop map[string]any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for name, item := range object {
		what, isDropped := drop[name]
		inner, isObject := what.(map[string]any)
		if !isDropped {
			out[name] = item
			continue
		}
		if !isObject {
			continue
		}
		if left, _ := withoutAll(item, inner).(map[string]any); len(left) > 0 {
			out[name] = left
		}
	}
	return out
}
