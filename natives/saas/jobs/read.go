package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A number is a number as Python writes it.
type number string

// maxNodes is how many values definitions have, those that stand for another text counted each time.
const maxNodes = 1_000_000

// read returns the definitions of all files, in their order. Texts are read together, because one
// may name a part of another one.
func (e *expansion) read(configs []Config) []item {
	var texts []Config
	var out []item
	size := 0
	for _, c := range configs {
		if size += len(c.Text) + len(c.JSON); size > maxText {
			e.fail(c.File, "the definitions are longer than %d bytes", maxText)
			return nil
		}
		if c.JSON == nil {
			texts = append(texts, c)
			continue
		}
		v, err := decode(c.JSON)
		list, isList := v.([]any)
		if err != nil || !isList {
			e.fail(c.File, "its config is no list of definitions")
			continue
		}
		for _, v := range list {
			out = e.define(out, c.File, v, c)
		}
	}
	return append(out, e.readTexts(texts)...)
}

// decode decodes JSON with numbers as Python writes them.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return withNumbers(v), err
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return asNumber(string(v))
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withNumbers(v[name])
		}
	}
	return v
}

// asNumber returns a number if Python writes it as it stands there.
func asNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return number(text)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.Contains(text, ".") &&
		strconv.FormatFloat(f, 'f', -1, 64) == text {
		return number(text)
	}
	return unknown("the number " + text + " is written in another way")
}

// define adds the definition that an entry holds.
func (e *expansion) define(to []item, file string, entry any, of Config) []item {
	object, _ := entry.(map[string]any)
	if len(object) != 1 {
		if !isAnchor(object) {
			e.fail(file, "an entry of its definitions cannot be read")
		}
		return to
	}
	for kind, v := range object {
		fields, isObject := v.(map[string]any)
		name, isText := fields["name"].(string)
		if n, isNumber := fields["name"].(number); isNumber {
			name, isText = string(n), true
		}
		switch kind {
		case "job", "job-template", "job-group", "project", "defaults":
			if !isObject || !isText {
				e.fail(file, "a definition %s has no name that can be read", kind)
				continue
			}
		}
		if kind == "project" && of.JSON != nil && of.Type == "jobs" {
			fields = merged(fields, map[string]any{"app_name": of.App})
		}
		to = append(to, item{file, kind, name, fields})
	}
	return to
}

// isAnchor reports whether an entry holds parts for others alone.
func isAnchor(object map[string]any) bool {
	for _, kind := range []string{"job", "job-template", "job-group", "project", "defaults"} {
		if _, isThere := object[kind]; isThere {
			return false
		}
	}
	return object != nil
}

// readTexts returns the definitions of texts.
func (e *expansion) readTexts(texts []Config) []item {
	var all strings.Builder
	var ends []int // lines
	for _, c := range texts {
		all.WriteString(c.Text + "\n")
		ends = append(ends, strings.Count(all.String(), "\n"))
	}
	root, err := parse(all.String())
	if err != nil {
		// The first text with which all before it cannot be read is the one to look at.
		at := sort.Search(len(texts)-1, func(i int) bool {
			_, err := parse(strings.Join(strings.SplitAfter(all.String(), "\n")[:ends[i]], ""))
			return err != nil
		})
		if _, own := parse(texts[at].Text); own != nil {
			err = own // with lines of this file
		}
		e.fail(texts[at].File, "its definitions cannot be read: %.200v", err)
		return nil
	}
	r := yamlReader{left: maxNodes}
	var out []item
	for _, entry := range root {
		at := sort.Search(len(ends)-1, func(i int) bool { return entry.Line <= ends[i] })
		out = e.define(out, texts[at].File, r.value(entry, 0), texts[at])
		if r.left < 0 {
			e.fail(texts[at].File, "the definitions have more than %d values", maxNodes)
			return nil
		}
	}
	return out
}

// parse reads a text that holds one list.
func parse(text string) ([]*yaml.Node, error) {
	var doc yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one document: %w", errors.Join(err))
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.SequenceNode {
		return nil, errors.New("it is no list of definitions")
	}
	return root.Content, nil
}

// A yamlReader makes values of nodes, and counts them.
type yamlReader struct{ left int }

// maxYAML is how deep values are nested.
const maxYAML = 100

func (r *yamlReader) value(n *yaml.Node, depth int) any {
	if r.left--; r.left < 0 || depth > maxYAML {
		return unknown("the definitions are too large or nested too deeply")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		if n.ShortTag() != "!!seq" {
			return unknown("the tag " + n.Tag)
		}
		out := []any{}
		for _, of := range n.Content {
			out = append(out, r.value(of, depth+1))
		}
		return out
	case yaml.MappingNode:
		if n.ShortTag() != "!!map" {
			return unknown("the tag " + n.Tag)
		}
		return r.object(n, depth)
	case yaml.ScalarNode:
		return scalar(n)
	}
	return unknown("a part of the text cannot be read")
}

// object returns the fields of a mapping. Those that it takes from another one lose.
func (r *yamlReader) object(n *yaml.Node, depth int) any {
	own, taken := map[string]any{}, map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], r.value(n.Content[i+1], depth+1)
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return unknown("a name is no text")
		}
		if key.ShortTag() != "!!merge" {
			own[key.Value] = v
			continue
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, of := range list {
			object, isObject := of.(map[string]any)
			if !isObject {
				return unknown("<< names no object")
			}
			taken = merged(object, taken)
		}
	}
	return merged(taken, own)
}

// scalar returns the value of a scalar as Python reads it.
func scalar(n *yaml.Node) any {
	isPlain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|
		yaml.TaggedStyle) == 0
	switch n.ShortTag() {
	case "!!str":
		switch word := strings.ToLower(n.Value); {
		case isPlain && (word == "yes" || word == "on"):
			return true
		case isPlain && (word == "no" || word == "off"):
			return false
		case isPlain && strings.Trim(n.Value, "+-0123456789:_") == "" && strings.ContainsAny(n.Value, "0123456789"):
			return unknown("the number " + n.Value + " is written in another way")
		}
		return n.Value
	case "!!timestamp":
		return n.Value
	case "!!int", "!!float":
		return asNumber(n.Value)
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!null":
		return nil
	}
	return unknown("the tag " + n.Tag)
}
