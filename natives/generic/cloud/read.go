package cloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// codeType is the code of a value of another type.
const codeType = reconcile.CodeType

// A Reader reads models. The zero value works. Several goroutines may use it at once.
type Reader struct {
	// Families finds a family by its name; nil is [family.Of].
	Families func(name string) *family.Family
	// Hooks are the hooks that data may name; nil is [hooks.Default].
	Hooks *hooks.Registry

	mu    sync.Mutex
	kept  map[string]*Specs // by id
	order []string          // ids, the one that was used last at the end
}

// maxKept is how many specifications of APIs a reader keeps.
const maxKept = 64

// Read returns what the data say. An error means that nothing can be said, for instance because
// the data have no such lists.
func (r *Reader) Read(ctx context.Context, query integration.QueryFunc) (*Model, error) {
	m := &Model{}
	ofAPIs, ofResources := queries(ctx, query)
	apis, err := ask[apiRow](ctx, query, ofAPIs, "the APIs (cloud_apis_v1)")
	if err != nil {
		return nil, err
	}
	rows, err := ask[resourceRow](ctx, query, ofResources, "the resources (cloud_resources_v1)")
	if err != nil {
		return nil, err
	}
	content := contents(query)
	byFile := map[string]*API{}
	for _, row := range apis {
		a := r.api(row)
		m.APIs = append(m.APIs, a)
		byFile[a.File] = a
	}
	slices.SortFunc(m.APIs, func(a, b *API) int { return strings.Compare(a.File, b.File) })
	m.checkAPIs()
	for _, a := range m.APIs {
		if !a.Mistake.IsZero() {
			continue
		}
		s, err := r.reuse(ctx, a, content)
		if err == nil && s == nil {
			s, err = load(ctx, a, content)
		}
		if err != nil {
			return nil, err
		}
		a.specs = r.keep(s)
		m.warn(a)
	}
	for _, row := range rows {
		m.Resources = append(m.Resources, r.resource(row, byFile))
	}
	slices.SortFunc(m.Resources, func(a, b *Resource) int { return strings.Compare(a.File, b.File) })
	m.resolve(r.families())
	return m, nil
}

// contents returns what reads bundle resources, each of them once.
func contents(query integration.QueryFunc) contentFunc {
	texts := map[string]*string{} // contents of bundle resources, by path; nil is missing
	return func(ctx context.Context, path string) (string, bool, error) {
		if text, known := texts[path]; known {
			if text == nil {
				return "", false, nil
			}
			return *text, true, nil
		}
		text, isThere, err := contentOf(ctx, query, path)
		if err != nil {
			return "", false, err
		}
		texts[path] = nil
		if isThere {
			texts[path] = &text
		}
		return text, isThere, nil
	}
}

func (r *Reader) families() func(string) *family.Family {
	if r.Families == nil {
		return family.Of
	}
	return r.Families
}

// keep returns specifications with the same content that were read before, or those that it
// gets.
func (r *Reader) keep(s *Specs) *Specs {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[string]*Specs{}
	}
	if known, ok := r.kept[s.ID]; ok {
		i := slices.Index(r.order, s.ID)
		r.order = append(slices.Delete(r.order, i, i+1), s.ID)
		return known
	}
	r.kept[s.ID] = s
	r.order = append(r.order, s.ID)
	if len(r.order) > maxKept {
		delete(r.kept, r.order[0])
		r.order = r.order[1:]
	}
	return s
}

