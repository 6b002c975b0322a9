package manager

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

var worlds = flag.Int("worlds", 400, "how many pairs of worlds the laws try")

// A model is a small world as its author thinks of it.
type model struct {
	seed         uint64 // of the paths of its files
	accounts     []modelObject
	clusters     []modelObject
	environments []modelEnvironment
	namespaces   []modelNamespace
	integrations []modelIntegration
}

type modelObject struct {
	name, description, address string
	disables                   string // "" or the name of an integration
}

type modelEnvironment struct {
	tag, unused, ref string // ref: of upstream a
	description      string
}

type modelNamespace struct{ cluster, environment int }

type modelIntegration struct {
	name, upstream, description string
	entries                     []modelEntry
}

type modelEntry struct {
	namespace            int
	shards               int // 0: none, -1: by account
	cpu, args, image     string
	imageOf              string // an account whose shard has another image
	cron, isDelete, slow bool
}

// randomModel returns a world.
func randomModel(r *rand.Rand) *model {
	m := &model{seed: r.Uint64()}
	for i := range 1 + r.IntN(3) {
		m.accounts = append(m.accounts, modelObject{name: fmt.Sprintf("acc-%d", i)})
	}
	for i := range 1 + r.IntN(2) {
		m.clusters = append(m.clusters, modelObject{name: fmt.Sprintf("c-%d", i), address: "https://c"})
	}
	for range 1 + r.IntN(2) {
		m.environments = append(m.environments, modelEnvironment{tag: "t", ref: []string{"", "main"}[r.IntN(2)]})
	}
	for range 1 + r.IntN(3) {
		m.namespaces = append(m.namespaces, modelNamespace{r.IntN(len(m.clusters)), r.IntN(len(m.environments))})
	}
	for i := range 1 + r.IntN(3) {
		it := modelIntegration{name: fmt.Sprintf("it-%d", i),
			upstream: []string{"https://github.com/x/a", "https://github.com/x/b"}[r.IntN(2)]}
		for n := range r.IntN(len(m.namespaces) + 1) {
			it.entries = append(it.entries, modelEntry{namespace: n, shards: []int{0, 1, 2, -1, -1}[r.IntN(5)], cpu: "1"})
		}
		m.integrations = append(m.integrations, it)
	}
	return m
}

// change changes one thing, or nothing. Some changes matter to nobody.
func (m *model) change(r *rand.Rand) string {
	account, cluster := &m.accounts[r.IntN(len(m.accounts))], &m.clusters[r.IntN(len(m.clusters))]
	env, it := &m.environments[r.IntN(len(m.environments))], &m.integrations[r.IntN(len(m.integrations))]
	var e *modelEntry
	if len(it.entries) > 0 {
		e = &it.entries[r.IntN(len(it.entries))]
	}
	of := it.name
	changes := []func(){
		func() {}, func() { m.seed++ },
		func() { account.description = "new" }, func() { cluster.description = "new" }, func() { env.description = "new" },
		func() { it.description = "new" },
		func() { account.disables = of }, func() { account.disables = "nobody" }, func() { account.name += "x" },
		func() { m.accounts = append(m.accounts, modelObject{name: "acc-new"}) },
		func() { cluster.address += "x" }, func() { cluster.disables = Name }, func() { cluster.disables = of },
		func() { cluster.name += "x" },
		func() { m.clusters = append(m.clusters, modelObject{name: "c-new", address: "https://n"}) },
		func() { env.tag += "x" }, func() { env.unused += "x" }, func() { env.ref = "main" }, func() { env.ref = "other" },
		func() { it.upstream = "https://github.com/x/new" }, func() { it.name += "x" },
		func() { m.namespaces[0].environment = r.IntN(len(m.environments)) },
	}
	if e != nil {
		changes = append(changes,
			func() { e.cpu = "2" }, func() { e.cpu = "1000m" }, func() { e.cpu = "bad" }, func() { e.args = "--new" },
			func() { e.image = "new" },
			func() { e.imageOf = account.name }, func() { e.cron = true }, func() { e.isDelete = true }, func() { e.shards = 3 },
			func() { e.shards = -1 },
			func() { e.slow = true }, func() { it.entries = it.entries[1:] }, func() { it.entries = append(it.entries, *e) })
	}
	n := r.IntN(len(changes))
	changes[n]()
	return fmt.Sprintf("change %d of %s", n, of)
}

