package manifests_test

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manifests"
)

// The words of the area "equal".
var (
	listWords       = regexp.MustCompile(`^([A-Za-z]+) \[(.*)\]$`)
	variableWords   = regexp.MustCompile(`^env (\S+) (?:value "(.*)"|without value)$`)
	annotationWords = regexp.MustCompile(`^(template )?(annotation|label) ([^\s=]+)(?:=(.*))?$`)
	fieldWords      = regexp.MustCompile(`^([A-Za-z0-9_.]+)=(.*)$`)
)

// setWords sets in an object what the words of a case say.
func setWords(t *testing.T, o manifests.Object, words string) {
	t.Helper()
	if m := listWords.FindStringSubmatch(words); m != nil {
		setList(t, o, m[1], strings.Split(m[2], ","))
		return
	}
	if strings.HasPrefix(words, "fieldRef.") {
		setReference(t, o, words)
		return
	}
	if m := variableWords.FindStringSubmatch(words); m != nil {
		variable := map[string]any{"name": m[1]}
		if strings.Contains(words, " value \"") {
			variable["value"] = m[2]
		}
		container(o)["env"] = []any{variable}
		return
	}
	if m := annotationWords.FindStringSubmatch(words); m != nil {
		at := []string{"metadata", m[2] + "s", m[3]}
		if m[1] != "" {
			at = append([]string{"spec", "template"}, at...)
		}
		setAt(o, at, m[4])
		return
	}
	if m := fieldWords.FindStringSubmatch(words); m != nil {
		var value any = m[2]
		if err := json.Unmarshal([]byte(m[2]), &value); err != nil {
			value = m[2]
		}
		at := strings.Split(m[1], ".")
		switch at[0] {
		case "memory", "cpu":
			setAt(container(o), []string{"resources", "requests", at[0]}, m[2])
		case "resources":
			setAt(container(o), at, m[2])
		case "image", "imagePullPolicy", "args", "command":
			setAt(container(o), at, value)
		case "metadata", "spec":
			setAt(o, at, value)
		default:
			setAt(o["spec"].(map[string]any), at, value)
		}
		return
	}
	switch words {
	case "unset", "set by server", "": // what the live object has anyway
	default:
		if !strings.HasPrefix(words, "no ") {
			t.Fatalf("the words %q are not known", words)
		}
	}
}

// setList gives an object a list of items with these names, in this order.
func setList(t *testing.T, o manifests.Object, list string, names []string) {
	t.Helper()
	of := container(o)
	var out []any
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		port := 9000
		for _, char := range name {
			port += int(char)
		}
		item, known := map[string]any{
			"env": map[string]any{"name": strings.ToUpper(name), "value": "1"}, "args": name, "command": name,
			"ports":            map[string]any{"name": name, "containerPort": port},
			"volumeMounts":     map[string]any{"name": name, "mountPath": "/" + name},
			"volumes":          map[string]any{"name": name, "emptyDir": map[string]any{}},
			"imagePullSecrets": map[string]any{"name": name},
			"initContainers":   map[string]any{"name": name, "image": "i:1"},
			"tolerations":      map[string]any{"key": name, "operator": "Exists"},
		}[list]
		if !known {
			t.Fatalf("the list %q is not known", list)
		}
		out = append(out, item)
	}
	switch list {
	case "volumes", "imagePullSecrets", "initContainers", "tolerations":
		of = podOf(o)
	}
	of[list] = out
}

// setReference gives an object a variable with a reference to a field, whose members the words are.
func setReference(t *testing.T, o manifests.Object, words string) {
	t.Helper()
	ref := map[string]any{}
	for word := range strings.SplitSeq(words, " + ") {
		switch name, value, _ := strings.Cut(strings.TrimPrefix(word, "fieldRef."), "="); name {
		case "fieldPath":
			ref[name] = cmp.Or(value, "metadata.name")
		case "apiVersion":
			ref[name] = cmp.Or(value, "v1")
		default:
			t.Fatalf("the word %q is not known", word)
		}
	}
	container(o)["env"] = []any{map[string]any{"name": "F", "valueFrom": map[string]any{"fieldRef": ref}}}
}

func setAt(o map[string]any, at []string, value any) {
	for _, name := range at[:len(at)-1] {
		below, ok := o[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			o[name] = below
		}
		o = below
	}
	o[at[len(at)-1]] = value
}

// The cases of this area that have no desired and live side are about generic resources.
func TestEqual(t *testing.T) {
	type equalCase struct{ Input, Expected json.RawMessage }
	shared.Each(t, "equal", func(t *testing.T, c equalCase) {
		var of map[string]json.RawMessage
		if json.Unmarshal(c.Input, &of) != nil || of["desired"] == nil || of["live"] == nil || of["desired"][0] != '"' {
			t.Skip("a case of generic resources")
		}
		var in struct{ Desired, Live string }
		var expected struct{ Equal bool }
		shared.Words(t, c.Input, &in)
		shared.Words(t, c.Expected, &expected)
		want := manifest(t, manifests.Deployment)
		setWords(t, want, in.Desired)
		is := lived(t, want)
		setWords(t, is, in.Live)
		d, err := manifests.Diff(want, read(t, is, options), options)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(d.Changes) == 0; got != expected.Equal {
			t.Errorf("equal: %t (%+v), want %t", got, d, expected.Equal)
		}
	})
}
