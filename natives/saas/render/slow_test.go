package render

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// This file is a second implementation of rendering, plain and slow, for the law that both agree.
// It follows each value with what it depends on, where the real one renders twice.

// A slowText is a text, and whether a secret is in it.
type slowText struct {
	text   string
	secret bool
}

// A slowWorld is a target with its template, as plain values.
type slowWorld struct {
	layers  [4][]slowParameter // as the layers of a target, parameters before secrets
	useChan bool
	commit  string
	declare []slowDeclared
	labels  map[string]string
	objects []any
	managed []string
}

// A slowParameter is a parameter of a layer. Its value is decoded JSON.
type slowParameter struct {
	name   string
	value  any
	secret bool
}

// A slowDeclared is a parameter that a template declares.
type slowDeclared struct {
	name     string
	value    *string
	required bool
	generate bool
}

// A mutant is a mistake that the second implementation makes on purpose.
type mutant string

// slowRender returns the objects and the places of secrets, or that it is a mistake.
func slowRender(w slowWorld, m mutant) (objects []any, places [][]string, err error) {
	values, err := w.values(m)
	if err != nil {
		return nil, nil, err
	}
	labels := map[string]any{}
	labelSecret := map[string]bool{}
	isSecretKey := false
	for k, v := range w.labels {
		key, value := slowLabel(k, values, m), slowLabel(v, values, m)
		if key.text != k {
			next, nextValue := slowLabel(key.text, values, m), slowLabel(value.text, values, m)
			key, value = slowText{next.text, key.secret || next.secret},
				slowText{nextValue.text, value.secret || nextValue.secret}
		}
		if _, isTwice := labels[key.text]; isTwice {
			return nil, nil, errors.New("two labels")
		}
		labels[key.text], labelSecret[key.text] = value.text, value.secret
		isSecretKey = isSecretKey || key.secret
	}
	seen := map[string]bool{}
	for _, o := range w.objects {
		t := &slowTree{values: values, mutant: m}
		object := t.copy(slowNamespace(o.(map[string]any), m), "").(map[string]any)
		if t.err != nil {
			return nil, nil, t.err
		}
		t.label(object, labels, labelSecret, isSecretKey)
		if t.err != nil {
			return nil, nil, t.err
		}
		kind, version := object["kind"].(string), object["apiVersion"].(string)
		if !slices.Contains(w.managed, kind) && !slices.Contains(w.managed, kind+"."+strings.Split(version, "/")[0]) {
			continue
		}
		metadata := object["metadata"].(map[string]any)
		name := metadata["name"].(string)
		if name == "" || seen[kind+"/"+name] {
			return nil, nil, errors.New("no name, or twice")
		}
		if ns, ok := metadata["namespace"]; ok && ns != "" && ns != "shop-stage" {
			return nil, nil, errors.New("another namespace")
		}
		delete(metadata, "namespace")
		seen[kind+"/"+name] = true
		objects, places = append(objects, object), append(places, slowOutermost(t.places()))
	}
	return objects, places, nil
}