// path returns the path of a file. It says nothing about what is in the file.
func (m *model) path(kind string, i int) string {
	return fmt.Sprintf("/%x-%s-%d.yml", rand.New(rand.NewPCG(m.seed, uint64(i))).Uint32(), kind, i)
}

// data returns the datafiles of a model.
func (m *model) data(of *testData) *testData {
	d := &testData{Data: map[string]object{}, Resources: map[string]object{}, GraphQL: of.GraphQL}
	d.Data["/settings.yml"] = object{"$schema": "/app-interface/app-interface-settings-1.yml", "name": "s",
		"hashLength": 7}
	put := func(kind string, i int, schema string, o object) {
		o["$schema"] = schema
		d.Data[m.path(kind, i)] = o
	}
	disable := func(name string) object { return object{"integrations": []any{name}} }
	for i, a := range m.accounts {
		put("a", i, "/aws/account-1.yml", object{"name": a.name, "description": a.description,
			"disable": disable(a.disables)})
	}
	for i, c := range m.clusters {
		put("c", i, "/openshift/cluster-1.yml", object{"name": c.name, "description": c.description, "serverUrl": c.address,
			"disable": disable(c.disables), "automationToken": object{"path": "t", "field": "f"}})
	}
	for i, e := range m.environments {
		parameters := object{tagParameter: e.tag, "UNUSED": e.unused, reposParameter: []any{}}
		if e.ref != "" {
			parameters[reposParameter] = []any{object{"repo": "https://github.com/x/a", "ref": e.ref}}
		}
		put("e", i, "/app-sre/environment-1.yml", object{"name": fmt.Sprint("env", i), "description": e.description,
			"parameters": parameters})
	}
	for i, n := range m.namespaces {
		put("n", i, "/openshift/namespace-1.yml", object{"name": fmt.Sprint("ns", i), "cluster": ref(m.path("c", n.cluster)),
			"environment": ref(m.path("e", n.environment))})
	}
	for i, it := range m.integrations {
		managed := []any{}
		for _, e := range it.entries {
			managed = append(managed, m.managed(e))
		}
		put("i", i, "/app-sre/integration-1.yml", object{"name": it.name, "upstream": it.upstream,
			"description": it.description, "managed": managed})
	}
	return d
}

// managed returns an element of managed.
func (m *model) managed(e modelEntry) object {
	spec := object{"resources": object{"requests": object{"cpu": e.cpu, "memory": "1Mi"},
		"limits": object{"memory": "1Mi"}}, "extraArgs": e.args}
	if e.image != "" {
		spec["imageRef"] = e.image
	}
	if e.cron {
		spec["cron"] = "0 0 * * *"
	}
	if e.slow {
		spec["sleepDurationSecs"] = "7"
	}
	out := object{"namespace": ref(m.path("n", e.namespace)), "spec": spec, "delete": e.isDelete}
	switch {
	case e.shards > 0:
		out["sharding"] = object{"strategy": "static", "shards": e.shards}
	case e.shards < 0:
		rule := object{"strategy": "per-aws-account"}
		if i := m.overridden(e); i >= 0 {
			rule["shardSpecOverrides"] = []any{object{"shard": ref(m.path("a", i)), "imageRef": "of-shard"}}
		}
		out["sharding"] = rule
	}
	return out
}

// overridden returns the position of the account that has another image, -1 for none.
func (m *model) overridden(e modelEntry) int {
	return slices.IndexFunc(m.accounts, func(a modelObject) bool { return e.imageOf != "" && a.name == e.imageOf })
}

