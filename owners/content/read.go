package content

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// Text returns the content of a resource: a mapping if its text is one, else the text.
func Text(text string) any {
	if text == "" {
		return nil
	}
	if v, ok := bundleValue(text); ok {
		return v
	}
	if v, ok := bundler.ReadMapping([]byte(text)); ok {
		return v
	}
	return text
}

// bundleValue reads a JSON object.
func bundleValue(text string) (map[string]any, bool) {
	if trimmed := bytes.TrimSpace([]byte(text)); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	v, err := bundle.ParseValue([]byte(text))
	if err != nil {
		return nil, false
	}
	out, isObject := Plain(v).(map[string]any)
	return out, isObject
}

// Plain returns a value of a bundle as one of maps and lists.
func Plain(v any) any {
	switch v := v.(type) {
	case *bundle.Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.Members() {
			out[m.Key] = Plain(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Plain(item)
		}
		return out
	case bundle.Number:
		return json.Number(v)
	}
	return v
}

// Bundles are the two bundles of a change.
type Bundles struct{ Base, Head *bundle.Bundle }

// Sides returns the content of a file in base and in head.
func (b Bundles) Sides(r Ref) (base, head any) {
	return ofFile(find(b.Base, r), r.Kind), ofFile(find(b.Head, r), r.Kind)
}

func find(b *bundle.Bundle, r Ref) *bundle.File {
	var f *bundle.File
	if r.Kind == Resource {
		f, _ = b.Resource(bundle.Path(r.Path))
	} else {
		f, _ = b.Datafile(bundle.Path(r.Path))
	}
	return f
}

// ofFile returns the content of a file, nil for nil.
func ofFile(f *bundle.File, kind Kind) any {
	if f == nil {
		return nil
	}
	o := f.Decode()
	if kind == Resource {
		return Text(o.String("content"))
	}
	out := Plain(o).(map[string]any)
	delete(out, "$file_sha256sum")
	delete(out, "$schema")
	return out
}

// sum returns the sum that the bundler gave a file.
func sum(f *bundle.File, kind Kind) string {
	if f == nil {
		return ""
	}
	key := "$file_sha256sum"
	if kind == Resource {
		key = "sha256sum"
	}
	return string(kind) + f.Decode().String(key)
}

// Changes returns the files that differ, datafiles first, each in the order of paths.
func (b Bundles) Changes() []*Change {
	d := bundle.Compare(b.Base, b.Head)
	var l list
	for _, c := range d.Datafiles {
		if c.Old != nil && c.New != nil && c.Old.Schema != c.New.Schema {
			l.add(Datafile, c.Old, nil)
			l.add(Datafile, nil, c.New)
			continue
		}
		l.add(Datafile, c.Old, c.New)
	}
	for _, c := range d.Resources {
		l.add(Resource, c.Old, c.New)
	}
	Moves(l.changes, l.sums)
	return l.changes
}

// A list collects changes, with the sums of their files.
type list struct {
	changes []*Change
	sums    []string
}

func (l *list) add(kind Kind, old, new *bundle.File) {
	f := present(old, new)
	c := &Change{Ref: Ref{kind, string(f.Path), string(schemaOf(old, new))}, Old: ofFile(old, kind),
		New: ofFile(new, kind)}
	c.OldSum, c.NewSum = sum(old, kind), sum(new, kind)
	c.Mentions = mentions(old, new, kind)
	c.Compare(c.OldSum != c.NewSum)
	if len(c.Differences) == 0 {
		return // only what the bundler adds differs
	}
	l.changes, l.sums = append(l.changes, c), append(l.sums, sum(f, kind))
}

// present returns the file of head, or of base if head has none.
func present(old, new *bundle.File) *bundle.File {
	if new != nil {
		return new
	}
	return old
}

// schemaOf returns the schema of a file: that of head, if it has one.
func schemaOf(old, new *bundle.File) bundle.SchemaPath {
	if new != nil && new.Schema != "" || old == nil {
		return new.Schema
	}
	return old.Schema
}

// mentions returns where datafiles mention a resource on either side.
func mentions(old, new *bundle.File, kind Kind) []Mention {
	if kind != Resource {
		return nil
	}
	var out []Mention
	for _, f := range []*bundle.File{old, new} {
		if f == nil {
			continue
		}
		list, _ := f.Decode().Get("backrefs")
		items, _ := list.([]any)
		for _, item := range items {
			o, isObject := item.(*bundle.Object)
			if !isObject {
				continue
			}
			m := Mention{Ref{Datafile, o.String("path"), o.String("datafileSchema")}, o.String("jsonpath")}
			if m.Path != "" && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}
