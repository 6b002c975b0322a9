package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Estimates of the number of bytes per file and per mention. They decide how much room the
// lists get at first.
const (
	bytesPerFile    = 2500
	bytesPerMention = 130
)

// A reader indexes a bundle while its scanner validates the JSON.
type reader struct {
	scanner
	b                   *Bundle
	datafileRequirement requirement
}

// readBundle reads the whole document.
func (r *reader) readBundle(reuse *Bundle) error {
	seen := map[string]bool{}
	if r.peek() != '{' {
		return errors.New("not a bundle: it does not begin with '{'")
	}
	err := r.scanObject(func(key []byte) error {
		name := string(key)
		if seen[name] {
			return fmt.Errorf("%q occurs twice", name)
		}
		seen[name] = true
		return r.readPart(name, reuse)
	})
	if err != nil {
		return err
	}
	if r.peek(); r.pos < len(r.data) {
		return r.fail("unexpected %q after the bundle", r.current())
	}
	if !seen["data"] {
		return errors.New(`not a bundle: it has no "data"`)
	}
	r.b.groupBySchema()
	return nil
}

// readPart reads the value of one top-level key.
func (r *reader) readPart(name string, reuse *Bundle) error {
	switch name {
	case "data":
		return r.readSection(name, &r.b.datafiles, &reuse.datafiles, r.datafileRequirement)
	case "resources":
		return r.readSection(name, &r.b.resources, &reuse.resources, requireContent)
	case "schemas":
		return r.readSection(name, &r.b.schemas, &reuse.schemas, requireNothing)
	case "git_commit":
		return r.readString(name, &r.b.commit)
	case "git_commit_timestamp":
		return r.readString(name, &r.b.timestamp)
	}
	r.peek()
	start, before := r.pos, len(r.mentions)
	if err := r.scanValue(place{}); err != nil {
		return err
	}
	if name == "graphql" {
		r.b.graphql = r.data[start:r.pos]
	}
	r.mentions = r.mentions[:before]
	return nil
}

// readString reads the value of a top-level key that must be a string. It also accepts a
// number or null.
func (r *reader) readString(name string, to *string) error {
	r.peek()
	start, before := r.pos, len(r.mentions)
	if err := r.scanValue(place{}); err != nil {
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

// readSection reads a map from path to file.
func (r *reader) readSection(name string, to, reuse *section, require requirement) error {
	if r.peek() != '{' {
		if r.pos >= len(r.data) {
			return r.endsTooEarly()
		}
		return fmt.Errorf("%q is not an object", name)
	}
	to.files = make([]*File, 0, max(len(reuse.files), (len(r.data)-r.pos)/bytesPerFile))
	expected := 0 // index in reuse of the next file, if both have the same order
	err := r.scanObject(func(key []byte) error {
		f := r.reuseFile(key, reuse, &expected)
		if f == nil {
			var err error
			if f, err = r.readFile(name, Path(key), require); err != nil {
				return err
			}
		}
		to.files = append(to.files, f)
		r.b.hasPathWithoutSlash = r.b.hasPathWithoutSlash || f.Path == "" || f.Path[0] != '/'
		return nil
	})
	if err != nil {
		return err
	}
	if repeated, found := to.buildIndex(reuse); found {
		return fmt.Errorf("%s: %q occurs twice", name, repeated)
	}
	return nil
}

// reuseFile returns the file of the section reuse that has the same path and the same bytes
// as the file at the current position, and skips these bytes. It returns nil if there is
// none. expected is the index at which the file is looked for first.
func (r *reader) reuseFile(key []byte, reuse *section, expected *int) *File {
	i := *expected
	if i >= len(reuse.files) || string(reuse.files[i].Path) != string(key) {
		at, ok := reuse.indexOf[Path(key)]
		if !ok {
			return nil
		}
		i = at
	}
	*expected = i + 1
	r.peek()
	// The text of an object ends with its closing brace. So if the data begins with this text,
	// it holds the same object.
	f, same := reuse.files[i], 0
	f.Peek(func(raw []byte) {
		if bytes.HasPrefix(r.data[r.pos:], raw) {
			same = len(raw)
		}
	})
	if same == 0 {
		return nil
	}
	r.pos += same
	return f
}

// readFile reads one file.
func (r *reader) readFile(section string, path Path, require requirement) (*File, error) {
	if r.peek() != '{' {
		if r.pos >= len(r.data) {
			return nil, r.endsTooEarly()
		}
		return nil, fmt.Errorf("%s: %q is not an object", section, path)
	}
	f := &File{Path: path}
	start, before := r.pos, len(r.mentions)
	r.fileStart = start
	var keys resourceKeys
	err := r.scanObject(func(key []byte) error {
		keys.record(key)
		if string(key) == "$schema" {
			return r.readSchema(f)
		}
		return r.scanValue(r.placeOf(key, span{}))
	})
	if err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s: %q: %w", section, path, err)
		}
		return nil, err
	}
	if missing := require(f, keys); missing != "" {
		return nil, fmt.Errorf("%s: %q %s", section, path, missing)
	}
	f.raw, f.mentions = r.data[start:r.pos], slices.Clip(r.mentions[before:])
	return f, nil
}

// readSchema reads the value of a file's $schema. A value that is not a string is ignored.
func (r *reader) readSchema(f *File) error {
	r.peek()
	start := r.pos
	before := len(r.mentions)
	if err := r.scanValue(place{}); err != nil {
		return err
	}
	r.mentions = r.mentions[:before]
	s, _ := decode(r.data[start:r.pos]).(string)
	f.Schema = SchemaPath(s)
	return nil
}

// groupBySchema builds the list of datafiles for each schema.
func (b *Bundle) groupBySchema() {
	b.bySchema = map[SchemaPath][]*File{}
	for _, f := range b.datafiles.files {
		b.bySchema[f.Schema] = append(b.bySchema[f.Schema], f)
	}
}
