package manager

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

const exampleItems = exampleShard + "/"

// The example becomes one part, with a Deployment for each account, and itself last.
func TestDesired(t *testing.T) {
	got := example(t).desired(t, "canary: {terraform-resources: [staging]}")
	if len(got.Parts) != 1 || len(told(got)) > 0 {
		t.Fatalf("got %+v\n%q", got.Parts, told(got))
	}
	p := got.Parts[0]
	wantTarget := integration.ClusterRef{
		Name: "reconcile-01", Server: "https://api.reconcile-01.example.com:6443",
		Token: integration.SecretRef{Path: "clusters/reconcile-01", Field: "token"}, ServerField: "server",
	}
	if p.Shard != exampleShard || p.Caller != exampleUpstream || p.Target != wantTarget ||
		p.Lease != "cluster/reconcile-01" || !p.Last || p.Skip != "" {
		t.Errorf("got the part %+v", p)
	}
	want := []string{
		exampleItems + "Deployment/qontract-reconcile-integrations-manager",
		exampleItems + "Deployment/qontract-reconcile-terraform-resources-production",
		exampleItems + "Deployment/qontract-reconcile-terraform-resources-staging",
		exampleItems + "Service/qontract-reconcile",
	}
	if !slices.Equal(keys(got), want) {
		t.Errorf("got %q, want %q", keys(got), want)
	}
	self, canary, sibling := item(t, got, want[0]), item(t, got, want[2]), item(t, got, want[1])
	if !slices.Equal(self.After, []reconcile.Key{reconcile.Key(want[1]), reconcile.Key(want[2]), reconcile.Key(want[3])}) {
		t.Errorf("the manager comes after %q", self.After)
	}
	if len(canary.Needs) > 0 || !canary.Body.(body).Await || !slices.Equal(sibling.Needs, []reconcile.Key{canary.Key}) ||
		sibling.Body.(body).Await {
		t.Errorf("got the canary %+v and its sibling %+v", canary, sibling)
	}
	if place := (plan.Place{File: terraformFile, Pointer: "/managed/0"}); sibling.Place != place {
		t.Errorf("got the place %+v, want %+v", sibling.Place, place)
	}
	if meta := field(sibling.Body.(body).Object, "metadata"); meta["namespace"] != "reconcile-prod" {
		t.Errorf("got %v", meta)
	}
	if got := imageOf(sibling.Body.(body).Object); got != "quay.io/app-sre/qontract-reconcile:f44e417" {
		t.Errorf("got the image %q", got)
	}
	if !slices.Equal(got.Callers, []string{exampleUpstream}) || len(got.Targets) != 1 ||
		got.Targets[0] != any(wantTarget) {
		t.Errorf("got the callers %q and the targets %v", got.Callers, got.Targets)
	}
}

