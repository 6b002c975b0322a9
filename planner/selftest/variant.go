package selftest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A variant holds the parts of a bundle, to be changed and put together again.
type variant struct {
	data, resources, schemas []file
	graphql                  any
	hasGraphQL               bool
	commit                   string
}

// A file is a file of a variant, as JSON text.
type file struct {
	path bundle.Path
	raw  []byte
}

func variantOf(b *bundle.Bundle) variant {
	list := func(files []*bundle.File) []file {
		out := make([]file, len(files))
		for i, f := range files {
			out[i] = file{f.Path, f.Raw()}
		}
		return out
	}
	types := b.GraphQL()
	return variant{list(b.Datafiles()), list(b.Resources()), list(b.JSONSchemas()), types, types != nil, b.Commit()}
}

// bundle puts the parts together. The result shares with like what is the same.
func (v variant) bundle(like *bundle.Bundle) (*bundle.Bundle, error) {
	var out []byte
	section := func(before, name string, files []file) {
		out = append(append(append(out, before...), name...), ":{"...)
		for i, f := range files {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(encodeText(out, string(f.path)), ':'), f.raw...)
		}
		out = append(out, '}')
	}
	section("{", `"data"`, v.data)
	section(",", `"resources"`, v.resources)
	section(",", `"schemas"`, v.schemas)
	if v.hasGraphQL {
		out = encode(append(out, `,"graphql":`...), v.graphql)
	}
	out = encodeText(append(out, `,"git_commit":`...), v.commit)
	return bundle.Parse(append(out, '}'), like)
}

// rewritten returns the files, each changed by a function. A file stays as it is if the
// function says so or if its text cannot be written again without loss.
func rewritten(files []file, change func(f file, o *bundle.Object) (any, bool)) []file {
	out := slices.Clone(files)
	for i, f := range files {
		v, err := bundle.ParseValue(f.raw)
		o, isObject := v.(*bundle.Object)
		if err != nil || !isObject {
			continue
		}
		changed, ok := change(f, o)
		if !ok {
			continue
		}
		raw := encode(nil, changed)
		if again, err := bundle.ParseValue(raw); err == nil && bundle.Equal(again, changed) {
			out[i].raw = raw
		}
	}
	return out
}

// encode appends a JSON value with its numbers as they are written and its keys in order.
// Bundles nest to a bounded depth.
func encode(out []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	case bundle.Number:
		return append(out, v...)
	case string:
		return encodeText(out, v)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = encode(out, item)
		}
		return append(out, ']')
	case *bundle.Object:
		out = append(out, '{')
		for i, m := range v.Members() {
			if i > 0 {
				out = append(out, ',')
			}
			out = encode(append(encodeText(out, m.Key), ':'), m.Value)
		}
		return append(out, '}')
	}
	return append(out, "null"...)
}

func encodeText(out []byte, s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil { // a string always encodes
		raw = []byte(`""`)
	}
	return append(out, raw...)
}

// changedFiles lists the datafiles and resources that differ in their bytes.
func changedFiles(base, head *bundle.Bundle) []string {
	b, h := variantOf(base), variantOf(head)
	out := append(differing("data", b.data, h.data), differing("resources", b.resources, h.resources)...)
	slices.Sort(out)
	return out
}

func differing(folder string, base, head []file) []string {
	left := rawByPath(base)
	var out []string
	for _, f := range head {
		if old, ok := left[f.path]; !ok || !bytes.Equal(old, f.raw) {
			out = append(out, folder+string(f.path))
		}
		delete(left, f.path)
	}
	for p := range left {
		out = append(out, folder+string(p))
	}
	return out
}

func rawByPath(files []file) map[bundle.Path][]byte {
	out := make(map[bundle.Path][]byte, len(files))
	for _, f := range files {
		out[f.path] = f.raw
	}
	return out
}

// mix returns head with only some of its changed files; the others are as on base. JSON
// schemas and types are those of head.
func mix(base, head *bundle.Bundle, keep []string) (*bundle.Bundle, error) {
	b, h := variantOf(base), variantOf(head)
	h.data = mixFiles("data", b.data, h.data, keep)
	h.resources = mixFiles("resources", b.resources, h.resources, keep)
	return h.bundle(base)
}

func mixFiles(folder string, base, head []file, keep []string) []file {
	onBase, onHead := rawByPath(base), rawByPath(head)
	var out []file
	for _, f := range base {
		raw, stays := onHead[f.path]
		switch kept := slices.Contains(keep, folder+string(f.path)); {
		case kept && stays:
			out = append(out, file{f.path, raw})
		case !kept:
			out = append(out, f)
		}
	}
	for _, f := range head {
		if _, old := onBase[f.path]; !old && slices.Contains(keep, folder+string(f.path)) {
			out = append(out, f)
		}
	}
	if isSorted(base) && isSorted(head) {
		slices.SortFunc(out, byPath)
	}
	return out
}

func isSorted(files []file) bool { return slices.IsSortedFunc(files, byPath) }

func byPath(a, b file) int { return cmp.Compare(a.path, b.path) }

// renamedPath returns another path for a file, which no file has.
func renamedPath(p bundle.Path, isTaken func(bundle.Path) bool) bundle.Path {
	stem, ext := string(p), ""
	if i := strings.LastIndexByte(stem, '.'); i > strings.LastIndexByte(stem, '/') {
		stem, ext = stem[:i], stem[i:]
	}
	for {
		stem += "-renamed"
		if to := bundle.Path(stem + ext); !isTaken(to) {
			return to
		}
	}
}
