package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

type object = map[string]any

// A book is the documents of a folder.
type book struct {
	dir     string
	docs    map[string]object
	derived map[string][]ref // schemas that name another one in their allOf, by its place
}

// A ref is a place in a document.
type ref struct {
	file string
	at   string // JSON pointer
	of   object
}

// openBook reads all documents of a folder, but examples.
func openBook(dir string) (*book, error) {
	b := &book{dir: dir, docs: map[string]object{}, derived: map[string][]ref{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".json" || strings.Contains(name, "/examples/") {
			return err
		}
		raw, err := os.ReadFile(path.Join(dir, name)) //nolint:gosec // a document that was asked for
		if err != nil {
			return err
		}
		var doc object
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(raw), "\ufeff")), &doc); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.docs[name] = doc
		return nil
	})
	for _, name := range b.names() {
		definitions, _ := b.docs[name]["definitions"].(object)
		for _, title := range slices.Sorted(maps.Keys(definitions)) {
			one := ref{name, "/definitions/" + escape(title), asObject(definitions[title])}
			for _, part := range list(one.of["allOf"]) {
				if base, ok := b.follow(ref{name, "", asObject(part)}); ok && asObject(part)["$ref"] != nil {
					b.derived[base.file+"#"+base.at] = append(b.derived[base.file+"#"+base.at], one)
				}
			}
		}
	}
	return b, err
}

func (b *book) names() []string { return slices.Sorted(maps.Keys(b.docs)) }

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// follow returns where a reference leads, and whether it leads anywhere.
func (b *book) follow(r ref) (ref, bool) {
	for range 20 {
		to, isRef := r.of["$ref"].(string)
		if !isRef {
			return r, r.of != nil
		}
		file, at, _ := strings.Cut(to, "#")
		name := r.file
		if file != "" {
			name = path.Join(path.Dir(r.file), file)
		}
		var v any = b.docs[name]
		for part := range strings.SplitSeq(strings.Trim(at, "/"), "/") {
			part = strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.ReplaceAll(part, "%20", " "))
			if part != "" {
				v = asObject(v)[part]
			}
		}
		r = ref{name, at, asObject(v)}
	}
	return ref{}, false
}

// layers returns a schema with all that takes part in it, the nearest first.
func (b *book) layers(r ref, depth int) []ref {
	if r.of == nil || depth > 12 {
		return nil
	}
	out := []ref{r}
	if r.of["$ref"] != nil {
		if end, ok := b.follow(r); ok {
			out = append(out, b.layers(end, depth+1)...)
		}
	}
	for _, part := range list(r.of["allOf"]) {
		out = append(out, b.layers(ref{r.file, "", asObject(part)}, depth+1)...)
	}
	return out
}

// A schema is the layers of one.
type schema struct {
	*book
	all []ref
}

func (b *book) schema(r ref) schema { return schema{b, b.layers(r, 0)} }

// is reports whether there is a schema.
func (s schema) is() bool { return len(s.all) > 0 }

// get returns the value of a keyword, of the nearest layer that has it.
func (s schema) get(name string) any {
	for _, l := range s.all {
		if v, ok := l.of[name]; ok {
			return v
		}
	}
	return nil
}

// property returns the schema of a member.
func (s schema) property(name string) schema {
	for _, l := range s.all {
		if v, ok := asObject(l.of["properties"])[name]; ok {
			return s.schema(ref{l.file, "", asObject(v)})
		}
	}
	return schema{s.book, nil}
}

// names returns the names of all members.
func (s schema) names() []string {
	found := map[string]bool{}
	for _, l := range s.all {
		for name := range asObject(l.of["properties"]) {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// part returns the schema of the items of a list, or of the values of a map.
func (s schema) part(keyword string) schema {
	for _, l := range s.all {
		if v, ok := l.of[keyword].(object); ok {
			return s.schema(ref{l.file, "", v})
		}
	}
	return schema{s.book, nil}
}

// required reports whether an object must have a member.
func (s schema) required(name string) bool {
	return slices.ContainsFunc(s.all, func(l ref) bool { return slices.Contains(list(l.of["required"]), any(name)) })
}

// kind returns the type of a value.
func (s schema) kind() string {
	if k := text(s.get("type")); k != "" {
		return k
	}
	switch {
	case len(s.names()) > 0, s.part("additionalProperties").is():
		return "object"
	case s.part("items").is():
		return "array"
	}
	return ""
}

// closed reports whether a schema says which members there are.
func (s schema) closed() bool {
	return len(s.names()) > 0 || s.part("items").is() || s.part("additionalProperties").is()
}

// id names the definition that a schema stands for, "" if it has no name.
func (s schema) id() string {
	for _, l := range s.all {
		if strings.HasPrefix(l.at, "/definitions/") {
			return l.file + "#" + l.at
		}
	}
	return ""
}
