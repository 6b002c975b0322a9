package manager

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/manager/render"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/native"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/reconcile"
)

// A shardsCase is a case of the area shards.
type shardsCase struct {
	Input struct {
		Era         string
		Integration string
		Args        []string `json:"integration_args"`
		ExtraArgs   string
		Spec        object
		Sharding    object
		Accounts    []object
		Orgs        []object
		Clusters    []any
		BaseShard   struct {
			Shards string
			ID     string `json:"shard_id"` // of the first shard; all of them get the rule
		} `json:"base_shard"`
		SubSharding object
	}
	Expected json.RawMessage
}

// managed returns the element of managed that a case is about, as an answer has it.
func (c shardsCase) managed() object {
	rule := c.Input.Sharding
	if c.Input.SubSharding != nil {
		n, _ := strconv.Atoi(c.Input.BaseShard.Shards)
		rule = object{"strategy": "static", "shards": n, "shardSpecOverrides": []any{object{"subSharding": c.Input.SubSharding}}}
	}
	list, _ := rule["shardSpecOverrides"].([]any)
	for _, v := range list {
		if o := v.(object); o["shard"] != nil {
			o["shard"] = object{"name": o["shard"]}
		}
	}
	spec := object{"extraArgs": c.Input.ExtraArgs}
	for k, v := range c.Input.Spec {
		spec[k] = v
	}
	out := object{"spec": spec}
	if rule != nil {
		out["sharding"] = rule
	}
	return out
}

// data returns the objects of a case.
func (c shardsCase) data(t *testing.T) *testData {
	d := example(t)
	for path := range d.Data {
		if !strings.HasPrefix(path, "/settings") {
			delete(d.Data, path)
		}
	}
	put := func(schema string, i int, o object) {
		if disable, ok := o["disable"].(object); ok && disable["integrations"] == nil {
			delete(disable, "integrations") // GraphQL cannot answer for a list that is null
		}
		o["$schema"] = schema
		d.Data[fmt.Sprintf("%s-%d.yml", schema, i)] = o
	}
	for i, o := range c.Input.Accounts {
		put("/aws/account-1.yml", i, o)
	}
	for i, o := range c.Input.Orgs {
		put("/openshift/openshift-cluster-manager-1.yml", i, o)
	}
	for i, v := range c.Input.Clusters {
		o, ok := v.(object)
		if !ok {
			o = object{"name": v}
		}
		o["serverUrl"] = "https://x"
		put("/openshift/cluster-1.yml", i, o)
	}
	return d
}

// shards returns the processes of a case.
func (c shardsCase) shards(t *testing.T) ([]render.Shard, *mistake) {
	raw, err := json.Marshal(c.managed())
	if err != nil {
		t.Fatal(err)
	}
	var d definition
	d.Name, d.Managed = c.Input.Integration, []json.RawMessage{raw}
	d.mistake = mistake{message: "it has no namespace"} // so that none is needed
	if err := d.readEntries(); err != nil {
		t.Fatal(err)
	}
	w, err := ask(t.Context(), c.data(t).query(t), settings{})
	if err != nil {
		t.Fatal(err)
	}
	w.definitions = []definition{d}
	objects, err := askObjects(t.Context(), c.data(t).query(t), w)
	if err != nil {
		t.Fatal(err)
	}
	w.objects = objects
	b := &builder{world: w, settings: settings{Options: map[string][]string{}}}
	if c.Input.Args != nil {
		b.settings.Options[d.Name] = c.Input.Args
	}
	return b.shardsOf(placed{definition: &d, entry: &d.entries[0]})
}

func TestShardsCases(t *testing.T) {
	shared.Each(t, "shards", func(t *testing.T, c shardsCase) {
		got, wrong := c.shards(t)
		var want struct {
			Error        string
			Keys         []string
			OverrideKeys []string          `json:"override_keys"`
			OverrideOf   map[string]object `json:"override_of"`
		}
		if json.Unmarshal(c.Expected, &want) != nil {
			if wrong != nil {
				t.Fatal(wrong.message)
			}
			compareShards(t, got, c)
			return
		}
		if want.Error != "" {
			word := strings.ToLower(strings.Split(want.Error, " ")[0])
			if wrong == nil || !strings.Contains(wrong.message, word) {
				t.Errorf("got %+v, %+v, want an error with %s", got, wrong, word)
			}
			return
		}
		var keys, overridden []string
		for _, s := range got {
			keys = append(keys, s.Key)
			if s.ImageRef != "" || s.Disabled || s.Resources != nil {
				overridden = append(overridden, s.Key)
			}
			if of := want.OverrideOf[s.Key]; of != nil && (fmt.Sprint(of["imageRef"]) != s.ImageRef && of["imageRef"] != nil || (of["disabled"] == true) != s.Disabled) {
				t.Errorf("%s: got %+v, want %v", s.Key, s, of)
			}
		}
		if want.Keys != nil && !slices.Equal(keys, want.Keys) || want.OverrideKeys != nil && !slices.Equal(overridden, want.OverrideKeys) || wrong != nil {
			t.Errorf("got %q, overridden %q, %+v, want %+v", keys, overridden, wrong, want)
		}
	})
}