// api reads the entry of an API.
func (r *Reader) api(row row[apiRow]) *API {
	e := row.entry
	a := &API{File: e.Path, Name: e.Name, Family: e.Family, Endpoint: strings.TrimRight(e.Endpoint, "/"),
		Insecure:       e.Insecure,
		Specifications: e.Specifications, Overrides: e.Overrides, ReadActions: e.ReadActions, Mistake: row.wrong}
	fail := func(code plan.FindingCode, pointer, message string) {
		if a.Mistake.IsZero() {
			a.Mistake = Mistake{code, pointer, message}
		}
	}
	if e.Token != nil {
		ref, ok := e.Token.ref()
		if !ok {
			fail(CodeRequired, "/token", "the token needs a path and a field")
		}
		a.Token = ref
	}
	if pointer, why := a.readCredentials(e.Credentials, r.families()(e.Family)); why != "" {
		fail(CodePattern, pointer, why)
	}
	_, err := origin.Server(a.Endpoint)
	switch {
	case e.Name == "":
		fail(CodeRequired, "/name", "the API needs a name")
	case r.families()(e.Family) == nil:
		fail(CodeFamily, "/family", fmt.Sprintf("there is no family %.80q; there are %s", e.Family,
			strings.Join(family.Names(), " and ")))
	case err != nil:
		fail(CodePattern, "/endpoint", "the endpoint must be https://HOST, without a user and without a query; http:// is "+
			"allowed for this machine alone")
	case len(e.Specifications) == 0:
		fail(CodeRequired, "/specifications", "the API needs the paths of the bundle resources with its specifications")
	}
	for i, path := range append(slices.Clone(e.Specifications), e.Overrides) {
		pointer := fmt.Sprintf("/specifications/%d", i)
		if i == len(e.Specifications) {
			if pointer = "/overrides"; path == "" {
				continue
			}
		}
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
			fail(CodePattern, pointer, fmt.Sprintf("%.200q is no path of a bundle resource: it begins with one slash", path))
		}
	}
	return a
}

// checkAPIs notes the APIs that cannot be told apart, or say different things of one endpoint.
func (m *Model) checkAPIs() {
	names, endpoints := map[string]*API{}, map[string]*API{}
	for _, a := range m.APIs {
		if !a.Mistake.IsZero() {
			m.tell(a.Mistake, a.File)
			continue
		}
		same, at := names[a.Name], endpoints[a.Endpoint]
		switch {
		case same != nil:
			a.Mistake = Mistake{reconcile.CodeDuplicate, "/name", fmt.Sprintf("%s has the name %q, too", same.File, a.Name)}
		case at != nil && !at.IsReachedLike(a):
			a.Mistake = Mistake{reconcile.CodeDuplicate, "/endpoint",
				fmt.Sprintf("%s reaches the same endpoint with another token, credentials, family or insecure; say the same in both",
					at.File)}
		default:
			names[a.Name], endpoints[a.Endpoint] = a, cmp.Or(at, a)
			continue
		}
		m.tell(a.Mistake, a.File)
	}
}

// maxWarnings is how many mistakes of the specifications of one API are told.
const maxWarnings = 20

// warn tells what is wrong with the specifications of an API. What is needed of them is a
// mistake of the resources that need it.
func (m *Model) warn(a *API) {
	if err := a.specs.mistake; err != nil {
		m.tell(Mistake{codeOf(err), "/overrides", openapi.MessageOf(err)}, a.File)
	}
	for i, err := range a.specs.warnings {
		if i == maxWarnings {
			m.Findings = append(m.Findings,
				plan.Finding{Severity: plan.SeverityWarning, Place: plan.Place{File: a.File, Pointer: "/specifications"},
					Message: fmt.Sprintf("%d more mistakes in the specifications", len(a.specs.warnings)-maxWarnings)})
			return
		}
		m.tell(Mistake{codeOf(err), "/specifications", openapi.MessageOf(err)}, a.File)
	}
}

func (m *Model) tell(w Mistake, file string) {
	m.Findings = append(m.Findings, plan.Finding{Code: w.Code, Severity: plan.SeverityError,
		Place: plan.Place{File: file, Pointer: w.Pointer}, Message: w.Message})
}

