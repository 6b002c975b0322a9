package simulation

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
)

var changes = flag.Int("changes", 400, "how many random edits TestOffline makes; 10000 are the judged ones")

// declared are the properties of which the specifications of the example say that they cannot be
// changed.
var declared = []string{"location", "properties.staticIP", "properties.tenantId", "zones", "kind"}

// An edit changes a valid body. One that is harmless changes nothing that counts, or what can be
// changed.
type edit struct {
	harmless bool
	apply    func(r *rand.Rand, body map[string]any)
}

func properties(body map[string]any) map[string]any {
	p, _ := body["properties"].(map[string]any)
	return p
}

// swap changes the order of the items of a list.
func swap(object map[string]any, name string) {
	list, _ := object[name].([]any)
	list = slices.Clone(list)
	slices.Reverse(list)
	object[name] = list
}

// A kind is a type with a valid body and the edits that it knows.
type kind struct {
	name string
	body func(r *rand.Rand) map[string]any
	all  []edit
}

var locations = []string{"westus", "West US", "eastus", "East US", "northeurope", "North Europe"}

// common are edits of all types that have a location and tags.
var common = []edit{
	{false, func(r *rand.Rand, b map[string]any) { b["location"] = locations[r.IntN(len(locations))] }},
	{true, func(_ *rand.Rand, b map[string]any) { b["location"] = respell(b["location"]) }},
	{true, func(r *rand.Rand, b map[string]any) { b["tags"] = map[string]any{"n": fmt.Sprint(r.IntN(9))} }},
	{true, func(_ *rand.Rand, b map[string]any) { delete(b, "tags") }},
	{true, func(r *rand.Rand, b map[string]any) {
		holder := b
		if _, top := b["sku"]; !top {
			holder = properties(b)
		}
		if sku, ok := holder["sku"].(map[string]any); ok {
			sku["capacity"] = r.IntN(5)
		}
	}},
}

// respell writes a location in another way.
func respell(v any) any {
	text, _ := v.(string)
	if strings.Contains(text, " ") {
		return strings.ToLower(strings.ReplaceAll(text, " ", ""))
	}
	return map[string]string{"westus": "West US", "eastus": "East US", "northeurope": "North Europe"}[text]
}

func object(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		out[name] = pairs[i+1]
	}
	return out
}

func place(r *rand.Rand) string { return locations[r.IntN(len(locations))] }

var kinds = []kind{
	{"Example.Cache/caches", func(r *rand.Rand) map[string]any {
		return object("location", place(r), "tags", object("a", "1"), "properties",
			object("sku", object("name", "S", "capacity", 1),
				"staticIP", fmt.Sprintf("10.0.0.%d", r.IntN(3)), "minimumTlsVersion", "1.2", "configuration",
				object("a", "1", "b", "2")))
	}, []edit{
		{false, func(r *rand.Rand, b map[string]any) { properties(b)["staticIP"] = fmt.Sprintf("10.0.0.%d", r.IntN(3)) }},
		{true, func(_ *rand.Rand, b map[string]any) { delete(properties(b), "staticIP") }},
		{true, func(_ *rand.Rand, b map[string]any) { delete(properties(b), "minimumTlsVersion") }},
		{true, func(_ *rand.Rand, b map[string]any) { properties(b)["configuration"] = object("b", "2", "c", "3") }},
	}},
	{"Example.Vault/vaults", func(r *rand.Rand) map[string]any {
		return object("location", place(r), "tags", object("a", "1"), "properties",
			object("tenantId", fmt.Sprintf("t%d", r.IntN(3)),
				"sku", object("name", "s"), "enableSoftDelete", true, "accessPolicies", []any{
					object("objectId", "x", "permissions", []any{"get", "list"}),
					object("objectId", "y", "permissions", []any{"get"})}))
	}, []edit{
		{false, func(r *rand.Rand, b map[string]any) { properties(b)["tenantId"] = fmt.Sprintf("t%d", r.IntN(3)) }},
		{true, func(_ *rand.Rand, b map[string]any) { swap(properties(b), "accessPolicies") }},
		{true, func(_ *rand.Rand, b map[string]any) { delete(properties(b), "enableSoftDelete") }},
	}},
	{"Example.Compute/scaleSets", func(r *rand.Rand) map[string]any {
		return object("location", place(r), "tags", object("a", "1"), "zones", []any{"1", "2", "3"}[:1+r.IntN(3)], "sku",
			object("name", "S", "capacity", 3), "properties", object("image", object("publisher", "p", "version", "1")))
	}, []edit{
		{false, func(r *rand.Rand, b map[string]any) { b["zones"] = []any{"1", "2", "3"}[:1+r.IntN(3)] }},
		{true, func(r *rand.Rand, b map[string]any) {
			properties(b)["image"] = object("version", fmt.Sprint(r.IntN(4)))
		}},
	}},
	{"Example.Storage/accounts", func(r *rand.Rand) map[string]any {
		return object("location", place(r), "tags", object("a", "1"), "kind", "Storage", "sku", object("name", "S"),
			"properties",
			object("retention", "PT24H", "networkAcls", object("defaultAction", "Allow", "ipRules", []any{
				object("value", "1", "action", "Allow"), object("value", "2", "action", "Allow")})))
	}, []edit{
		{false, func(r *rand.Rand, b map[string]any) { b["kind"] = []string{"Storage", "BlobStorage"}[r.IntN(2)] }},
		{true, func(_ *rand.Rand, b map[string]any) {
			if acls, ok := properties(b)["networkAcls"].(map[string]any); ok {
				swap(acls, "ipRules")
			}
		}},
		{true, func(_ *rand.Rand, b map[string]any) { properties(b)["retention"] = "P1D" }},
		{true, func(_ *rand.Rand, b map[string]any) {
			if acls, ok := properties(b)["networkAcls"].(map[string]any); ok {
				delete(acls, "defaultAction")
			}
		}},
	}},
}

