package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// read returns the classifier of a type whose name begins with a word.
func read(t testing.TB, name, word string, file func(name string) ([]byte, error)) *classes.Classifier {
	t.Helper()
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) { return file(name) }, openapi.Limits{})
	d, err := set.Document(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range resources.NewIndex([]*openapi.Document{d}).Types() {
		if strings.HasPrefix(one.Name, word) {
			c, err := classes.New(one)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	t.Fatalf("%s has no type %s", name, word)
	return nil
}

const (
	redis      = "azure-2019-11-05/specification/redis/resource-manager/Microsoft.Cache/stable/2018-03-01/redis.json"
	kubernetes = "kubernetes-openapi-v3/apis__apps__v1_openapi.json"
	network    = "azure-2019-11-05/specification/network/resource-manager/Microsoft.Network/stable/2019-09-01/virtualNetwork.json"
)

func ofSpecs(t testing.TB, name, word string) rules.Rules {
	dir := shared.Path(t, "data", "specs")
	return rules.Of(read(t, name, word, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	}), nil)
}

func TestRulesOfSpecifications(t *testing.T) {
	deployment := ofSpecs(t, kubernetes, "apps/v1/deployments")
	cache := ofSpecs(t, redis, "Microsoft.Cache/Redis")
	net := ofSpecs(t, network, "Microsoft.Network/virtualNetworks")
	const container = "/spec/template/spec/containers/*"
	if r := deployment.At("/spec/template/spec/containers"); r.List != classes.Map || strings.Join(r.Keys, ",") != "name" {
		t.Errorf("containers: %+v", r)
	}
	if r := deployment.At(container + "/ports/*/protocol"); r.Default != "TCP" || r.Applies {
		t.Errorf("protocol: %+v", r)
	}
	if r := deployment.At("/spec/selector"); !r.Atomic || r.Ground == "" || !strings.Contains(r.Place, "#/") {
		t.Errorf("selector: %+v", r)
	}
	if r := deployment.At("/status/replicas"); !r.ReadOnly || !strings.Contains(r.Ground, "inherited from status") {
		t.Errorf("status: %+v", r)
	}
	if r := deployment.At("/metadata/labels/app.kubernetes.io~1name"); r.ReadOnly || r.Doubt != "" {
		t.Errorf("a label: %+v", r)
	}
	if r := cache.At("/properties/shardCount"); r.CreateOnly != "" || r.ReadOnly {
		t.Errorf("shardCount: %+v", r)
	}
	if r := cache.At("/properties/staticIP"); r.CreateOnly != rules.Inferred ||
		!strings.HasPrefix(r.Ground, "inferred: ") {
		t.Errorf("staticIP: %+v", r)
	}
	if r := cache.At("/location"); r.Format != body.Location {
		t.Errorf("location: %+v", r)
	}
	if r := net.At("/properties/subnets/*/id"); r.Doubt != "" {
		t.Errorf("the id of a subnet: %+v", r)
	}
	if r := net.At("/nobody/knows/it"); r.Doubt != "" || r.ReadOnly {
		t.Errorf("an unknown property: %+v", r)
	}
}

// A place whose specification is broken has a doubt; the other places have rules.
func TestBrokenSpecificationIsADoubt(t *testing.T) {
	spec := `{"swagger": "2.0", "paths": {"/things/{name}": {
		"get": {"responses": {"200": {"schema": {"$ref": "#/definitions/T"}}}},
		"put": {"parameters": [{"in": "body", "name": "b", "schema": {"$ref": "#/definitions/T"}}], "responses": {"200": {"schema": {"$ref": "#/definitions/T"}}}}}},
		"definitions": {"T": {"properties": {"ok": {"type": "string", "readOnly": true}, "bad": {"$ref": "#/definitions/Nowhere"}}}}}`
	c := read(t, "a.json", "", func(string) ([]byte, error) { return []byte(spec), nil })
	r := rules.Of(c, nil)
	if got := r.At("/ok"); !got.ReadOnly || got.Doubt != "" {
		t.Errorf("ok: %+v", got)
	}
	if got := r.At("/bad/inner"); !strings.Contains(got.Doubt, "Nowhere") {
		t.Errorf("bad: %+v", got)
	}
}

func TestRulesAreSafeForConcurrentUse(t *testing.T) {
	var lock sync.Mutex
	dir := shared.Path(t, "data", "specs")
	c := read(t, kubernetes, "apps/v1/deployments", func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	})
	r := rules.With(rules.Of(c, &lock), rules.Overlay{Ignore: []string{"/spec/replicas"}})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for _, pattern := range []string{"/spec/replicas", "/spec/template/spec/containers/*/image", "/metadata/uid"} {
				if got := rules.Find(r, pattern, pattern); got.Ignore != (pattern == "/spec/replicas") {
					t.Errorf("%s: %+v", pattern, got)
				}
			}
		})
	}
	wait.Wait()
}

