package render

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
)

var worlds = flag.Int("worlds", 3000, "how many random targets are rendered")

// pieces are what random texts are made of.
var pieces = []string{"${A}", "${B}", "${C}", "${NO}", "${IMAGE_TAG}", "${COMMIT_SHA}", "${", "}", "$", "x", "y", "-",
	"${A-B}"}

// A dice makes random worlds.
type dice struct{ *rand.Rand }

func (d dice) text() string {
	if d.IntN(6) == 0 {
		return "${{" + d.pick("A", "B", "C", "NO", "IMAGE_TAG") + "}}"
	}
	out := ""
	for range d.IntN(4) {
		out += d.pick(pieces...)
	}
	return out
}

func (d dice) pick(of ...string) string { return of[d.IntN(len(of))] }

// value returns random JSON for an object.
func (d dice) value(depth int) any {
	switch n := d.IntN(8); {
	case n == 0 && depth > 0:
		out := []any{}
		for range d.IntN(3) {
			out = append(out, d.value(depth-1))
		}
		return out
	case n < 3 && depth > 0:
		out := map[string]any{}
		for range d.IntN(3) {
			out[d.pick("k", "l", "k${A}", "${B}", "a/b~c")] = d.value(depth - 1)
		}
		return out
	case n == 3:
		return json.Number(strconv.Itoa(d.IntN(9)))
	case n == 4:
		return d.IntN(2) == 0
	}
	return d.text()
}

// parameter returns a random parameter of a layer.
func (d dice) parameter() slowParameter {
	p := slowParameter{name: d.pick("A", "B", "C", "D", "IMAGE_TAG", "COMMIT_SHA", "CHANNEL"), secret: d.IntN(4) == 0}
	switch n := d.IntN(10); {
	case p.secret || n < 6:
		p.value = d.pick("", "0", "x", "y", "xy", "7", "[1]", "true", "null", "{\"k\": 1}", "u:${A}@", "${B}", "${D}${D}",
			"${C}x")
	case n == 6:
		p.value = d.IntN(2) == 0
	case n == 7:
		p.value = []any{"x", json.Number("1")}
	case n == 8:
		p.value = nil
	default:
		p.value = json.Number(strconv.Itoa(d.IntN(3)))
	}
	return p
}

func (d dice) world() slowWorld {
	w := slowWorld{commit: "0123456789abcdef0123456789abcdef01234567", useChan: d.IntN(4) == 0,
		managed: []string{"ConfigMap", "Deployment.apps"}}
	for i := range w.layers {
		names := map[string]bool{}
		for range d.IntN(4) {
			if p := d.parameter(); !names[p.name] || p.secret {
				names[p.name] = names[p.name] || !p.secret
				w.layers[i] = append(w.layers[i], p)
			}
		}
	}
	for _, name := range []string{"A", "B", "C", "IMAGE_TAG", "COMMIT_SHA"} {
		if d.IntN(5) == 0 {
			continue
		}
		p := slowDeclared{name: name, required: d.IntN(20) == 0, generate: d.IntN(20) == 0}
		if d.IntN(2) == 0 {
			text := d.pick("", "d", "e", "${A}")
			p.value = &text
		}
		w.declare = append(w.declare, p)
	}
	if d.IntN(3) == 0 {
		w.labels = map[string]string{d.pick("l", "${A}", "k"): d.text(), d.pick("m", "x"): d.text()}
	}
	for i := range d.IntN(4) {
		kind := [][2]string{{"ConfigMap", "v1"}, {"Deployment", "apps/v1"}, {"Deployment", "other/v1"},
			{"Service", "v1"}}[d.IntN(4)]
		metadata := map[string]any{"name": fmt.Sprint("n", i)}
		if d.IntN(8) == 0 {
			metadata["name"] = d.pick("${A}", "n1", "${B}x", "")
		}
		if d.IntN(4) == 0 {
			metadata["namespace"] = d.pick("other", "shop-stage", "${A}", "${NO}", "shop-${B}")
		}
		if d.IntN(3) == 0 {
			metadata["labels"] = map[string]any{"l": d.text(), "k": d.value(0)}
		}
		w.objects = append(w.objects, map[string]any{"kind": kind[0], "apiVersion": kind[1], "metadata": metadata,
			"data": d.value(3)})
	}
	return w
}

