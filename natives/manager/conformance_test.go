package manager

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
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
		rule = object{"strategy": "static", "shards": n,
			"shardSpecOverrides": []any{object{"subSharding": c.Input.SubSharding}}}
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
	w, err := ask(t.Context(), c.data(t).query(t), ownSettings{})
	if err != nil {
		t.Fatal(err)
	}
	w.definitions = []definition{d}
	objects, err := askObjects(t.Context(), c.data(t).query(t), w)
	if err != nil {
		t.Fatal(err)
	}
	w.objects = objects
	b := &builder{world: w, settings: ownSettings{Options: map[string][]string{}}}
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
			if of := want.OverrideOf[s.Key]; of != nil && (fmt.Sprint(of["imageRef"]) != s.ImageRef && of["imageRef"] != nil ||
				(of["disabled"] == true) != s.Disabled) {
				t.Errorf("%s: got %+v, want %v", s.Key, s, of)
			}
		}
		if want.Keys != nil && !slices.Equal(keys, want.Keys) ||
			want.OverrideKeys != nil && !slices.Equal(overridden, want.OverrideKeys) || wrong != nil {
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
		is := map[string]any{"shards": got[i].Shards, "shard_id": got[i].ID, "shard_key": got[i].Key,
			"shard_name_suffix": got[i].Suffix, "extra_args": got[i].ExtraArgs}
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

// A paramsCase is the input of a case of the area params.
type paramsCase struct {
	Template    []string          `json:"template_params"` // named in pass_env, unless the settings say another
	Env         map[string]string `json:"os_env"`
	Environment object
	FromRef     map[string]string `json:"image_tag_from_ref"`
	Settings    *struct {
		PassEnv []string `json:"pass_env"`
	}
	Upstream string
	Resolved string
}

// settings returns the settings of a case.
func (c paramsCase) settings() ownSettings {
	out := ownSettings{PassEnv: c.Template, ImageTagFromRef: c.FromRef}
	if c.Settings != nil {
		out.PassEnv = c.Settings.PassEnv
	}
	return out
}

// chartDefault returns the default of a parameter.
func chartDefault(name string) string {
	for _, p := range render.Parameters() {
		if p.Name == name && p.Value != nil {
			return *p.Value
		}
	}
	return ""
}

func TestParamsCases(t *testing.T) {
	shared.Each(t, "params", func(t *testing.T, c struct {
		Input    json.RawMessage
		Expected map[string]any
	}) {
		var in paramsCase
		shared.Words(t, c.Input, &in)
		hub := newGitHub(t)
		if text := in.Resolved; text != "" {
			hub.body = text + strings.Repeat("0", fullHash-len(text))
		}
		raw, err := json.Marshal(in.Environment)
		if err != nil {
			t.Fatal(err)
		}
		b := &builder{world: &world{hashLength: 7}, settings: in.settings()}
		p, wrong := b.paramsOf(environment{Name: "env", Parameters: raw}, cmp.Or(in.Upstream, exampleUpstream))
		if isError, _ := c.Expected["error"].(bool); isError || wrong != nil {
			if isError != (wrong != nil) {
				t.Errorf("got %+v, want an error: %v", wrong, isError)
			}
			return
		}
		env, _ := environmentOf(t, "", in.Env)
		values, _, err := findAll(t.Context(), env, &resolver{}, gitHub{URL: hub.URL}, p.late)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.Expected {
			got, isLate := values[name]
			if !isLate {
				var isSaid bool
				if got, isSaid = p.values[name]; !isSaid {
					got = chartDefault(name)
				}
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

// A filterCase is a case of the area filter.
type filterCase struct {
	Environments []string `json:"integrations_env"`
	Name         string   `json:"environment_name"`
	Integrations []struct {
		Name     string
		Upstream *string
	}
	Upstream *string
}

func TestFilterCases(t *testing.T) {
	shared.Each(t, "filter", func(t *testing.T, c struct{ Input, Expected json.RawMessage }) {
		var in filterCase
		var expected struct {
			Count *int
			All   *int `json:"count_all"`
			Names []string
		}
		shared.Words(t, c.Input, &in)
		shared.Words(t, c.Expected, &expected)
		d := example(t)
		put := func(name, namespace string) object {
			return d.copyOf(managerFile, "/integrations/"+name+".yml", object{"name": name,
				"managed": []any{object{"namespace": ref(namespace), "spec": d.entry(managerFile, 0)["spec"]}}})
		}
		for i, name := range in.Environments {
			env, ns := "/environments/"+name+".yml", "/namespaces/"+name+".yml"
			d.copyOf(environmentFile, env, object{"name": name})
			d.copyOf(namespaceFile, ns, object{"name": name, "environment": ref(env)})
			put(fmt.Sprintf("integration-%d", i), ns)
		}
		for _, it := range in.Integrations {
			if definition := put(it.Name, namespaceFile); it.Upstream != nil {
				definition["upstream"] = *it.Upstream
			} else {
				delete(definition, "upstream")
			}
		}
		delete(d.Data, terraformFile)
		delete(d.Data, managerFile)
		own := ""
		switch {
		case in.Name != "":
			own = "environment: " + in.Name
		case in.Upstream != nil:
			own = "upstream: " + *in.Upstream
		}
		names := func(own string) (out []string) {
			for _, key := range keys(d.desired(t, own)) {
				if _, name, ok := strings.Cut(key, "/Deployment/"+namePrefix); ok {
					out = append(out, name)
				}
			}
			slices.Sort(out)
			return out
		}
		got := names(own)
		if expected.Count != nil && len(got) != *expected.Count || expected.All != nil && len(names("")) != *expected.All ||
			expected.Names != nil && !slices.Equal(got, expected.Names) {
			t.Errorf("%q: got %q, and %q of all, want %s", own, got, names(""), c.Expected)
		}
		if expected.Count == nil && expected.Names == nil {
			t.Error("the case expects nothing")
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
		if tag := c.Input["tag_from_ref"]; tag != "" {
			testTagFromRef(t, c.Input, c.Expected)
			return
		}
		status, err := strconv.Atoi(c.Input["tag_from_ref_error"])
		if err != nil {
			t.Skip("about rendering")
		}
		hub := newGitHub(t)
		hub.status = status
		_, _, err = example(t).completed(t, "github: {url: "+hub.URL+"}\nimage_tag_from_ref: {production: main}", nil)
		// A part that is not complete is neither compared nor written: native holds that.
		if isError := err != nil; c.Expected["error"] != isError || len(hub.requests) != 1 ||
			!strings.Contains(errText(err), http.StatusText(status)) {
			t.Errorf("got %v after %q", err, hub.requests)
		}
	})
}

// testTagFromRef renders a shard whose tag is the commit of a ref.
func testTagFromRef(t *testing.T, in map[string]string, expected map[string]any) {
	d, hub := example(t), newGitHub(t)
	for word, value := range in {
		switch word {
		case "tag_from_ref":
			hub.body = value + strings.Repeat("0", fullHash-len(value))
			d.Data["/settings/app-interface.yml"]["hashLength"] = len(value)
		case imageParameter, tagParameter, digestParameter:
			d.at(environmentFile, "parameters")[word] = value
		case "spec.imageRef":
			d.entry(terraformFile, 0)["spec"].(object)["imageRef"] = value
		default:
			t.Fatalf("the word %q is not known", word)
		}
	}
	got, _, err := d.completed(t, "github: {url: "+hub.URL+"}\nimage_tag_from_ref: {production: main}", nil)
	if err != nil {
		t.Fatal(err)
	}
	image := ""
	spec := item(t, got, imageKey).Body.(body).Object["spec"].(object)["template"].(object)["spec"].(object)
	eachContainer(spec["containers"], func(c manifests.Object) {
		if c["name"] == "int" {
			image, _ = c["image"].(string)
		}
	})
	for word, want := range expected {
		if word != "image" || image != want {
			t.Errorf("the image is %s, want %s %v", image, word, want)
		}
	}
}