func TestTable(t *testing.T) {
	var table rules.Table
	if err := json.Unmarshal([]byte(`[
		{"at": "/o", "createOnly": "declared"}, {"at": "/o/x", "format": "duration"}, {"at": "/*/x", "secret": true},
		{"at": "/l", "list": "map", "keys": ["k"], "exclusive": true}, {"at": "/l/*/d", "default": {"a": 1.0}},
		{"at": "/s", "discriminator": {"propertyName": "kind", "variants": {"a": ["x"]}}}
	]`), &table); err != nil {
		t.Fatal(err)
	}
	if r := table.At("/o/x/y"); r.CreateOnly != rules.Declared || !r.Secret || r.Format != "" {
		t.Errorf("classes are inherited, and formats are not: %+v", r)
	}
	if r := table.At("/o/x"); r.Format != body.Duration || !r.Secret {
		t.Errorf("two entries about one place: %+v", r)
	}
	if r := table.At("/l"); r.List != classes.Map || !r.Exclusive || r.Keys[0] != "k" {
		t.Errorf("a list: %+v", r)
	}
	if r := table.At("/l/*/d"); body.Canonical(r.Default) != `{"a":1}` || !r.Applies || r.Exclusive {
		t.Errorf("a default: %+v", r)
	}
	if r := table.At("/s"); r.Discriminator != "kind" || r.Variants["a"][0] != "x" {
		t.Errorf("a discriminator: %+v", r)
	}
}

func TestOverlay(t *testing.T) {
	r := rules.With(rules.Table{{At: "/l", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}}}, rules.Overlay{
		Ignore: []string{"/a", "/l/name=x/v", "/l/name=y/m/*/v"}, Exclusive: []string{"/l"},
		Secrets: []rules.SecretPlace{{At: "/p/q", Version: "2"}},
	})
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"/a", "/a", true}, {"/a/b", "/a/b", true}, {"/ab", "/ab", false}, {"", "", false},
		{"/l/*/v", "/l/name=x/v", true}, {"/l/*/v", "/l/name=z/v", false}, {"/l/*/v/w", "/l/name=x/v/w", true},
		{"/l/*/v", "/l/*/v", false},
		{"/l/*/m/*/v", "/l/name=y/m/name=q/v", true}, {"/l/*/m/*/v", "/l/name=x/m/name=q/v", false},
	} {
		if got := rules.Find(r, test.pattern, test.path).Ignore; got != test.want {
			t.Errorf("%s: ignored is %t, want %t", test.path, got, test.want)
		}
	}
	if l := r.At("/l"); !l.Exclusive || l.List != classes.Map {
		t.Errorf("the list: %+v", l)
	}
	if q := r.At("/p/q"); !q.Secret || !q.WriteOnly || q.Version != "2" {
		t.Errorf("the secret: %+v", q)
	}
	if p := r.At("/p"); p.Secret {
		t.Errorf("around the secret: %+v", p)
	}
}

func TestCheckPlace(t *testing.T) {
	for place, want := range map[string]bool{
		"/a": true, "/a/b~1c/~0": true, "/l/name=x": true, "": false, "a": false, "a.b": false, "/a/": false, "/a~": false,
		"/a~2": false, "/~0~": false, "/~0~1": true,
	} {
		if err := rules.CheckPlace(place); (err == nil) != want {
			t.Errorf("%q: got %v", place, err)
		}
	}
}