// input returns the world as a target with a template and secrets.
func (w slowWorld) input(t *testing.T) Input {
	to := target()
	to.Template.File.ManagedTypes, to.Template.File.UseChannelInImageTag = w.managed, w.useChan
	secrets := map[string]string{}
	split := func(layer int) (*string, []saas.SecretParameter) {
		var fields []string
		var of []saas.SecretParameter
		for _, p := range w.layers[layer] {
			raw, err := json.Marshal(p.value)
			if err != nil {
				t.Fatal(err)
			}
			if p.secret {
				path := fmt.Sprint(layer, "/", len(of))
				of = append(of, saas.SecretParameter{Name: p.name, Secret: integration.SecretRef{Path: path}})
				secrets[path] = p.value.(string)
				continue
			}
			fields = append(fields, strconv.Quote(p.name)+":"+string(raw))
		}
		out := "{" + strings.Join(fields, ",") + "}"
		return &out, of
	}
	env, file, of := to.Namespace.Environment, to.Template.File, to.Template
	env.Parameters, env.SecretParameters = split(0)
	file.Parameters, file.SecretParameters = split(1)
	of.Parameters, of.SecretParameters = split(2)
	to.Parameters, to.SecretParameters = split(3)
	return Input{Target: to, Commit: w.commit, HashLength: 7, Files: oneFile(string(w.document(t))),
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) { return secrets[ref.Path], nil }}
}

// document returns the template of the world as JSON.
func (w slowWorld) document(t *testing.T) []byte {
	var declared []any
	for _, d := range w.declare {
		p := map[string]any{"name": d.name, "required": d.required}
		if d.value != nil {
			p["value"] = *d.value
		}
		if d.generate {
			p["generate"] = "expression"
		}
		declared = append(declared, p)
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Template", "objects": w.objects,
		"labels": w.labels, "parameters": declared})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// differ renders a world with both implementations and says how they differ, "" if not at all.
func differ(t *testing.T, w slowWorld, m mutant) string {
	got, failed := Render(t.Context(), w.input(t))
	objects, places, err := slowRender(w, m)
	if (err != nil) != (failed != nil) {
		return fmt.Sprintf("the error is %v, and by the second implementation %v", failed, err)
	}
	if err != nil {
		return ""
	}
	a, b := canonical(t, got.Objects), canonical(t, objects)
	for i := range got.Masked {
		sort.Strings(got.Masked[i])
	}
	switch {
	case len(got.Objects)+len(objects) > 0 && a != b:
		return fmt.Sprintf("the objects are %s, and by the second implementation %s", a, b)
	case len(places) > 0 && !reflect.DeepEqual(got.Masked, places):
		return fmt.Sprintf("the places of secrets are %q, and by the second implementation %q: %s", got.Masked, places, a)
	}
	return ""
}

func canonical(t *testing.T, value any) string {
	raw, err := json.Marshal(throughJSON(t, value))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Rendering gives what a second implementation gives that shares no code with it: the same
// objects, the same places of secrets, and mistakes in the same worlds.
func TestSecondImplementation(t *testing.T) {
	rendered := 0
	for seed := range *worlds {
		w := dice{rand.New(rand.NewPCG(uint64(seed), 16))}.world()
		if why := differ(t, w, ""); why != "" {
			raw, _ := json.Marshal(w.layers)
			t.Fatalf("world %d: %s\n%s\nlayers %s %+v", seed, why, w.document(t), raw, w.layers)
		}
		if objects, _, err := slowRender(w, ""); err == nil && len(objects) > 0 {
			rendered++
		}
	}
	if rendered < *worlds/4 {
		t.Errorf("only %d of %d worlds have objects: they say little", rendered, *worlds)
	}
}

// The random worlds tell each of these mistakes from what is right.
func TestMutants(t *testing.T) {
	for _, m := range []mutant{"the environment wins", "two passes", "a chain is no secret", "the commit wins",
		"undeclared names are empty", "values are filled in at once", "namespaces stay", "keys are no secrets",
		"labels of the object win"} {
		found := false
		for seed := 0; seed < 3000 && !found; seed++ {
			found = differ(t, dice{rand.New(rand.NewPCG(uint64(seed), 16))}.world(), m) != ""
		}
		if !found {
			t.Errorf("no world tells that %s", m)
		}
	}
}

// The same input gives the same bytes.
func TestSameBytes(t *testing.T) {
	for seed := range *worlds / 10 {
		w := dice{rand.New(rand.NewPCG(uint64(seed), 17))}.world()
		first, errFirst := Render(t.Context(), w.input(t))
		second, errSecond := Render(t.Context(), w.input(t))
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if string(a) != string(b) || fmt.Sprint(errFirst) != fmt.Sprint(errSecond) {
			t.Fatalf("world %d: got %s, %v and then %s, %v", seed, a, errFirst, b, errSecond)
		}
	}
}