// resource reads the entry of a resource.
func (r *Reader) resource(row row[resourceRow], apis map[string]*API) *Resource {
	e := row.entry
	out := &Resource{File: e.Path, Type: e.Type, Name: e.Name, Parent: e.Parent, ResourceID: e.ResourceID,
		Adopt: Adopt(cmp.Or(e.Adopt, string(AdoptNever))), Protected: e.Protected, AllowReplace: e.AllowReplace,
		AllowUpdate: e.AllowUpdate, Ignore: e.Ignore, Exclusive: e.Exclusive, Hooks: e.Hooks,
		OnSoftDeleted: cmp.Or(e.OnSoftDeleted, "stop"), Mistake: row.wrong}
	out.readBody(e)
	out.readWords(e)
	out.readSecrets(e.Secrets)
	out.readOutputs(e.Outputs)
	registry := r.Hooks
	if registry == nil {
		registry = hooks.Default()
	}
	for i, name := range e.Hooks {
		if err := registry.CheckName(e.Type, name); err != nil {
			out.fail(CodeFamily, fmt.Sprintf("/hooks/%d", i), err.Error())
		}
	}
	for _, n := range e.Needs {
		out.Where[n.Path] = "/needs"
	}
	switch {
	case e.API == nil || apis[e.API.Path] == nil:
		out.fail(CodeRequired, "/api", "the resource needs an API: the $ref of a datafile of /cloud/api-1.yml")
	default:
		out.API = apis[e.API.Path]
	}
	if e.Type == "" {
		out.fail(CodeRequired, "/type", "the resource needs a type")
	}
	return out
}

// readWords reads the words of an entry that are of a list, and its paths.
func (r *Resource) readWords(e resourceRow) {
	var err error
	if r.Delete, err = reconcile.ReadDelete(e.Delete); err != nil {
		r.fail(codeType, "/delete", "delete must be true or false")
	}
	switch e.Policy {
	case "", "manage":
	case string(reconcile.Observe), string(reconcile.Detach):
		r.Policy = reconcile.Policy(e.Policy)
	default:
		r.fail(CodeFamily, "/policy", fmt.Sprintf("there is no policy %.80q; there are manage, observe and detach-on-delete",
			e.Policy))
	}
	if !slices.Contains([]Adopt{AdoptNever, AdoptIfExists, AdoptRequired}, r.Adopt) {
		r.fail(CodeFamily, "/adopt", fmt.Sprintf("adopt is never, if-exists or required, not %.80q", e.Adopt))
	}
	if !slices.Contains([]string{"stop", "recover", "purge"}, r.OnSoftDeleted) {
		r.fail(CodeFamily, "/onSoftDeleted", fmt.Sprintf("onSoftDeleted is stop, recover or purge, not %.80q",
			e.OnSoftDeleted))
	}
	for _, list := range []struct {
		name  string
		paths []string
	}{{"allowUpdate", r.AllowUpdate}, {"ignore", r.Ignore}, {"exclusive", r.Exclusive}} {
		for i, path := range list.paths {
			if err := rules.CheckPlace(path); err != nil {
				r.fail(CodePattern, fmt.Sprintf("/%s/%d", list.name, i), err.Error())
			}
		}
	}
}

// readSecrets reads where the body has values of secrets.
func (r *Resource) readSecrets(rows []secretAtRow) {
	for i, s := range rows {
		at := fmt.Sprintf("/secrets/%d", i)
		ref, ok := s.Secret.ref()
		if !ok {
			r.fail(CodeRequired, at+"/secret", "a secret needs a path and a field")
		}
		if err := rules.CheckPlace(s.At); err != nil {
			r.fail(CodePattern, at+"/at", err.Error())
		} else if v, isThere := body.Get(r.Body, s.At); isThere && v != nil {
			r.fail("SECRET_INLINE", "/body"+s.At, "the body has a value where a secret goes: remove it from the body")
		}
		r.Secrets = append(r.Secrets, Secret{s.At, ref})
	}
}