func TestIdentify(t *testing.T) {
	table := rules.Table{
		{At: "/l/*/id", Rule: rules.Rule{Format: body.ARMID}}, {At: "/l/*/n", Rule: rules.Rule{Default: json.Number("7")}},
		{At: "/l/*/s", Rule: rules.Rule{Secret: true}}, {At: "/set/*", Rule: rules.Rule{Format: body.EnumFold}},
	}
	for name, test := range map[string]struct {
		pattern      string
		list         rules.Rule
		item         any
		id, pathName string
	}{
		"a format": {"/l", rules.Rule{List: classes.Map, Keys: []string{"id"}}, map[string]any{"id": "/A/"}, `"/a"`,
			"id=/A/"},
		"a default": {"/l", rules.Rule{List: classes.Map, Keys: []string{"id", "n"}}, map[string]any{"id": "x"},
			`"x",7`, "id=x,n=7"},
		"a missing key": {"/l", rules.Rule{List: classes.Map, Keys: []string{"id"}}, map[string]any{}, "", "?"},
		"no object":     {"/l", rules.Rule{List: classes.Map, Keys: []string{"id"}}, "x", "", "?"},
		"a secret key": {"/l", rules.Rule{List: classes.Map, Keys: []string{"s"}}, map[string]any{"s": "x"}, `"x"`,
			"s=(secret)"},
		"an object": {"/l", rules.Rule{List: classes.Map, Keys: []string{"o"}},
			map[string]any{"o": map[string]any{"b": true}}, `{"b":true}`, `o={"b":true}`},
		"a value":         {"/set", rules.Rule{List: classes.Set}, "AbC", `"abc"`, `"AbC"`},
		"a list w/o keys": {"/l", rules.Rule{}, map[string]any{"id": "x"}, "", "?"},
	} {
		id, got := rules.Identify(table.At, test.pattern, test.list, test.item)
		if id != test.id || got != test.pathName {
			t.Errorf("%s: got %s, %s, want %s, %s", name, id, got, test.id, test.pathName)
		}
	}
}

func TestMask(t *testing.T) {
	table := rules.Table{
		{At: "/s", Rule: rules.Rule{Secret: true}}, {At: "/l/*/w", Rule: rules.Rule{WriteOnly: true}},
		{At: "/m", Rule: rules.Rule{Masked: true}},
		{At: "/d", Rule: rules.Rule{Doubt: "broken"}},
	}
	v := map[string]any{"s": map[string]any{"a": "x"}, "l": []any{map[string]any{"w": "x", "v": "y"}}, "m": "x", "d": "x",
		"n": nil}
	const want = `{"d":"(secret)","l":[{"v":"y","w":"(secret)"}],"m":"(secret)","n":null,"s":"(secret)"}`
	if got := body.Text(rules.Mask(table, "", "", v)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The value of a variable is hidden if its name looks like that of a secret, wherever it stands.
func TestSecretPairs(t *testing.T) {
	of := rules.Table{{At: "/env", Rule: rules.Rule{List: "map", Keys: []string{"name"}}}}
	v := map[string]any{"env": []any{map[string]any{"name": "DB_PASSWORD", "value": "canary"},
		map[string]any{"name": "MODE", "value": "plain"}},
		"l": []any{map[string]any{"key": "apiToken", "value": "canary"}}}
	if text := body.Text(rules.Mask(of, "", "", v)); strings.Contains(text, "canary") ||
		!strings.Contains(text, "plain") || !strings.Contains(text, "DB_PASSWORD") {
		t.Errorf("got %s", text)
	}
	if got := rules.HiddenIn(of, v); !slices.Equal(got, []string{"/env/0/value", "/l/0/value"}) {
		t.Errorf("got %q", got)
	}
	for path, want := range map[string]bool{"/env/name=DB_PASSWORD/value": true, "/env/name=MODE/value": false,
		"/env/name=DB_PASSWORD/from": false, "/env/port=1,key=apiKey/value": true} {
		if got := rules.Find(of, "/env/*/x", path).Masked; got != want {
			t.Errorf("%s: masked %v", path, got)
		}
	}
}

// A place names items by their keys, by their position, or all of them, and is found wherever they stand.
func TestPlaces(t *testing.T) {
	of := rules.Table{{At: "/l", Rule: rules.Rule{List: "map", Keys: []string{"name"}}}}
	v := map[string]any{"o": map[string]any{}, "l": []any{map[string]any{"name": "a"}, map[string]any{"name": "b/c"}},
		"q": []any{map[string]any{}, map[string]any{}}, "s": "x", "e": []any{}}
	for at, want := range map[string]string{
		"/o/x": "/o/x /o/x", "/n/x/y": "/n/x/y /n/x/y", "/l/name=a/v": "/l/0/v /l/name=a/v",
		"/l/1/v": "/l/1/v /l/name=b~1c/v", "/l/name=b~1c/v": "/l/1/v /l/name=b~1c/v",
		"/l/*/v": "/l/0/v /l/name=a/v, /l/1/v /l/name=b~1c/v", "/q/1/v": "/q/1/v /q/*/v", "/l/name=z/v": "", "/l/7/v": "",
		"/e/*/v": "", "/s/x": "", "/q/name=a/v": "",
	} {
		var got []string
		for _, one := range rules.Places(of, v, at) {
			got = append(got, one.Exact+" "+one.Name)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
	}
}
