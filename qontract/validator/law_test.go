package validator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
)

// TestLawOfChanged checks the law of the scope Changed: Changed(head) has all findings of
// All(head) that All(base) does not have, and only findings of All(head).
func TestLawOfChanged(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(shared.Path(t, "data", "bundles"), "generated-300-base.json"))
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		// Base has mistakes too. They are not caused by the change.
		base := parse(t, vandalize(t, raw, r, r.IntN(3)), nil)
		after := vandalize(t, []byte(bundleText(t, base)), r, 1+r.IntN(3))
		head := parse(t, after, base)
		was, is := messages(t, base, nil, validator.All), messages(t, head, base, validator.All)
		changed := messages(t, head, base, validator.Changed)
		for m := range is {
			if !was[m] && !changed[m] {
				t.Errorf("seed %d: not found among the changes: %s", seed, m)
			}
			if !was[m] {
				broken++
			}
		}
		for m := range changed {
			if !is[m] {
				t.Errorf("seed %d: found among the changes only: %s", seed, m)
			}
		}
	}
	if broken < int(seeds) {
		t.Errorf("the changes broke %d things, too few to prove anything", broken)
	}
}

func parse(t *testing.T, raw []byte, like *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	b, err := bundle.ParseUnchecked(raw, like)
	if err != nil {
		t.Fatal(err)
	}
	texts[b] = raw
	return b
}

// texts maps a bundle to the text it was parsed from.
var texts = map[*bundle.Bundle][]byte{}

func bundleText(t *testing.T, b *bundle.Bundle) string {
	t.Helper()
	return string(texts[b])
}

// messages returns the findings, without the places by which equal mistakes differ.
func messages(t *testing.T, head, base *bundle.Bundle, s validator.Scope) map[string]bool {
	t.Helper()
	r, err := validator.Check(context.Background(), head, validator.Options{Base: base, Scope: s, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, f := range r.Findings {
		out[fmt.Sprintf("%s %s %s %s %s", f.Section, f.Path, f.Pointer, f.Rule, f.Message)] = true
	}
	return out
}

// vandalize changes a bundle at random. Most of the changes break something.
func vandalize(t *testing.T, raw []byte, r *rand.Rand, times int) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for range times {
		section := []string{"data", "data", "data", "data", "resources", "schemas"}[r.IntN(6)]
		files := doc[section].(map[string]any)
		path := pick(r, files)
		switch file := files[path].(map[string]any); {
		case section == "resources" || r.IntN(6) == 0:
			delete(files, path)
		case section == "data" && r.IntN(4) == 0: // the name or the schema of another file
			other := files[pick(r, files)].(map[string]any)
			key := []string{"name", "$schema"}[r.IntN(2)]
			if v, ok := other[key]; ok {
				file[key] = v
			}
		default:
			vandalizeValue(r, file)
		}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pick(r *rand.Rand, of map[string]any) string {
	keys := make([]string, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys[r.IntN(len(keys))]
}

// vandalizeValue changes a value at or below a key of an object.
func vandalizeValue(r *rand.Rand, o map[string]any) {
	if len(o) == 0 {
		return
	}
	key := pick(r, o)
	switch v := o[key].(type) {
	case map[string]any:
		if r.IntN(5) > 0 {
			vandalizeValue(r, v)
			return
		}
	case []any:
		if i := r.IntN(len(v) + 1); i < len(v) {
			if item, ok := v[i].(map[string]any); ok && r.IntN(3) > 0 {
				vandalizeValue(r, item)
				return
			}
			o[key] = append(v, v[i])
			return
		}
	case string:
		if strings.HasPrefix(v, "/") {
			o[key] = v + "x"
			return
		}
	}
	switch r.IntN(4) {
	case 0:
		delete(o, key)
	case 1:
		o[key] = json.Number("7")
	case 2:
		o[key] = "other"
	case 3:
		o[key+"x"] = o[key]
	}
}