// Each mistake is told at its place, and everything else goes on.
func TestMistakes(t *testing.T) {
	const all = 4 // items of the example
	inClosed := ", so nothing is done in the namespaces of production"
	for name, c := range map[string]struct {
		edit  func(*testData)
		own   string
		want  string // code, place and message
		items int    // that are left
	}{
		"unknown strategy": {edit: func(d *testData) {
			d.entry(terraformFile, 0)["sharding"] = object{"strategy": "per-moon"}
		},
			want: "VAL_TYPE " + terraformFile +
				"/managed/0/sharding: the strategy is not known; say static, per-aws-account, per-openshift-cluster or per-ocm-organization", items: all - 2},
		"missing option": {own: "options: {terraform-resources: [--other]}",
			want: "SHARDING " + terraformFile +
				"/managed/0/sharding: terraform-resources has no option --account-name, which the sharding strategy per-aws-account needs", items: all - 2},
		"a key with a blank": {edit: func(d *testData) { d.Data["/accounts/staging.yml"]["name"] = "sta ging" },
			want: "RENDER " + terraformFile + "/managed/0/*sta ging*", items: all - 2},
		"no quantity": {edit: func(d *testData) {
			d.at(terraformFile, "managed", 0, "spec", "resources", "requests")["cpu"] = "much"
		},
			want: "RENDER " + terraformFile + "/managed/0/spec/resources/requests/cpu: *much*", items: all - 2},
		"no schedule": {edit: func(d *testData) { d.at(terraformFile, "managed", 0, "spec")["cron"] = "at noon" },
			want: "RENDER " + terraformFile + "/managed/0/spec/cron: *at noon*", items: all - 2},
		"a value of another type": {edit: func(d *testData) {
			d.at(terraformFile, "managed", 0, "spec")["successfulJobHistoryLimit"] = "x"
		},
			want: "VAL_TYPE " + terraformFile + "/managed/0/spec/successfulJobHistoryLimit: *", items: all - 2},
		"no namespace": {edit: func(d *testData) { d.entry(terraformFile, 0)["namespace"] = ref("/none.yml") },
			want: "VAL_TYPE " + terraformFile + "/managed/0/namespace: *", items: all - 2},
		"delete is no bool": {edit: func(d *testData) { d.entry(terraformFile, 0)["delete"] = "yes" },
			want: "VAL_TYPE " + terraformFile + "/managed/0/delete: *", items: all - 2},
		"no serverUrl": {edit: func(d *testData) { d.Data[clusterFile]["serverUrl"] = "" },
			want: "CLUSTER " + clusterFile +
				"/serverUrl: the cluster \"reconcile-01\" has no serverUrl, so nothing is done there", items: all},
		"no token": {edit: func(d *testData) { delete(d.Data[clusterFile], "automationToken") },
			want:  "CLUSTER " + clusterFile + ": the cluster \"reconcile-01\" has no automationToken, so nothing is done there",
			items: all},
		"a jump host": {edit: func(d *testData) { d.Data[clusterFile]["jumpHost"] = object{"hostname": "x"} },
			want: "CLUSTER " + clusterFile + "/jumpHost: *", items: all},
		"an override without an object": {edit: func(d *testData) {
			d.at(terraformFile, "managed", 0, "sharding")["shardSpecOverrides"] = []any{object{"shard": ref("/none.yml")}}
		}, want: "VAL_TYPE " + terraformFile + "/managed/0/sharding/shardSpecOverrides/0/shard: *", items: all - 2},
		"an override that is not used": {edit: func(d *testData) {
			d.Data["/accounts/staging.yml"]["disable"] = object{"integrations": []any{"terraform-resources"}}
			d.at(terraformFile, "managed", 0,
				"sharding")["shardSpecOverrides"] = []any{object{"shard": ref("/accounts/staging.yml")}}
		},
			want: "OVERRIDE " + terraformFile +
				"/managed/0/sharding/shardSpecOverrides/0: it overrides \"staging\", which disables terraform-resources and is no shard", items: all - 1},
		"parameters are no map": {edit: func(d *testData) { d.Data[environmentFile]["parameters"] = []any{"x"} },
			want: "PARAMETERS " + environmentFile +
				"/parameters: the parameters of the environment must be a map of names to values" + inClosed, items: 0},
		"refs are no list": {edit: func(d *testData) { d.at(environmentFile, "parameters")[reposParameter] = "main" },
			want: "PARAMETERS " + environmentFile + "/parameters/" + reposParameter +
				": INTEGRATION_UPSTREAM_REPOS must be a list of entries with repo and ref" + inClosed, items: 0},
		"two refs for one repository": {edit: func(d *testData) {
			d.at(environmentFile, "parameters")[reposParameter] = []any{object{"repo": "r", "ref": "a"},
				object{"repo": "r", "ref": "b"}}
		}, want: "PARAMETERS *two entries for \"r\"*", items: 0},
		"no ref": {edit: func(d *testData) {
			d.at(environmentFile, "parameters")[reposParameter] = []any{object{"repo": exampleUpstream, "ref": "../x"}}
		}, want: "PARAMETERS *must be a branch, a tag or a commit, got \"../x\"*", items: 0},
		"a ref without hashLength": {edit: func(d *testData) { delete(d.Data, "/settings/app-interface.yml") },
			own:  "image_tag_from_ref: {production: main}",
			want: "PARAMETERS *hashLength is 0*", items: 0},
		"two files of one namespace": {edit: func(d *testData) {
			d.copyOf(namespaceFile, "/namespaces/z.yml", nil)
			d.entry(terraformFile, 0)["namespace"] = ref("/namespaces/z.yml")
		},
			want: "NAMESPACE " + terraformFile + "/managed/0/namespace: " + namespaceFile +
				" and /namespaces/z.yml both describe the namespace " + exampleShard, items: all - 2},
		"too many processes": {edit: func(d *testData) {
			spec := object{"cron": "0 0 * * *", "resources": d.at(managerFile, "managed", 0, "spec")["resources"]}
			var many []any // one object each
			for range 21 {
				many = append(many, object{"namespace": ref(namespaceFile), "spec": spec,
					"sharding": object{"strategy": "static", "shards": 1000}})
			}
			d.Data[terraformFile]["managed"] = many
		}, want: "SHARDING " + terraformFile + "/managed/19/sharding: there are more than 20000 processes in all", items: 21},
		"a canary that does not exist": {own: "canary: {terraform-resources: [moon]}", items: all,
			want: "CANARY " + terraformFile + "/managed/0: none of its shards is a canary, although the settings name moon"},
		"nobody is a shard": {edit: func(d *testData) {
			delete(d.Data, "/accounts/staging.yml")
			delete(d.Data, "/accounts/production.yml")
		}, want: "SHARDING " + terraformFile + "/managed/0/sharding: no object is a shard of it, so it runs nowhere",
			items: all - 2},
		"delete of a namespace without entries": {own: "delete: [reconcile-01/other]", items: all,
			want: "DELETE_UNNAMED : prcheck.yaml:5: integrations.integrations-manager.settings.delete[0]: no entry names reconcile-01/other any more; remove it here when its objects are gone, or say left_behind: delete"},
	} {
		t.Run(name, func(t *testing.T) {
			d := example(t)
			if c.edit != nil {
				c.edit(d)
			}
			got := d.desired(t, c.own)
			lines := told(got)
			if len(lines) == 0 || !slices.ContainsFunc(lines, func(l string) bool { return matches(c.want, l) }) {
				t.Errorf("got %q, want %q", lines, c.want)
			}
			if n := len(keys(got)); n != c.items {
				t.Errorf("got %d items, want %d", n, c.items)
			}
		})
	}
}

