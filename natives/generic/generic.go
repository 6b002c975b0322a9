package generic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// Name is the name of the native.
const Name = "generic"

// Options are what tests and programs that embed prcheck can replace. The zero value works.
type Options struct {
	Families func(name string) *family.Family // nil is [family.Of]
	Hooks    *hooks.Registry                  // nil is [hooks.Default]
	Clock    operation.Clock
	// AnyHost tells that the settings need not name the hosts of endpoints: nothing is asked anyway.
	AnyHost bool
}

// New returns the native integration.
func New() integration.Native { return With(Options{}) }

// With returns the native integration with options.
func With(o Options) integration.Native {
	if o.Families == nil {
		o.Families = family.Of
	}
	if o.Hooks == nil {
		o.Hooks = hooks.Default()
	}
	g := &generic{Options: o, reads: &rest.Throttle{}}
	g.reader = &cloud.Reader{Families: o.Families, Hooks: o.Hooks}
	return native.Make(native.Recipe{
		Name: Name, Class: reconcile.Knowing, Offline: true,
		Desired: g.desired, Complete: g.complete, Current: g.current, Compare: compare, Remembers: remembers, Doer: g.doer,
		Check: g.check, Replaces: replaces, Alters: alters, Sets: sets, Places: placesOf, Label: label,
		Describe: g.describe, Watches: watches, Try: g.try, Hidden: g.hidden, UsesHosts: g.usesHosts,
		CheckSettings: func(own settings.Own) error {
			_, err := readSettings(own)
			return err
		},
	})
}

// A generic is the integration with what it keeps between runs.
type generic struct {
	Options
	reader *cloud.Reader
	reads  *rest.Throttle

	patienceLock sync.Mutex
	patience     map[string]*rest.Patience // with services, by their hosts
}

// OwnSettings are what the settings of the integration say.
type ownSettings struct {
	// Instance is the caller whose mark the resources get.
	Instance string `yaml:"instance"`
	// Instances are all instances; without them every other instance counts as living.
	Instances []string `yaml:"instances"`
	// Hosts are the only hosts that are asked, and get tokens. *.example.com is any host below.
	Hosts outward.Hosts `yaml:"hosts"`
	// TokenFiles are the files in which the platform keeps tokens, by the names that the data use.
	TokenFiles map[string]string `yaml:"token_files"`
	// OutputsBelow are the folders of secrets that values of resources may go to.
	OutputsBelow []string `yaml:"outputs_below"`
	// Timeout is how long a run waits for one operation.
	Timeout time.Duration `yaml:"timeout"`
	// Patience is how long a service may take to show what it took.
	Patience time.Duration `yaml:"patience"`
	// Before the merge of a change reads end when a service gives no answer for ReadsIdle, and those of
	// one part after ReadsLimit.
	ReadsIdle  time.Duration `yaml:"reads_idle"`
	ReadsLimit time.Duration `yaml:"reads_limit"`
}

// readSettings reads the settings.
func readSettings(own settings.Own) (ownSettings, error) {
	s := ownSettings{Instance: "default", Timeout: 2 * time.Hour, Patience: rest.DefaultLag, ReadsIdle: 20 * time.Second,
		ReadsLimit: 2 * time.Minute}
	if err := own.Decode(&s); err != nil {
		return s, err
	}
	if s.Instances != nil && !slices.Contains(s.Instances, s.Instance) {
		return s, own.Mistake(fmt.Sprintf("must contain the instance %q itself", s.Instance), "instances")
	}
	if s.Timeout <= 0 {
		return s, own.Mistake("must be a duration such as 2h", "timeout")
	}
	if s.Patience <= 0 {
		return s, own.Mistake("must be a duration such as 2m", "patience")
	}
	if s.ReadsIdle <= 0 {
		return s, own.Mistake("must be a duration such as 20s", "reads_idle")
	}
	if s.ReadsLimit <= 0 {
		return s, own.Mistake("must be a duration such as 2m", "reads_limit")
	}
	if i, must := s.Hosts.Mistake(true); i >= 0 {
		return s, own.Mistake(must, "hosts", fmt.Sprint(i))
	}
	return s, nil
}

// desired returns what the data say.
func (g *generic) desired(ctx context.Context, query integration.QueryFunc,
	it settings.Integration) (native.Desired, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return native.Desired{}, reconcile.Config(err)
	}
	m, err := g.read(ctx, query)
	if err != nil {
		return native.Desired{}, err
	}
	d := native.Desired{Callers: s.Instances, Findings: m.Findings, Whole: describedBy(m)}
	reads := readsOf(m)
	for _, a := range m.APIs { // also of an API that has no resource yet
		for _, t := range s.targets(a, reads) {
			d.Targets = append(d.Targets, t)
		}
	}
	children := m.Children()
	at := map[string]int{} // index of the part of an endpoint and root
	for _, r := range m.Resources {
		if r.Key == "" {
			d.Findings = append(d.Findings, plan.Finding{Code: r.Mistake.Code, Severity: plan.SeverityError, Place: r.Place(),
				Message: r.Mistake.Message})
			continue
		}
		name := r.API.Endpoint + " " + r.Root
		i, known := at[name]
		if !known {
			i = len(d.Parts)
			at[name] = i
			t, why := s.target(r.API, r.Address.Root, reads)
			p := native.Part{Shard: r.Root, Caller: s.Instance, At: r.API.Endpoint, Target: t}
			if why != "" && !g.AnyHost {
				p.Skip = fmt.Sprintf("the settings of %s %s", it.Name, why)
			}
			d.Parts = append(d.Parts, p)
		}
		one := g.item(ctx, r, children[r.Key])
		if why := s.checkStores(r); why != "" && one.Mistake == (reconcile.Mistake{}) {
			one.Mistake = reconcile.Mistake{Code: codeStore, Message: why}
		}
		d.Parts[i].Items = append(d.Parts[i].Items, one)
	}
	return d, nil
}