// values returns the values that the template is filled in with.
func (w slowWorld) values(m mutant) (map[string]slowText, error) {
	type entry struct {
		name  string
		value any // a slowText for a text
	}
	var all []entry
	set := func(name string, value any) {
		for i := range all {
			if all[i].name == name {
				all[i].value = value
				return
			}
		}
		all = append(all, entry{name, value})
	}
	layers := slices.Clone(w.layers[:])
	if m == "the environment wins" {
		slices.Reverse(layers)
	}
	for _, layer := range layers {
		for _, isSecret := range []bool{false, true} {
			for _, p := range layer {
				if p.secret != isSecret {
					continue
				}
				var value any
				switch v := p.value.(type) {
				case string:
					value = slowText{v, p.secret}
				case bool:
					value = slowText{strconv.FormatBool(v), false}
				case []any:
					value = slowText{"[" + strings.Join(slowItems(v), ", ") + "]", false}
				default:
					value = v
				}
				set(p.name, value)
			}
		}
	}
	passes := 1
	if m == "two passes" {
		passes = 2
	}
	for range passes {
		for i := range all {
			by, isText := all[i].value.(slowText)
			if !isText {
				continue
			}
			for j := range all {
				of, isText := all[j].value.(slowText)
				if !isText || !strings.Contains(of.text, "${"+all[i].name+"}") {
					continue
				}
				all[j].value = slowText{strings.Join(strings.Split(of.text, "${"+all[i].name+"}"), by.text),
					of.secret || by.secret && m != "a chain is no secret"}
			}
		}
	}
	get := func(name string) (slowText, bool) {
		for _, e := range all {
			if e.name == name {
				return slowPrint(e.value), true
			}
		}
		return slowText{}, false
	}
	if _, ok := get("COMMIT_SHA"); !ok || m == "the commit wins" {
		set("COMMIT_SHA", slowText{w.commit, false})
	}
	var tag any
	for _, e := range all {
		if e.name == "IMAGE_TAG" {
			tag = e.value
		}
	}
	if given, isText := tag.(slowText); tag == nil || tag == json.Number("0") || isText && given.text == "" {
		made := slowText{w.commit[:7], given.secret}
		if w.useChan {
			channel, ok := get("CHANNEL")
			if !ok {
				return nil, errors.New("no channel")
			}
			made = slowText{channel.text + "-" + made.text, made.secret || channel.secret}
		}
		set("IMAGE_TAG", made)
	}
	out := map[string]slowText{}
	for _, d := range w.declare {
		value, ok := get(d.name)
		if !ok && d.value != nil {
			value = slowText{*d.value, false}
		}
		if value.text == "" && (d.required || d.generate && !ok) {
			return nil, errors.New("no value")
		}
		out[d.name] = value
	}
	return out, nil
}

// slowItems returns the items of a list of texts and whole numbers as JSON.
func slowItems(list []any) (out []string) {
	for _, item := range list {
		switch v := item.(type) {
		case string:
			out = append(out, strconv.Quote(v)) // only plain letters are in the worlds
		case json.Number:
			out = append(out, v.String())
		}
	}
	return out
}

// slowPrint returns a value as a template gets it.
func slowPrint(value any) slowText {
	switch v := value.(type) {
	case slowText:
		return v
	case json.Number:
		return slowText{v.String(), false}
	}
	return slowText{"None", false}
}

var (
	slowReference = regexp.MustCompile(`\$\{[a-zA-Z0-9_]+\}`)
	slowWhole     = regexp.MustCompile(`^\$\{\{([a-zA-Z0-9_]+)\}\}$`)
)

// slowFill fills in the references that a text has at first: each value takes the place of the first equal
// reference.
func slowFill(text string, values map[string]slowText, m mutant) slowText {
	out := slowText{text: text}
	for _, reference := range slowReference.FindAllString(text, -1) {
		value, ok := values[reference[2:len(reference)-1]]
		switch {
		case ok && m == "values are filled in at once" && strings.Contains(value.text, "$"):
			out.text, out.secret = strings.ReplaceAll(out.text, reference, "\x00"+value.text), out.secret || value.secret
		case ok:
			out.text, out.secret = strings.Replace(out.text, reference, value.text, 1), out.secret || value.secret
		case m == "undeclared names are empty":
			out.text = strings.Replace(out.text, reference, "", 1)
		}
	}
	return out
}

// slowLabel fills in a label of the template, or its key.
func slowLabel(text string, values map[string]slowText, m mutant) slowText {
	if found := slowWhole.FindStringSubmatch(text); found != nil {
		if value, ok := values[found[1]]; ok {
			return value
		}
	}
	return slowFill(text, values, m)
}

// slowNamespace returns an object without a namespace that is written out.
func slowNamespace(object map[string]any, m mutant) map[string]any {
	var out map[string]any
	raw, _ := json.Marshal(object)
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	_ = dec.Decode(&out)
	metadata := out["metadata"].(map[string]any)
	if ns, ok := metadata["namespace"].(string); ok && !slowReference.MatchString(ns) && m != "namespaces stay" {
		delete(metadata, "namespace")
	}
	return out
}

// A slowNull is a value that became null by double braces.
type slowNull struct{}

// A slowTree copies an object and notes the places of secrets.
type slowTree struct {
	values  map[string]slowText
	secrets []string
	gone    []string // places that a secret made null
	mutant  mutant
	err     error
}

