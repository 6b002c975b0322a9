package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// bytesPerFile and bytesPerMention are rather more than real bundles have, to
// make room at once and not too much of it.
const (
	bytesPerFile    = 2500
	bytesPerMention = 130
)

// A reader indexes a bundle while a scanner validates it.
type reader struct {
	scanner
	b        *Bundle
	datafile need
}

// bundle reads the whole document.
func (r *reader) bundle(like *Bundle) error {
	seen := map[string]bool{}
	if r.peek() != '{' {
		return errors.New("not a bundle: it does not begin with '{'")
	}
	err := r.object(func(key []byte) error {
		name := string(key)
		if seen[name] {
			return fmt.Errorf("%q occurs twice", name)
		}
		seen[name] = true
		return r.part(name, like)
	})
	if err != nil {
		return err
	}
	if r.peek(); r.pos < len(r.data) {
		return r.fail("unexpected %q after the bundle", r.at())
	}
	if !seen["data"] {
		return errors.New(`not a bundle: it has no "data"`)
	}
	r.group()
	return nil
}

// part reads the value of one top-level key.
func (r *reader) part(name string, like *Bundle) error {
	switch name {
	case "data":
		return r.section(name, &r.b.datafiles, &like.datafiles, r.datafile)
	case "resources":
		return r.section(name, &r.b.resources, &like.resources, needContent)
	case "schemas":
		return r.section(name, &r.b.schemas, &like.schemas, needNothing)
	case "git_commit":
		return r.string(name, &r.b.commit)
	case "git_commit_timestamp":
		return r.string(name, &r.b.timestamp)
	}
	r.peek()
	start, before := r.pos, len(r.mentions)
	if err := r.value(place{}); err != nil {
		return err
	}
	if name == "graphql" {
		r.b.graphql = r.data[start:r.pos]
	}
	r.mentions = r.mentions[:before]
	return nil
}

func (r *reader) string(name string, to *string) error {
	r.peek()
	start, before := r.pos, len(r.mentions)
	if err := r.value(place{}); err != nil {
		return err
	}
	r.mentions = r.mentions[:before]
	switch v := decode(r.data[start:r.pos]).(type) {
	case string:
		*to = v
	case Number:
		*to = string(v)
	case nil:
	default:
		return fmt.Errorf("%s is not a string", name)
	}
	return nil
}

// A need tells what a file of a section lacks, "" when nothing.
type need func(f *File, has keys) string

// keys are the keys of a resource that it must have.
type keys struct{ path, content, sha256sum bool }

func (k *keys) see(key []byte) {
	switch string(key) {
	case "path":
		k.path = true
	case "content":
		k.content = true
	case "sha256sum":
		k.sha256sum = true
	}
}

func needSchema(f *File, _ keys) string {
	if f.Schema == "" {
		return "has no $schema"
	}
	return ""
}

func needContent(_ *File, has keys) string {
	switch {
	case !has.path:
		return "has no path"
	case !has.content:
		return "has no content"
	case !has.sha256sum:
		return "has no sha256sum"
	}
	return ""
}

func needNothing(*File, keys) string { return "" }

// section reads a map from path to file.
func (r *reader) section(name string, to, like *section, need need) error {
	if r.peek() != '{' {
		if r.pos >= len(r.data) {
			return r.fail("")
		}
		return fmt.Errorf("%q is not an object", name)
	}
	to.files = make([]*File, 0, max(len(like.files), (len(r.data)-r.pos)/bytesPerFile))
	next := 0 // where the twin of the file is expected
	err := r.object(func(key []byte) error {
		f := r.twin(key, like, &next)
		if f == nil {
			var err error
			if f, err = r.file(name, Path(key), need); err != nil {
				return err
			}
		}
		to.files = append(to.files, f)
		r.b.odd = r.b.odd || f.Path == "" || f.Path[0] != '/'
		return nil
	})
	if err != nil {
		return err
	}
	if twice, found := to.index(like); found {
		return fmt.Errorf("%s: %q occurs twice", name, twice)
	}
	return nil
}

// twin returns the file of the other bundle that has the same path and the
// same bytes as what comes next, and steps over those bytes.
func (r *reader) twin(key []byte, like *section, next *int) *File {
	i := *next
	if i >= len(like.files) || string(like.files[i].Path) != string(key) {
		at, ok := like.at[Path(key)]
		if !ok {
			return nil
		}
		i = at
	}
	*next = i + 1
	r.peek()
	// An object's text ends where its brace closes, so a common prefix of that
	// length is the same object.
	if f := like.files[i]; bytes.HasPrefix(r.data[r.pos:], f.raw) {
		r.pos += len(f.raw)
		return f
	}
	return nil
}

// file reads one file.
func (r *reader) file(section string, path Path, need need) (*File, error) {
	if r.peek() != '{' {
		if r.pos >= len(r.data) {
			return nil, r.fail("")
		}
		return nil, fmt.Errorf("%s: %q is not an object", section, path)
	}
	f := &File{Path: path}
	start, before := r.pos, len(r.mentions)
	r.origin = start
	var has keys
	err := r.object(func(key []byte) error {
		has.see(key)
		if string(key) == "$schema" {
			return r.schema(f)
		}
		return r.value(r.member(key, span{}))
	})
	if err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s: %q: %w", section, path, err)
		}
		return nil, err
	}
	if lack := need(f, has); lack != "" {
		return nil, fmt.Errorf("%s: %q %s", section, path, lack)
	}
	f.raw, f.mentions = r.data[start:r.pos:r.pos], slices.Clip(r.mentions[before:])
	return f, nil
}

// schema reads the value of a file's $schema; only a string counts.
func (r *reader) schema(f *File) error {
	r.peek()
	start := r.pos
	before := len(r.mentions)
	if err := r.value(place{}); err != nil {
		return err
	}
	r.mentions = r.mentions[:before]
	s, _ := decode(r.data[start:r.pos]).(string)
	f.Schema = Schema(s)
	return nil
}

// group lists the datafiles of each schema.
func (r *reader) group() {
	r.b.bySchema = map[Schema][]*File{}
	for _, f := range r.b.datafiles.files {
		r.b.bySchema[f.Schema] = append(r.b.bySchema[f.Schema], f)
	}
}
