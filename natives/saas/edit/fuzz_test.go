package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.yaml.in/yaml/v3"
)

// FuzzApply holds that no file makes it panic, and that a change of a ref changes one line, and
// in it nothing but one value. The check decodes files another way than the product.
func FuzzApply(f *testing.F) {
	f.Add([]byte(before), "/ns/prod.yml", "", "stage")
	f.Add([]byte("namespace: {$ref: /ns}\nref: OLD\r\npromotion: {subscribe: [c]}"), "/ns", "", "c")
	f.Add([]byte(before), "", "all", "")
	f.Fuzz(func(t *testing.T, file []byte, namespace, name, channel string) {
		change := Change{Template: "web", Namespace: namespace, Name: name, Ref: "0123456789abcdef0123456789abcdef01234567"}
		got, err := Apply(file, change)
		if err == nil {
			checkOneScalar(t, file, got, change.Ref)
		}
		change.Notes = []Note{{channel, "up", "0123456789abcdef"}}
		if got, err = Apply(file, change); err != nil {
			return
		}
		if again, err := Apply(got, change); err != nil || !bytes.Equal(again, got) {
			t.Errorf("the second time: got %v\n%q\nfrom %q", err, again, got)
		}
		for line := range bytes.Lines(file) { // no line is lost, except for values
			if trimmed := bytes.TrimRight(line, "\r\n"); !bytes.Contains(got, trimmed) && !bytes.Contains(line, []byte("ref")) &&
				!bytes.Contains(line, []byte("target_config_hash")) && !bytes.ContainsAny(line, "]}") {
				t.Errorf("the line %q is lost in %q", line, got)
			}
		}
	})
}

// Files with random damage are refused, or changed in one value alone.
func TestApplyToDamagedFiles(t *testing.T) {
	seeds := []string{before,
		"namespace: {$ref: /ns/prod.yml}\r\nref: OLD\r\npromotion: {subscribe: [c], auto: true} # é\r\n",
		"promotion:\n  promotion_data:\n  - channel: stage\n    data:\n    - {parent_saas: up, target_config_hash: abc}\nref: \"OLD\"\nnamespace:\n  $ref: /ns/prod.yml"}
	pieces := []string{" ", "\n", "\r", "'", "\"", "#", ":", ": ", "- ", "[", "]", "{", "}", "&a ", "*a", "|", ">", "<<",
		"!!int ", "\\", "é", "\u2028", "\t", ",", "ref: OLD", "---"}
	changed := 0
	for seed := range uint64(6000) {
		r := rand.New(rand.NewPCG(seed, 3))
		file := seeds[r.IntN(len(seeds))]
		for range 1 + r.IntN(3) {
			from := r.IntN(len(file) + 1)
			to := min(from+r.IntN(3)*r.IntN(12), len(file))
			file = file[:from] + pieces[r.IntN(len(pieces))] + file[to:]
		}
		change := Change{Template: "web", Namespace: "/ns/prod.yml", Ref: "0123456789abcdef0123456789abcdef01234567"}
		if got, err := Apply([]byte(file), change); err == nil {
			changed++
			checkOneScalar(t, []byte(file), got, change.Ref)
		}
		change.Notes = []Note{{"stage", "up", "0123456789abcdef"}}
		if got, err := Apply([]byte(file), change); err == nil {
			if again, err := Apply(got, change); err != nil || !bytes.Equal(again, got) {
				t.Fatalf("seed %d: the second time: got %v\n%q\nfrom %q", seed, err, again, got)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, file)
		}
	}
	if changed < 300 {
		t.Errorf("only %d files were changed, so this says little", changed)
	}
}

// checkOneScalar fails the test unless files differ in one scalar at most.
func checkOneScalar(t *testing.T, was, is []byte, want string) {
	t.Helper()
	if bytes.Equal(was, is) {
		return
	}
	i, j := 0, 0
	for i < len(was) && i < len(is) && was[i] == is[i] {
		i++
	}
	for j < len(was)-i && j < len(is)-i && was[len(was)-1-j] == is[len(is)-1-j] {
		j++
	}
	if gone := was[i : len(was)-j]; bytes.ContainsAny(gone, "\r\n") || len(is)-j-i > len(want)+2 {
		t.Errorf("%q became %q", gone, is[i:len(is)-j])
	}
	var a, b any
	if yaml.Unmarshal(was, &a) != nil || yaml.Unmarshal(is, &b) != nil {
		return // duplicate keys, that a tree of nodes may have
	}
	if n := differences(a, b, want); n != 1 {
		t.Errorf("%d values differ between %q and %q", n, was, is)
	}
}

// differences counts the values that differ. One that did not become what was wanted counts as
// many.
func differences(a, b any, want string) int {
	switch x := named(a).(type) {
	case map[string]any:
		y, ok := named(b).(map[string]any)
		if !ok || len(x) != len(y) {
			return 100
		}
		n := 0
		for k := range x {
			n += differences(x[k], y[k], want)
		}
		return n
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return 100
		}
		n := 0
		for i := range x {
			n += differences(x[i], y[i], want)
		}
		return n
	}
	switch {
	case fmt.Sprint(a) == fmt.Sprint(b):
		return 0
	case fmt.Sprint(b) == want:
		return 1
	}
	return 100
}

// named returns a mapping with names as keys, whatever they are.
func named(v any) any {
	m, ok := v.(map[any]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, v := range m {
		out[fmt.Sprintf("%T %v", k, k)] = v
	}
	return out
}