// matches reports whether a line is a pattern in which a star is any text.
func matches(pattern, line string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(line, parts[0]) {
		return false
	}
	rest := line[len(parts[0]):]
	for i, part := range parts[1:] {
		at := strings.Index(rest, part)
		if at < 0 || i == len(parts)-2 && !strings.HasSuffix(rest, part) {
			return false
		}
		rest = rest[at+len(part):]
	}
	return len(parts) > 1 || rest == ""
}

// An integration with a mistake keeps its objects: an item says so in each part in which they
// may be.
func TestKeptIntegrations(t *testing.T) {
	d := example(t)
	d.copyOf(namespaceFile, "/namespaces/stage.yml", object{"name": "stage"})
	d.Data[managerFile]["managed"] = append(d.Data[managerFile]["managed"].([]any),
		object{"namespace": ref("/namespaces/stage.yml"), "spec": d.entry(managerFile, 0)["spec"]})
	d.entry(terraformFile, 0)["namespace"] = ref("/none.yml")
	got := d.desired(t, "left_behind: delete")
	if len(got.Parts) != 2 || got.DeleteLeft {
		t.Fatalf("got %+v", got)
	}
	for _, p := range got.Parts {
		isKept := func(it reconcile.Item) bool {
			return it.Key == reconcile.Key(p.Shard+"/Integration/terraform-resources") &&
				it.Mistake.Code == reconcile.CodeType && it.Body.(body).Integration == "terraform-resources"
		}
		if !slices.ContainsFunc(p.Items, isKept) {
			t.Errorf("%s: got %+v", p.Shard, p.Items)
		}
	}
}