// compareShards compares processes with those of a case. Of the era before sharding by keys had
// keys of its own, what both have in common is compared: names and arguments. Its numbers said
// nothing to the integrations.
func compareShards(t *testing.T, got []render.Shard, c shardsCase) {
	var want []map[string]any
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %v", got, want)
	}
	for i, w := range want {
		is := map[string]any{"shards": got[i].Shards, "shard_id": got[i].ID, "shard_key": got[i].Key, "shard_name_suffix": got[i].Suffix, "extra_args": got[i].ExtraArgs}
		if c.Input.Era != "" {
			delete(w, "shards")
			delete(w, "shard_id")
			is["extra_args"] = strings.TrimSpace(got[i].ExtraArgs)
		}
		for name, value := range w {
			if is[name] != value {
				t.Errorf("shard %d: %s is %q, want %q", i, name, is[name], value)
			}
		}
	}
}

// A paramsCase is a case of the area params.
type paramsCase struct {
	Input struct {
		Template []string          `json:"template_params"`
		Env      map[string]string `json:"os_env"`
		Values   object            `json:"environment"`
		FromRef  map[string]string `json:"image_tag_from_ref"`
		Upstream string
		Resolved string
	}
	Expected map[string]any
}

func TestParamsCases(t *testing.T) {
	shared.Each(t, "params", func(t *testing.T, c paramsCase) {
		hub := newGitHub(t)
		if text := c.Input.Resolved; text != "" {
			hub.body = text + strings.Repeat("0", fullHash-len(text))
		}
		raw, err := json.Marshal(c.Input.Values)
		if err != nil {
			t.Fatal(err)
		}
		upstream := c.Input.Upstream
		if upstream == "" {
			upstream = exampleUpstream
		}
		b := &builder{world: &world{hashLength: 7}, settings: settings{PassEnv: c.Input.Template, ImageTagFromRef: c.Input.FromRef}}
		p, wrong := b.paramsOf(environment{Name: "env", Parameters: raw}, upstream)
		if isError, _ := c.Expected["error"].(bool); isError || wrong != nil {
			if isError != (wrong != nil) {
				t.Errorf("got %+v, want an error: %v", wrong, isError)
			}
			return
		}
		env, _ := environmentOf(t, "", c.Input.Env)
		values, _, err := findAll(t.Context(), env, &resolver{}, gitHub{URL: hub.URL}, p.late)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.Expected {
			got, isLate := values[name]
			if !isLate {
				got = p.values[name]
			}
			if want != any(got) && name != "error" {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		of := render.Integration{Name: "a", Shards: []render.Shard{{Shards: "1", ID: "0"}}}
		if _, mistakes := render.Objects(of, p.values, render.Options{}); len(mistakes) > 0 {
			t.Errorf("got %v", mistakes) // of a parameter that nobody declares
		}
	})
}

func TestFilterCases(t *testing.T) {
	shared.Each(t, "filter", func(t *testing.T, c struct {
		Input struct {
			Environments []string `json:"integrations_env"`
			Name         string   `json:"environment_name"`
		}
		Expected struct {
			Count int
			All   int `json:"count_all"`
		}
	}) {
		d := example(t)
		delete(d.Data, terraformFile)
		for i, name := range c.Input.Environments {
			of := fmt.Sprintf("integration-%d", i)
			env, ns := "/environments/"+name+".yml", "/namespaces/"+name+".yml"
			d.copyOf(environmentFile, env, object{"name": name})
			d.copyOf(namespaceFile, ns, object{"name": name, "environment": ref(env)})
			d.copyOf(managerFile, "/integrations/"+of+".yml", object{"name": of, "managed": []any{object{"namespace": ref(ns), "spec": d.entry(managerFile, 0)["spec"]}}})
		}
		delete(d.Data, managerFile)
		for own, want := range map[string]int{"environment: " + c.Input.Name: c.Expected.Count, "": c.Expected.All} {
			n := 0
			for _, key := range keys(d.desired(t, own)) {
				if strings.Contains(key, "/Deployment/") {
					n++
				}
			}
			if n != want {
				t.Errorf("%q: got %d, want %d", own, n, want)
			}
		}
	})
}

func TestResourcesCases(t *testing.T) {
	shared.Each(t, "resources", func(t *testing.T, c struct {
		Input    struct{ Integration, Upstream string }
		Expected map[string]any
	}) {
		d := example(t)
		delete(d.Data, terraformFile)
		d.Data[managerFile]["name"], d.Data[managerFile]["upstream"] = c.Input.Integration, c.Input.Upstream
		got := map[string]any{}
		eachItem(d.desired(t, ""), func(p native.Part, it reconcile.Item) {
			o := it.Body.(body).Object
			kind := o["kind"].(string)
			names, _ := got[kind].([]any)
			got[kind], got["caller"] = append(names, field(o, "metadata")["name"]), p.Caller
		})
		if fmt.Sprint(got) != fmt.Sprint(c.Expected) {
			t.Errorf("got %v, want %v", got, c.Expected)
		}
	})
}

// The cases about images that say what a reference to a commit becomes.
func TestRefCases(t *testing.T) {
	shared.Each(t, "image", func(t *testing.T, c struct {
		Input    map[string]string
		Expected map[string]any
	}) {
		status, err := strconv.Atoi(c.Input["tag_from_ref_error"])
		if err != nil {
			t.Skip("about rendering")
		}
		hub := newGitHub(t)
		hub.status = status
		_, _, err = example(t).completed(t, "github: {url: "+hub.URL+"}\nimage_tag_from_ref: {production: main}", nil)
		// A part that is not complete is neither compared nor written: native holds that.
		if isError := err != nil; c.Expected["error"] != isError || len(hub.requests) != 1 || !strings.Contains(errText(err), http.StatusText(status)) {
			t.Errorf("got %v after %q", err, hub.requests)
		}
	})
}

func TestEarlyExitCases(t *testing.T) {
	shared.Each(t, "early_exit", func(t *testing.T, c struct {
		Input    struct{ Change string }
		Expected struct {
			Decision string
			Keys     []string
		}
	}) {
		if _, known := earlyExits[c.Input.Change]; !known {
			t.Skip("about another integration")
		}
		edit, want := earlyExits[c.Input.Change].edit, earlyExits[c.Input.Change].want
		base, head := early(t), early(t)
		edit(head)
		before, err := bundle.Parse(textOfData(t, base), nil)
		if err != nil {
			t.Fatal(err)
		}
		after, err := bundle.Parse(textOfData(t, head), before)
		if err != nil {
			t.Fatal(err)
		}
		made, err := planner.Make(t.Context(), planner.Input{Base: before, Head: after, BaseRef: "base", HeadRef: "head", Settings: &integration.Settings{}, Natives: []integration.Native{New()}})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(made.Integrations, func(d plan.Decision) bool { return d.Name == Name })
		var shards []string
		for _, task := range made.Tasks {
			shards = append(shards, task.Shard)
		}
		slices.Sort(shards)
		if got := made.Integrations[i]; (got.Decision == plan.Skip) != (c.Expected.Decision == "skip") || !slices.Equal(shards, want) || (len(c.Expected.Keys) > 0) != (len(want) > 0) {
			t.Errorf("got %s at %s (%s) with %q, want %q", got.Decision, got.Rung, got.Reason, shards, want)
		}
	})
}

// earlyExits are the changes of the cases, with the shards that they are about.
var earlyExits = map[string]struct {
	edit func(*testData)
	want []string
}{
	"/description": {func(d *testData) { d.Data[terraformFile]["description"] = "Another text." }, nil},
	"new /aws/account-1.yml": {func(d *testData) {
		d.Data["/accounts/new.yml"] = object{"$schema": "/aws/account-1.yml", "name": "new"}
	}, []string{exampleShard}},
	"/app-sre/environment-1.yml /parameters/IMAGE_TAG": {func(d *testData) { d.at("/environments/stage.yml", "parameters")["IMAGE_TAG"] = "new" },
		[]string{"reconcile-01/stage-a", "reconcile-01/stage-b"}},
	"managed entry removed": {func(d *testData) {
		d.Data["/integrations/c.yml"]["managed"] = d.Data["/integrations/c.yml"]["managed"].([]any)[:1]
	}, []string{"reconcile-01/stage-b"}},
}

// early returns data with one integration by account in the first namespace, and another one in
// two namespaces of another environment.
func early(t *testing.T) *testData {
	d := example(t)
	d.copyOf(environmentFile, "/environments/stage.yml", object{"name": "stage"})
	var managed []any
	for _, name := range []string{"stage-a", "stage-b"} {
		d.copyOf(namespaceFile, "/namespaces/"+name+".yml", object{"name": name, "environment": ref("/environments/stage.yml")})
		managed = append(managed, object{"namespace": ref("/namespaces/" + name + ".yml"), "spec": d.entry(managerFile, 0)["spec"]})
	}
	d.copyOf(terraformFile, "/integrations/c.yml", object{"name": "c", "managed": managed})
	return d
}

func textOfData(t *testing.T, d *testData) []byte {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
