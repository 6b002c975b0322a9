package manager

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A builder makes the desired state of the data.
type builder struct {
	settings  ownSettings
	world     *world
	self      string // the integration that the manager runs for
	pod       *render.PodTemplate
	processes int // of all parts so far

	findings []plan.Finding
	told     map[toldAt]bool
}

// A toldAt is a finding that was told.
type toldAt struct {
	place   plan.Place
	message string
}

// tell adds a finding, once.
func (b *builder) tell(f plan.Finding) {
	at := toldAt{f.Place, f.Message}
	if b.told[at] {
		return
	}
	if b.told == nil {
		b.told = map[toldAt]bool{}
	}
	b.told[at] = true
	b.findings = append(b.findings, f)
}

// A group is what one part deploys: the entries of one upstream in one namespace.
type group struct {
	namespace namespace
	upstream  string
	entries   []placed
	isClosed  bool   // the settings say that everything must go
	service   string // "": other upstreams have the Service; else what becomes of it
}

// What becomes of the Service of a namespace.
const (
	serviceStays = "stays"
	serviceGoes  = "goes"
)

// A placed entry is an entry with its definition.
type placed struct {
	definition *definition
	at         int // position in managed
	entry      *entry
	mistake    mistake // of the definition, or of the place
	isDelete   bool
}

// pointer returns where the entry stands.
func (p placed) pointer() string { return fmt.Sprintf("/managed/%d", p.at) }

// desired returns what the data say.
func desired(ctx context.Context, query integration.QueryFunc, it settings.Integration) (native.Desired, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return native.Desired{}, reconcile.Config(err)
	}
	w, err := ask(ctx, query, s)
	if err != nil {
		return native.Desired{}, err
	}
	return build(w, s, it), nil
}

// build returns what the answers say.
func build(w *world, s ownSettings, it settings.Integration) native.Desired {
	b := &builder{settings: s, world: w, self: it.Name}
	template := b.readTemplate()
	d := native.Desired{Callers: w.callers(), Targets: w.targets(), Left: b.left, DeleteLeft: s.LeftBehind == leftDelete}
	groups := b.groups()
	for _, key := range sortedKeys(groups) {
		p := b.part(groups[key], template)
		d.Parts = append(d.Parts, p)
	}
	if b.keepUnplaced(&d) {
		d.DeleteLeft = false
	}
	b.checkDelete(it.Own)
	d.Findings = b.findings
	return d
}