// says returns all that a model wants: where each object goes, whose it is, and what it is. It
// is written without the code of the manager, apart from that which makes objects.
func (m *model) says(t *testing.T) string {
	var out []string
	for _, it := range m.integrations {
		for _, e := range it.entries {
			ns := m.namespaces[e.namespace]
			c := m.clusters[ns.cluster]
			where := fmt.Sprintf("%s/ns%d of %s at %s, off %v: ", c.name, e.namespace, it.upstream, c.address,
				c.disables == Name)
			out = append(out, where, fmt.Sprintf("service of %s/ns%d: %s", c.name, e.namespace, m.service(e.namespace)))
			for _, text := range m.objects(t, it, e) {
				out = append(out, where+text)
			}
			if i := m.overridden(e); i >= 0 && e.shards < 0 && !e.isDelete && e.cpu != "bad" &&
				m.accounts[i].disables == it.name {
				out = append(out, fmt.Sprintf("%s overrides %s, which is no shard", it.name, e.imageOf))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// service says who has the Service of a namespace, and whether it goes.
func (m *model) service(namespace int) string {
	var upstreams []string
	goes := true
	for _, it := range m.integrations {
		for _, e := range it.entries {
			if e.namespace == namespace {
				upstreams, goes = append(upstreams, it.upstream), goes && e.isDelete
			}
		}
	}
	return fmt.Sprint(slices.Min(upstreams), goes)
}

// objects returns the objects of an entry.
func (m *model) objects(t *testing.T, it modelIntegration, e modelEntry) []string {
	of := render.Integration{Name: it.name, Shards: m.shards(it, e)}
	if len(of.Shards) == 0 {
		return []string{it.name + " runs nowhere"}
	}
	raw, err := json.Marshal(m.managed(e)["spec"])
	if err != nil || json.Unmarshal(raw, &of.Spec) != nil {
		t.Fatal(err)
	}
	env := m.environments[m.namespaces[e.namespace].environment]
	values := map[string]string{tagParameter: env.tag}
	if env.ref != "" && it.upstream == "https://github.com/x/a" {
		values[tagParameter] = render.Late(tagParameter)
	}
	if e.isDelete {
		of.Spec.ExtraArgs, of.Spec.Resources.Requests.CPU = "", "1"
	}
	objects, mistakes := render.Objects(of, values, render.Options{})
	var out []string
	for _, made := range mistakes {
		out = append(out, fmt.Sprint(it.name, made))
	}
	for i, o := range objects {
		text := textJSON(t, o)
		if strings.Contains(text, render.Late(tagParameter)) {
			text += " with " + env.ref
		}
		if e.isDelete {
			text = fmt.Sprint("goes: ", o["kind"], field(o, "metadata")["name"])
		}
		if !e.cron {
			text += " shards " + of.Shards[i].Shards
		}
		out = append(out, text)
	}
	return out
}

func textJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// shards returns the processes of an entry.
func (m *model) shards(it modelIntegration, e modelEntry) (out []render.Shard) {
	n := max(1, e.shards)
	for i := range n {
		s := render.Shard{Shards: fmt.Sprint(n), ID: fmt.Sprint(i), ExtraArgs: e.args}
		if n > 1 {
			s.Suffix = fmt.Sprint("-", i)
		}
		out = append(out, s)
	}
	if e.shards >= 0 {
		return out
	}
	out = nil
	for i, a := range m.accounts {
		if a.disables == it.name {
			continue
		}
		s := render.Shard{Key: a.name, Suffix: "-" + a.name, ExtraArgs: e.args + " --account-name " + a.name}
		if i == m.overridden(e) {
			s.ImageRef = "of-shard"
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b render.Shard) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// The desired states of two worlds differ exactly when what they want differs: an object, where
// it goes, or whose it is. Names and order of files, descriptions, and parameters and accounts
// that nothing uses do not count.
func TestStateLaw(t *testing.T) {
	types := example(t)
	var schema *gql.Schema
	stateOf := func(m *model) string {
		b, err := bundle.Parse([]byte(textJSON(t, m.data(types))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if schema == nil {
			if schema, err = gql.NewSchema(b.GraphQL()); err != nil {
				t.Fatal(err)
			}
		}
		v, err := New().(integration.Stater).DesiredState(t.Context(), queryWith(gql.New(b, schema)), settingsOf(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		return textJSON(t, v)
	}
	n, differ := *worlds, 0
	if testing.Short() {
		n = min(n, 300)
	}
	for seed := range uint64(n) {
		base, head := randomModel(rand.New(rand.NewPCG(seed, 1))), randomModel(rand.New(rand.NewPCG(seed, 1)))
		r := rand.New(rand.NewPCG(seed, 2))
		did := ""
		for range 1 + r.IntN(2) {
			did += head.change(r) + "; "
		}
		before, after := stateOf(base), stateOf(head)
		want := base.says(t) != head.says(t)
		if got := before != after; got != want {
			t.Fatalf("seed %d: %s\nthe states differ: %v, want %v\nbase %s\n%s\n\nhead %s\n%s", seed, did, got, want, before,
				base.says(t), after, head.says(t))
		}
		if want {
			differ++
		}
	}
	t.Logf("%d pairs, %d of them differ", n, differ)
	if differ < n/4 || differ > n*9/10 {
		t.Errorf("%d of %d pairs differ: the worlds are too much alike, or too different", differ, n)
	}
}
