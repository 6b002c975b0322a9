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
		key, value := slowFill(k, values, m), slowFill(v, values, m)
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
		objects, places = append(objects, object), append(places, slowOutermost(t.secrets))
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
				all[j].value = slowText{strings.Join(strings.Split(of.text, "${"+all[i].name+"}"), by.text), of.secret || by.secret && m != "a chain is no secret"}
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
		if value.text == "" && (d.required || d.generate) {
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

// slowFill fills in the references of a text.
func slowFill(text string, values map[string]slowText, m mutant) slowText {
	var out slowText
	for at := 0; at < len(text); {
		found := slowReference.FindStringIndex(text[at:])
		if found == nil {
			out.text += text[at:]
			break
		}
		out.text += text[at : at+found[0]]
		name := text[at+found[0]+2 : at+found[1]-1]
		if value, ok := values[name]; ok {
			out.text += value.text
			out.secret = out.secret || value.secret
		} else if m != "undeclared names are empty" {
			out.text += "${" + name + "}"
		}
		at += found[1]
	}
	if m == "values are processed again" {
		if again := slowReference.FindString(out.text); again != "" && values[again[2:len(again)-1]].text != "" {
			out.text = strings.Replace(out.text, again, values[again[2:len(again)-1]].text, 1)
		}
	}
	return out
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

// A slowTree copies an object and notes the places of secrets.
type slowTree struct {
	values  map[string]slowText
	secrets []string
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
			dec := json.NewDecoder(strings.NewReader(is.text))
			dec.UseNumber()
			if json.Valid([]byte(is.text)) && dec.Decode(&out) == nil {
				return out
			}
			return is.text
		}
		filled := slowFill(v, t.values, t.mutant)
		t.note(filled.secret, at)
		return filled.text
	case []any:
		out := []any{}
		for i, item := range v {
			out = append(out, t.copy(item, at+"/"+strconv.Itoa(i)))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			k := slowFill(key, t.values, t.mutant)
			if found := slowWhole.FindStringSubmatch(key); found != nil {
				k = slowText{key, false}
			}
			t.note(k.secret && t.mutant != "keys are no secrets", at)
			if _, isTwice := out[k.text]; isTwice {
				t.err = errors.New("two keys")
			}
			out[k.text] = t.copy(item, jsonpointer.Append(at, k.text))
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
	if metadata["labels"] == nil {
		metadata["labels"] = map[string]any{}
	}
	own, ok := metadata["labels"].(map[string]any)
	if !ok {
		t.err = errors.New("labels are no map")
		return
	}
	t.note(isSecretKey, "/metadata/labels")
	for k, v := range labels {
		if _, isOwn := own[k]; isOwn && t.mutant == "labels of the object win" {
			continue
		}
		at := jsonpointer.Append("/metadata/labels", k)
		t.secrets = slices.DeleteFunc(t.secrets, func(p string) bool { return p == at || strings.HasPrefix(p, at+"/") })
		t.note(secret[k], at)
		own[k] = v
	}
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
		if !slices.ContainsFunc(places, func(q string) bool { return q != p && strings.HasPrefix(p, q+"/") }) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