func (t *slowTree) copy(value any, at string) any {
	switch v := value.(type) {
	case string:
		if found := slowWhole.FindStringSubmatch(v); found != nil {
			is, ok := t.values[found[1]]
			if !ok {
				return v
			}
			t.note(is.secret, at)
			var out any
			if json.Unmarshal([]byte(is.text), &out) != nil && json.Unmarshal([]byte(`"`+is.text+`"`), &out) != nil {
				t.err = errors.New("no JSON")
			}
			if out == nil {
				return slowNull{}
			}
			return out
		}
		filled := slowFill(v, t.values, t.mutant)
		t.note(filled.secret, at)
		return filled.text
	case []any:
		out := []any{}
		for i, item := range v {
			made := t.copy(item, at+"/"+strconv.Itoa(i))
			if made == (slowNull{}) {
				t.err = errors.New("null in a list")
			}
			out = append(out, made)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			k := slowFill(key, t.values, t.mutant)
			if found := slowWhole.FindStringSubmatch(key); found != nil {
				if is, ok := t.values[found[1]]; ok {
					made, isText := (&slowTree{values: t.values}).copy(key, "").(string)
					if k = (slowText{made, is.secret}); !isText {
						t.err = errors.New("no text")
					}
				}
			}
			if _, isTwice := out[k.text]; isTwice {
				t.err = errors.New("two keys")
			}
			made := t.copy(item, jsonpointer.Append(at, k.text))
			t.note(k.secret && made != (slowNull{}) && t.mutant != "keys are no secrets", at)
			out[k.text] = made
		}
		for key, item := range out {
			if item == (slowNull{}) {
				delete(out, key)
				// whether it is there depends on a secret
				if child := jsonpointer.Append(at, key); slices.Contains(t.secrets, child) {
					t.gone = append(t.gone, child)
				}
			}
		}
		return out
	}
	return value
}

// label adds the labels of the template.
func (t *slowTree) label(object, labels map[string]any, secret map[string]bool, isSecretKey bool) {
	if len(labels) == 0 {
		return
	}
	metadata := object["metadata"].(map[string]any)
	own, ok := metadata["labels"].(map[string]any)
	isLost := false // whatever the secrets are
	for k, v := range own {
		_, isText := v.(string)
		ok = ok && isText
		isLost = isLost || !isText && !slices.Contains(t.secrets, jsonpointer.Append("/metadata/labels", k))
	}
	if !ok {
		own = map[string]any{}
		metadata["labels"] = own
		t.gone = slices.DeleteFunc(t.gone, func(p string) bool { return strings.HasPrefix(p, "/metadata/labels/") })
		before := len(t.secrets)
		t.secrets = slices.DeleteFunc(t.secrets, func(p string) bool {
			return p == "/metadata/labels" || strings.HasPrefix(p, "/metadata/labels/")
		})
		t.note(len(t.secrets) < before && !isLost, "/metadata/labels")
	}
	t.note(isSecretKey, "/metadata/labels")
	for k, v := range labels {
		if _, isOwn := own[k]; isOwn && t.mutant == "labels of the object win" {
			continue
		}
		at := jsonpointer.Append("/metadata/labels", k)
		t.secrets = slices.DeleteFunc(t.secrets, func(p string) bool { return p == at || strings.HasPrefix(p, at+"/") })
		t.gone = slices.DeleteFunc(t.gone, func(p string) bool { return p == at })
		t.note(secret[k], at)
		own[k] = v
	}
}

// places returns the places of secrets, and those where one decides which fields there are.
func (t *slowTree) places() []string {
	for _, p := range t.gone {
		t.note(true, p[:strings.LastIndex(p, "/")])
	}
	return t.secrets
}

func (t *slowTree) note(isSecret bool, at string) {
	if isSecret {
		t.secrets = append(t.secrets, at)
	}
}

// slowOutermost returns sorted places without those below another.
func slowOutermost(places []string) (out []string) {
	sort.Strings(places)
	for _, p := range places {
		if !slices.ContainsFunc(places, func(q string) bool { return q != p && strings.HasPrefix(p, q+"/") }) &&
			!slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