// read reads the data. Those from before the first import have no resources.
func (g *generic) read(ctx context.Context, query integration.QueryFunc) (*cloud.Model, error) {
	m, err := g.reader.Read(ctx, query)
	if err == nil {
		return m, nil
	}
	if isKnown, errOfTypes := cloud.IsKnown(ctx, query); errOfTypes == nil && !isKnown {
		return &cloud.Model{}, nil
	}
	return nil, err
}

// serverOf returns the server at an address, which is none if the address cannot be used.
func serverOf(address string) origin.Origin {
	at, err := origin.Parse(address)
	if err != nil {
		return origin.Origin{}
	}
	return at
}

// errNoEndpoint says that there is nothing that reaches an API.
var errNoEndpoint = errors.New("this program reaches no API")

// usesHosts returns the hosts of the endpoints of the data, and those that the settings name.
func (g *generic) usesHosts(ctx context.Context, query integration.QueryFunc,
	it settings.Integration) ([]integration.HostUse, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	m, err := g.read(ctx, query)
	if err != nil {
		return nil, err
	}
	uses := map[string]integration.HostUse{}
	var servers []origin.Origin
	for _, a := range m.APIs {
		note := func(address, what string) {
			at := serverOf(address)
			if at == (origin.Origin{}) {
				return
			}
			use := integration.HostUse{Host: at.String(), For: what}
			if !s.Hosts.Name(at) {
				use.Missing = "its resources are left out"
			}
			uses[use.Host], servers = use, append(servers, at)
		}
		for _, c := range a.Credentials {
			note(c.Login.TokenURL, "tokens")
		}
		note(a.Endpoint, "endpoints")
	}
	for _, allowed := range s.Hosts.Unused(servers) {
		uses[allowed] = integration.HostUse{Host: allowed}
	}
	var out []integration.HostUse
	for _, host := range slices.Sorted(maps.Keys(uses)) {
		out = append(out, uses[host])
	}
	return out, nil
}

// hidden returns the values of bodies that no output may show: the secrets that somebody wrote into
// them. Specifications are read only if one of the files is a resource.
func (g *generic) hidden(ctx context.Context, query integration.QueryFunc,
	files []string) (map[string][]string, error) {
	if isKnown, err := cloud.IsKnown(ctx, query); err != nil || !isKnown {
		return nil, err
	}
	paths, err := cloud.Paths(ctx, query)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(files, func(f string) bool { return slices.Contains(paths, f) }) {
		return nil, nil
	}
	m, err := g.reader.Read(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("looking for secrets in the data: %w", err)
	}
	out := map[string][]string{}
	for _, r := range m.Resources {
		if slices.Contains(files, r.File) {
			out[r.File] = r.Hidden()
		}
	}
	return out, nil
}

// check returns what a change would do to resources, by the data alone. A dry run of one shard
// tells of the resources of this shard. Mistakes of entries, and entries that are gone, are told
// by the plan.
func (g *generic) check(ctx context.Context, env integration.Environment) ([]plan.Finding, error) {
	base, err := g.read(ctx, env.Base)
	if err != nil {
		return nil, nil //nolint:nilerr // the plan tells that base cannot be read
	}
	head, err := g.read(ctx, env.Query)
	if err != nil {
		return nil, err
	}
	roots, told := map[string]string{}, map[plan.Finding]bool{}
	for _, m := range []*cloud.Model{base, head} {
		for _, r := range m.Resources {
			roots[r.File] = r.Root
			told[plan.Finding{Code: r.Mistake.Code,
				Place: plan.Place{File: r.File, Pointer: r.Mistake.Pointer}}] = !r.Mistake.IsZero()
		}
		for _, f := range m.Findings {
			told[plan.Finding{Code: f.Code, Place: f.Place}] = true
		}
	}
	var out []plan.Finding
	report := check.Run(base, head)
	for _, f := range append(report.Findings, notes(report.Kept)...) {
		root := roots[f.File]
		isOther := env.Shard != "" && root != "" && root != env.Shard
		if isOther || f.Code == reconcile.CodeOrphan || f.Code == reconcile.CodeDeleteWithChild ||
			told[plan.Finding{Code: f.Code, Place: plan.Place{File: f.File, Pointer: f.Pointer}}] {
			continue
		}
		out = append(out, f.Reported())
	}
	return out, nil
}

// replaces reports whether, by the data alone, the change of an entry deletes its resource and creates it
// again.
func replaces(base, head reconcile.Item) bool {
	was, isEntry := base.Body.(*entry)
	now, isToo := head.Body.(*entry)
	return isEntry && isToo && check.Replaces(was.of, now.of)
}

// notes returns those of what stays as it is that the plan does not tell.
func notes(kept []check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(kept), func(f check.Finding) bool {
		return f.Code != check.CodeIgnored && f.Code != check.CodeFirstSet
	})
}