// callers returns the upstreams of all definitions that are deployed anywhere.
func (w *world) callers() []string {
	out := []string{}
	for _, d := range w.definitions {
		if len(d.Managed) > 0 {
			out = append(out, d.upstream())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// groups returns the entries by shard and upstream.
func (b *builder) groups() map[string]*group {
	out := map[string]*group{}
	services := b.services()
	paths := map[string]string{} // of the datafile of a namespace
	for i := range b.world.definitions {
		d := &b.world.definitions[i]
		if b.settings.Upstream != "" && d.upstream() != b.settings.Upstream {
			continue
		}
		for j := range d.entries {
			e := &d.entries[j]
			n := e.Namespace
			if n == nil || b.settings.Environment != "" && n.Environment.Name != b.settings.Environment {
				continue
			}
			at := n.key() + "\x00" + d.upstream()
			g := out[at]
			if g == nil {
				g = &group{namespace: *n, upstream: d.upstream(), isClosed: slices.Contains(b.settings.Delete, n.key())}
				g.service = services[n.key()][d.upstream()]
				out[at] = g
			}
			p := placed{definition: d, at: j, entry: e, mistake: d.mistake}
			if first := cmp.Or(paths[n.key()], n.Path); first != n.Path {
				p.mistake = mistake{code: codeNamespace, pointer: p.pointer() + "/namespace",
					message: fmt.Sprintf("%s and %s both describe the namespace %s", first, n.Path, n.key())}
			} else {
				paths[n.key()] = n.Path
			}
			g.entries = append(g.entries, p.readDelete(g.isClosed))
		}
	}
	return out
}

// readDelete reads whether the objects of the entry must go.
func (p placed) readDelete(isClosed bool) placed {
	is, err := reconcile.ReadDelete(p.entry.Delete)
	if err != nil && p.mistake == (mistake{}) {
		p.mistake = mistake{code: reconcile.CodeType, pointer: p.pointer() + "/delete", message: err.Error()}
	}
	p.isDelete = is || isClosed
	return p
}

// services says what becomes of the Service of a namespace, by namespace and upstream. It
// belongs to the first upstream of the namespace, whatever the settings leave out, and goes
// when all entries say that they must go.
func (b *builder) services() map[string]map[string]string {
	first, stays := map[string]string{}, map[string]bool{}
	for _, d := range b.world.definitions {
		for _, e := range d.entries {
			if e.Namespace == nil {
				continue
			}
			key := e.Namespace.key()
			if old, known := first[key]; !known || d.upstream() < old {
				first[key] = d.upstream()
			}
			is, err := reconcile.ReadDelete(e.Delete)
			if err != nil || !is && !slices.Contains(b.settings.Delete, key) {
				stays[key] = true
			}
		}
	}
	out := map[string]map[string]string{}
	if b.settings.ExcludeService {
		return out
	}
	for key, upstream := range first {
		out[key] = map[string]string{upstream: serviceGoes}
		if stays[key] {
			out[key][upstream] = serviceStays
		}
	}
	return out
}

// part returns the part that a group is. Template says what is wrong with the template of pods.
func (b *builder) part(g *group, template string) native.Part {
	n := g.namespace
	p := native.Part{Shard: n.key(), Caller: g.upstream}
	if f := b.world.place(&p, n.Cluster.Name, b.self); f != nil {
		b.tell(*f)
	}
	if f := n.unusable(); f != nil {
		b.tell(*f)
		p.Skip = f.Message
		return p
	}
	values, wrong := b.paramsOf(n.Environment, g.upstream)
	switch {
	case wrong != nil:
		f := wrong.finding(n.Environment.Path)
		f.Message += fmt.Sprintf(", so nothing is done in the namespaces of %s", n.Environment.Name)
		b.tell(f)
		p.Skip = f.Message
		return p
	case template != "":
		p.Skip = template
		return p
	}
	p.Items = b.items(g, values)
	isSelf := func(e placed) bool { return e.definition.Name == b.self }
	p.Last = slices.ContainsFunc(g.entries, isSelf)
	return p
}

// keepUnplaced keeps the objects of definitions whose mistake hides in which namespaces they run:
// they may be in each one. It reports whether there is such a definition.
func (b *builder) keepUnplaced(d *native.Desired) bool {
	found := false
	for i := range b.world.definitions {
		of := &b.world.definitions[i]
		isHidden := func(e entry) bool { return e.Namespace == nil }
		if of.mistake == (mistake{}) || len(of.Managed) > 0 && !slices.ContainsFunc(of.entries, isHidden) {
			continue
		}
		found = true
		b.tell(of.mistake.finding(of.Path))
		for j := range d.Parts {
			p := &d.Parts[j]
			isKept := func(it reconcile.Item) bool { return it.Key == mistakeKey(p.Shard, of.Name, 0) }
			if (of.Upstream == nil || p.Caller == *of.Upstream) && !slices.ContainsFunc(p.Items, isKept) {
				p.Items = append(p.Items, mistakeItem(p.Shard, of, of.mistake, 0))
			}
		}
	}
	return found
}

// checkDelete warns about namespaces that the settings delete and that no entry names: nobody
// looks at them.
func (b *builder) checkDelete(own settings.Own) {
	named := map[string]bool{}
	for _, d := range b.world.definitions {
		for _, e := range d.entries {
			if e.Namespace != nil {
				named[e.Namespace.key()] = true
			}
		}
	}
	for i, key := range b.settings.Delete {
		if !named[key] {
			message := own.Mistake(fmt.Sprintf("no entry names %s any more; remove it here when its objects are gone, or say "+
				"left_behind: delete", key), "delete", fmt.Sprint(i)).Error()
			b.tell(plan.Finding{Code: codeDelete, Severity: plan.SeverityWarning, Message: message})
		}
	}
}

// readTemplate reads the template of pods of the installation. It returns why nothing can be
// deployed with it, or "".
func (b *builder) readTemplate() string {
	path := b.settings.Template
	if path == "" {
		return ""
	}
	err := fmt.Errorf("%s: there is no such resource, which the settings name as the template of pods", path)
	if b.world.template != nil {
		b.pod, err = render.ParsePodTemplate(path, []byte(*b.world.template))
	}
	if err == nil {
		return ""
	}
	all := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok { // joined mistakes are told one by one
		all = many.Unwrap()
	}
	for _, one := range all {
		b.tell(plan.Finding{Code: codeTemplate, Severity: plan.SeverityError, Place: plan.Place{File: path},
			Message: one.Error() + "; nothing is deployed until the template of pods is correct"})
	}
	return "the template of pods " + path + " has mistakes"
}