// What nothing can be said about is an error: nothing is taken for an answer that is none.
func TestNoAnswer(t *testing.T) {
	query := example(t).query(t)
	for name, c := range map[string]struct{ of, from, to string }{
		"no list":        {"integrations_v1", `{"integrations":[`, `{"integrations":null,"x":[`},
		"no name":        {"integrations_v1", `"name":"terraform-resources"`, `"name":null`},
		"no managed":     {"integrations_v1", `"namespace":{`, `"namespace":null,"x":{`},
		"no clusters":    {"clusters_v1", `{"clusters":[`, `{"clusters":null,"x":[`},
		"a null cluster": {"clusters_v1", `{"clusters":[`, `{"clusters":[null,`},
		"no accounts":    {"awsaccounts_v1", `{"awsaccounts_v1":[`, `{"awsaccounts_v1":null,"x":[`},
		"no settings":    {"app_interface_settings_v1", `{"settings":[`, `{"settings":null,"x":[`},
		"nothing":        {"__type", `{`, `{"x":{`},
	} {
		found := false
		broken := func(ctx context.Context, q string, v map[string]any) ([]byte, error) {
			raw, err := query(ctx, q, v)
			if !strings.Contains(q, c.of) {
				return raw, err
			}
			text := strings.Replace(string(raw), c.from, c.to, 1)
			if found = text != string(raw); name == "nothing" {
				text = "{}"
			}
			return []byte(text), err
		}
		if got, err := desired(t.Context(), broken, settingsOf(t, "")); err == nil || !found {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// What the settings and the data leave out is no part, and is not left behind either.
func TestFilters(t *testing.T) {
	data := func() *testData {
		d := example(t)
		d.copyOf(environmentFile, "/environments/stage.yml", object{"name": "stage"})
		d.copyOf(namespaceFile, "/namespaces/stage.yml",
			object{"name": "stage", "environment": ref("/environments/stage.yml")})
		d.copyOf(terraformFile, "/integrations/b.yml", object{"name": "b", "upstream": "b", "managed": []any{
			object{"namespace": ref(namespaceFile), "spec": d.entry(managerFile, 0)["spec"]},
			object{"namespace": ref("/namespaces/stage.yml"), "spec": d.entry(managerFile, 0)["spec"]},
		}})
		return d
	}
	for name, c := range map[string]struct {
		own  string
		edit func(*testData)
		want []string // parts, with the kinds of their items
	}{
		"nothing": {"", nil, []string{"reconcile-01/reconcile-prod b: 1 Deployment, Service",
			"reconcile-01/reconcile-prod " + exampleUpstream + ": 3 Deployment", "reconcile-01/stage b: 1 Deployment, Service"}},
		"an upstream": {"upstream: b", nil, []string{"reconcile-01/reconcile-prod b: 1 Deployment, Service",
			"reconcile-01/stage b: 1 Deployment, Service"}},
		"the other": {"upstream: " + exampleUpstream, nil,
			[]string{"reconcile-01/reconcile-prod " + exampleUpstream + ": 3 Deployment"}},
		"environment": {"environment: stage", nil, []string{"reconcile-01/stage b: 1 Deployment, Service"}},
		"no service":  {"{environment: stage, exclude_service: true}", nil, []string{"reconcile-01/stage b: 1 Deployment"}},
		"a cluster that disables it": {"environment: stage", func(d *testData) {
			d.Data[clusterFile]["disable"] = object{"integrations": []any{Name}}
		},
			[]string{
				"reconcile-01/stage b: 1 Deployment, Service, skipped: the cluster \"reconcile-01\" disables integrations-manager"}},
		"a definition that is not deployed": {"environment: stage", func(d *testData) {
			delete(d.Data["/integrations/b.yml"], "managed")
		}, nil},
		"an upstream is null": {"environment: stage", func(d *testData) { delete(d.Data["/integrations/b.yml"], "upstream") },
			[]string{"reconcile-01/stage : 1 Deployment, Service"}},
	} {
		d := data()
		if c.edit != nil {
			c.edit(d)
		}
		got := d.desired(t, c.own)
		var parts []string
		for _, p := range got.Parts {
			parts = append(parts, describe(p))
		}
		if !slices.Equal(parts, c.want) || len(told(got)) > 0 {
			t.Errorf("%s: got %q %q, want %q", name, parts, told(got), c.want)
		}
	}
	got := data().desired(t, "environment: stage")
	if !slices.Equal(got.Callers, []string{"b", exampleUpstream}) {
		t.Errorf("got the callers %q", got.Callers)
	}
	for of, want := range map[[2]string]string{
		{"reconcile-01/reconcile-prod", "b"}: "the data name it still, and the settings leave it out: another manager may deploy to it",
		{"reconcile-01/gone", "b"}:           "",
		{"moon/gone", "b"}:                   `the cluster "moon" is not in the data any more`,
		{"x", "b"}:                           `the cluster "" is not in the data any more`,
	} {
		p, err := got.Left(native.Part{Shard: of[0], Caller: of[1]})
		if text := errText(err); text != want {
			t.Errorf("%q: got %+v, %v", of, p, err)
		}
		if err == nil && (p.Shard != of[0] || p.Caller != "b" || p.Lease != "cluster/reconcile-01" ||
			p.Target != got.Parts[0].Target) {
			t.Errorf("%q: got %+v", of, p)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// describe returns a part with the kinds of its items.
func describe(p native.Part) string {
	kinds := map[string]int{}
	for _, it := range p.Items {
		kinds[strings.Split(strings.TrimPrefix(string(it.Key), p.Shard+"/"), "/")[0]]++
	}
	out := p.Shard + " " + p.Caller + ":"
	if n := kinds["Deployment"]; n > 0 {
		out += " " + string(rune('0'+n)) + " Deployment"
	}
	if kinds["Service"] > 0 {
		out += ", Service"
	}
	if p.Skip != "" {
		out += ", skipped: " + p.Skip
	}
	return out
}

// What must go is named by the same keys, whatever its spec says.
func TestDelete(t *testing.T) {
	deleted := func(d native.Desired) (out []string) {
		eachItem(d, func(_ native.Part, it reconcile.Item) {
			if it.Delete {
				out = append(out, strings.TrimPrefix(string(it.Key), exampleItems))
			}
		})
		return out
	}
	before := keys(example(t).desired(t, ""))
	shards := []string{"Deployment/qontract-reconcile-terraform-resources-production",
		"Deployment/qontract-reconcile-terraform-resources-staging"}
	everything := append([]string{"Deployment/qontract-reconcile-integrations-manager"},
		append(slices.Clone(shards), "Service/qontract-reconcile")...)
	for name, c := range map[string]struct {
		edit func(*testData)
		own  string
		want []string
	}{
		"an entry": {func(d *testData) { d.entry(terraformFile, 0)["delete"] = true }, "", shards},
		"not":      {func(d *testData) { d.entry(terraformFile, 0)["delete"] = false }, "", nil},
		"all entries": {func(d *testData) {
			d.entry(terraformFile, 0)["delete"], d.entry(managerFile, 0)["delete"] = true, true
		}, "", everything},
		"a namespace":       {nil, "delete: [" + exampleShard + "]", everything},
		"another namespace": {nil, "delete: [reconcile-01/x]", nil},
		"one with a wrong spec": {func(d *testData) {
			d.entry(terraformFile, 0)["delete"] = true
			d.at(terraformFile, "managed", 0, "spec", "resources", "requests")["cpu"] = "much"
		}, "", shards},
	} {
		d := example(t)
		if c.edit != nil {
			c.edit(d)
		}
		got := d.desired(t, c.own)
		if !slices.Equal(deleted(got), c.want) || !slices.Equal(keys(got), before) {
			t.Errorf("%s: got %q of %q, want %q", name, deleted(got), keys(got), c.want)
		}
	}
}
