package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shop is the folder of the bundle that the cases change.
const shop = "../testdata/shop"

// A Case is a change, and what must run and must not run for it. Names are those of
// integrations, or INTEGRATION/SHARD.
type Case struct {
	Name         string   `json:"name"`
	Why          string   `json:"why"`
	Base         []Patch  `json:"base"`     // changes of the shop on both sides
	Head         []Patch  `json:"head"`     // further changes on head
	Settings     string   `json:"settings"` // "" for those of the shop
	MustRun      []string `json:"must_run"`
	MustNotRun   []string `json:"must_not_run"`
	AllowedExtra []string `json:"allowed_extra"`
}

// A Patch changes one file, or one GraphQL type.
type Patch struct {
	File        string         `json:"file"` // data/…, resources/… or schemas/…
	Put         map[string]any `json:"put"`
	Set         map[string]any `json:"set"`
	Remove      bool           `json:"remove"`
	Rename      string         `json:"rename"`
	Reverse     string         `json:"reverse"`      // a key with a list
	ReverseKeys bool           `json:"reverse_keys"` // of the whole file
	Type        string         `json:"type"`
	AddField    map[string]any `json:"add_field"`
}

func readCases(t *testing.T) []Case {
	t.Helper()
	raw, err := os.ReadFile("cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []Case
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("cases.json: %v", err)
	}
	return out
}

// TestCases holds that each case is whole: it has a reason, a name of its own, and says of
// each integration of the shop what it may do.
func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range readCases(t) {
		if names[c.Name] || c.Name == "" || c.Why == "" {
			t.Errorf("%q: a case needs a name of its own and a reason", c.Name)
		}
		names[c.Name] = true
		lists := slices.Concat(c.MustRun, c.MustNotRun, c.AllowedExtra)
		for _, name := range []string{"price-tags", "shop-window", "staff-badges", "supplier-orders", "warehouse-stock"} {
			if !slices.ContainsFunc(lists, func(unit string) bool { return unit == name || strings.HasPrefix(unit, name+"/") }) {
				t.Errorf("%q says nothing about %s", c.Name, name)
			}
		}
		for i, unit := range lists {
			if slices.Contains(lists[:i], unit) {
				t.Errorf("%q lists %s twice", c.Name, unit)
			}
		}
	}
	if n := len(names); n < 25 {
		t.Errorf("there are %d cases only", n)
	}
}

// A Request is what a selector reads: the paths of two bundle files and of the settings.
type Request struct {
	Base     string `json:"base"`
	Head     string `json:"head"`
	Settings string `json:"settings"`
}

// request writes both bundles and the settings of a case into a folder.
func (c Case) request(t *testing.T, dir string) Request {
	t.Helper()
	base, head := readShop(t), readShop(t)
	for _, p := range c.Base {
		p.apply(t, base)
		p.apply(t, head)
	}
	for _, p := range c.Head {
		p.apply(t, head)
	}
	settings := []byte(c.Settings)
	if c.Settings == "" {
		var err error
		if settings, err = os.ReadFile(filepath.Join(shop, "prcheck.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	r := Request{filepath.Join(dir, "base.json"), filepath.Join(dir, "head.json"), filepath.Join(dir, "prcheck.yaml")}
	for name, raw := range map[string][]byte{r.Base: encoded(t, base), r.Head: encoded(t, head), r.Settings: settings} {
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS(filepath.Join(shop, "queries"))); err != nil {
		t.Fatal(err)
	}
	return r
}

func readShop(t *testing.T) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(shop, "base.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// apply changes a bundle.
func (p Patch) apply(t *testing.T, b map[string]any) {
	t.Helper()
	if p.Type != "" {
		p.addField(b)
		return
	}
	section, at := locate(b, p.File)
	file, exists := section[at].(map[string]any)
	if !exists && p.Put == nil {
		t.Fatalf("there is no file %s", p.File)
	}
	file = maps.Clone(file)
	maps.Copy(file, p.Set)
	switch {
	case p.Put != nil:
		section[at] = p.Put
	case p.Remove:
		delete(section, at)
	case p.Rename != "":
		to, path := locate(b, p.Rename)
		to[path] = file
		delete(section, at)
	case p.ReverseKeys:
		section[at] = reversed{file}
	case p.Reverse != "":
		list := slices.Clone(file[p.Reverse].([]any))
		slices.Reverse(list)
		file[p.Reverse] = list
		section[at] = file
	default:
		section[at] = file
	}
}

// locate returns the section of a bundle that has a file, and the path of the file there.
func locate(b map[string]any, file string) (section map[string]any, at string) {
	name, rest, _ := strings.Cut(file, "/")
	section, _ = b[name].(map[string]any)
	if section == nil {
		section = map[string]any{}
		b[name] = section
	}
	return section, "/" + rest
}

func (p Patch) addField(b map[string]any) {
	for _, conf := range b["graphql"].(map[string]any)["confs"].([]any) {
		if conf := conf.(map[string]any); conf["name"] == p.Type {
			conf["fields"] = append(conf["fields"].([]any), p.AddField)
		}
	}
}

// reversed is an object that is written with its keys in descending order.
type reversed struct{ of map[string]any }

func (r reversed) MarshalJSON() ([]byte, error) {
	keys := slices.Sorted(maps.Keys(r.of))
	slices.Reverse(keys)
	var out []string
	for _, k := range keys {
		v, err := json.Marshal(r.of[k])
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%q:%s", k, v))
	}
	return []byte("{" + strings.Join(out, ",") + "}"), nil
}