// A pair is a resource before and after some edits, with what the cloud said of them.
type pair struct {
	file     string
	harmless bool
	target   string // of the refusal; "" if the cloud took the change
	edits    int
}

// Every change of a property that is declared create-only, and that the cloud then refuses, was
// found before; hardly any change that does no harm is called a mistake.
func TestOffline(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5)) //nolint:gosec // a test wants the same numbers again
	const batch = 100
	refused, found, harmless, alarms := 0, 0, 0, 0
	for done := 0; done < *changes; done += batch {
		base, head := newWorld(t), newWorld(t)
		var pairs []pair
		for n := range batch {
			pairs = append(pairs, base.change(t, head, random, n))
		}
		failing := findings(t, base, head)
		for _, p := range pairs {
			switch at := failing[p.file]; {
			case slices.Contains(declared, p.target):
				refused++
				code := "CREATE_ONLY /" + strings.ReplaceAll(p.target, ".", "/")
				if slices.ContainsFunc(at, func(f string) bool { return strings.HasPrefix(f+"/", code+"/") }) {
					found++
				} else {
					t.Errorf("the cloud refuses %s of %s, and the check says %q", p.target, p.file, at)
				}
			case p.harmless && p.target == "":
				harmless++
				if len(at) > 0 {
					alarms++
					t.Logf("false alarm: %s: %q", p.file, at)
				}
			}
		}
	}
	t.Logf("%d changes refused, %d of them found before; %d harmless changes, %d false alarms", refused, found, harmless,
		alarms)
	if refused < *changes/10 || harmless < *changes/10 {
		t.Errorf("%d refusals and %d harmless changes say little", refused, harmless)
	}
	if alarms*100 > harmless {
		t.Errorf("%d of %d harmless changes are called mistakes", alarms, harmless)
	}
}

// change puts a resource into both sides, edits that of head, and asks the cloud about it.
func (w *world) change(t *testing.T, head *world, r *rand.Rand, n int) pair {
	t.Helper()
	k := kinds[r.IntN(len(kinds))]
	p := pair{file: path("any", n), harmless: true, edits: 1 + r.IntN(3)}
	before := k.body(r)
	after := decode(t, encode(t, before))
	all := slices.Concat(common, k.all)
	onlyHarmless := r.IntN(2) == 0
	for range p.edits {
		e := all[r.IntN(len(all))]
		if onlyHarmless && !e.harmless {
			continue
		}
		p.harmless = p.harmless && e.harmless
		e.apply(r, after)
	}
	title := name("any", n)
	w.put(p.file, entry(k.name, title, parent(0), before))
	head.put(p.file, entry(k.name, title, parent(0), after))
	id := parent(0) + "/providers/" + k.name + "/" + title
	if code, answer := w.send(t, id, encode(t, before)); code != http.StatusCreated {
		t.Fatalf("%s: %d %s", id, code, answer)
	}
	code, answer := w.send(t, id, encode(t, after))
	if code == http.StatusConflict {
		inner, _ := decode(t, answer)["error"].(map[string]any)
		p.target, _ = inner["target"].(string)
	} else if code != http.StatusOK {
		t.Fatalf("%s: %d %s", id, code, answer)
	}
	return p
}

// send sends a PUT as anybody could, and returns the answer.
func (w *world) send(t *testing.T, id string, body []byte) (int, []byte) {
	t.Helper()
	versions := map[string]string{"Cache": "2024-05-01", "Network": "2024-03-01", "Vault": "2024-02-01",
		"Compute": "2024-04-01", "Storage": "2024-01-01"}
	provider, _, _ := strings.Cut(id[strings.Index(id, "Example.")+len("Example."):], "/")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, endpoint+id+"?api-version="+versions[provider],
		strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := wire{world: w, writes: true}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw := make([]byte, 1<<16)
	size, _ := answer.Body.Read(raw) // a recorder gives everything at once
	return answer.StatusCode, raw[:size]
}

// findings returns the codes and places of the findings that fail a change, by file.
func findings(t *testing.T, base, head *world) map[string][]string {
	t.Helper()
	var models [2]*cloud.Model
	for i, w := range []*world{base, head} {
		var err error
		if models[i], err = (&cloud.Reader{}).Read(t.Context(), w.ask()); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string][]string{}
	for _, f := range check.Run(models[0], models[1]).Findings {
		if f.Fails() {
			out[f.File] = append(out[f.File], string(f.Code)+" "+f.Property)
		}
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out
}
