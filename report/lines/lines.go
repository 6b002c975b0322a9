package lines

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/settings"
)

// A Finder finds the lines of a change in the files of head. Everything that it lacks
// makes it less precise: without the files every line is 1, and without the bundles a
// list item may be found where it stood before the change. It is for one goroutine.
type Finder struct {
	files      Files
	base, head *bundle.Bundle // nil: not at hand

	texts   map[bundle.Path]*validator.Text // datafiles of head; nil: cannot be used
	changes map[bundle.Path]bundle.Change
	places  map[bundle.Path]map[string]string // by path: where a changed field is in head
	names   map[report.Origin]map[string]bool // by place: names that may be those of shards
}

// Files are the files of head.
type Files struct {
	Checkout settings.Checkout // where the parts of a bundle are in the repository
	// Read returns the text of a file; nil: the files are not at hand.
	Read func(s validator.Section, p bundle.Path) ([]byte, error)
}

// New returns a finder for the change from base to head. The bundles are nil when they
// are not at hand.
func New(files Files, base, head *bundle.Bundle) *Finder {
	f := &Finder{
		files: files, base: base, head: head,
		texts: map[bundle.Path]*validator.Text{}, changes: map[bundle.Path]bundle.Change{},
		places: map[bundle.Path]map[string]string{}, names: map[report.Origin]map[string]bool{},
	}
	if base != nil && head != nil {
		for _, c := range bundle.Compare(base, head).Datafiles {
			f.changes[c.Path] = c
		}
	}
	return f
}

// Locate returns the file and the line of a changed place in head. In a datafile that is
// the line of the changed field, or of its nearest parent when head removes the field; in
// a resource it is the first line that differs.
func (f *Finder) Locate(o report.Origin) report.Location {
	section := validator.Section(o.Section)
	dir := f.folder(section)
	if dir == "" {
		return report.Location{}
	}
	at := report.Location{Path: path.Join(dir, o.Path), Line: 1}
	switch section {
	case validator.Data:
		if text := f.text(bundle.Path(o.Path)); text != nil {
			at.Line, _ = text.At(f.pointer(o))
		}
	case validator.Resources:
		at.Line = f.firstChanged(bundle.Path(o.Path))
	}
	return at
}

// folder returns the folder of a section in the repository, "" if it is not there.
func (f *Finder) folder(section validator.Section) string {
	in := f.files.Checkout
	dir := map[validator.Section]string{
		validator.Data: in.Data, validator.Resources: in.Resources, validator.Schemas: in.Schemas,
		validator.GraphQL: in.GraphQL,
	}[section]
	if dir == "" || settings.IsOutside(dir) || in.FromBundle() && section != validator.Data &&
		section != validator.Resources {
		return ""
	}
	return dir
}

// Find returns the file and the line of a place in head, to which a JSON pointer leads. If the
// file has no such place, it is the place of the nearest parent.
func (f *Finder) Find(file, pointer string) report.Location {
	p := bundle.Path(file)
	section := validator.Data
	if f.isResource(p) {
		section = validator.Resources
	}
	dir := f.folder(section)
	if dir == "" {
		return report.Location{}
	}
	at := report.Location{Path: path.Join(dir, file), Line: 1}
	if text := f.text(p); section == validator.Data && text != nil {
		at.Line, _ = text.At(pointer)
	}
	return at
}

// isResource reports whether a path is one of a resource and not of a datafile.
func (f *Finder) isResource(p bundle.Path) bool {
	for _, b := range []*bundle.Bundle{f.head, f.base} {
		if b == nil {
			continue
		}
		if _, isData := b.Datafile(p); isData {
			return false
		}
		if _, isResource := b.Resource(p); isResource {
			return true
		}
	}
	return false
}

// text returns the text of a datafile of head, nil when it cannot be read, or when it is
// not the text that the bundle was made from: its lines would be wrong.
func (f *Finder) text(p bundle.Path) *validator.Text {
	if text, known := f.texts[p]; known || f.files.Read == nil {
		return text
	}
	var text *validator.Text
	if raw, err := f.files.Read(validator.Data, p); err == nil && f.isOfBundle(p, raw) {
		text, _ = validator.ParseText(raw)
	}
	f.texts[p] = text
	return text
}

// isOfBundle reports whether a text is the one that head's bundle was made from, as far as
// is known.
func (f *Finder) isOfBundle(p bundle.Path, raw []byte) bool {
	if f.head == nil {
		return true
	}
	file, ok := f.head.Datafile(p)
	if !ok {
		return false
	}
	sum := file.Object().String("$file_sha256sum")
	return sum == "" || sum == fmt.Sprintf("%x", sha256.Sum256(raw))
}

// pointer returns where a changed field is in head; list items may have moved.
func (f *Finder) pointer(o report.Origin) string {
	p := bundle.Path(o.Path)
	c, ok := f.changes[p]
	if !ok {
		return o.Pointer
	}
	places, known := f.places[p]
	if !known {
		places = c.Places()
		f.places[p] = places
	}
	if at, ok := places[o.Pointer]; ok {
		return at
	}
	return o.Pointer
}

// firstChanged returns the number of the first line of a resource that differs from base.
func (f *Finder) firstChanged(p bundle.Path) int {
	if f.base == nil || f.head == nil {
		return 1
	}
	old, inBase := f.base.Resource(p)
	now, inHead := f.head.Resource(p)
	if !inBase || !inHead {
		return 1
	}
	a := strings.Split(old.Decode().String("content"), "\n")
	b := strings.Split(strings.TrimSuffix(now.Decode().String("content"), "\n"), "\n")
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			return i + 1
		}
	}
	return len(b)
}

// maxNames bounds how many values are looked at to find the name of a shard.
const maxNames = 10_000

// Concerns reports whether a changed place is about a shard: whether the shard's name
// stands on the way to the changed field, or at the top of a file that is referred to
// there. For example, /groups/0/account is about the shard "prod" when it refers to a
// file with "name: prod".
func (f *Finder) Concerns(o report.Origin, shard string) bool {
	names, known := f.names[o]
	if !known {
		names = map[string]bool{}
		f.names[o] = names
		if f.base != nil && f.head != nil && o.Section == string(validator.Data) {
			f.collectNames(o, names)
		}
	}
	return names[shard]
}

// collectNames adds the texts that stand on the way to a place, and at the place.
func (f *Finder) collectNames(o report.Origin, names map[string]bool) {
	b, pointer := f.head, f.pointer(o)
	file, ok := b.Datafile(bundle.Path(o.Path))
	if !ok {
		b, pointer = f.base, o.Pointer
		if file, ok = b.Datafile(bundle.Path(o.Path)); !ok {
			return
		}
	}
	left := maxNames
	v := any(file.Object())
	addNames(b, v, names, &left)
	for _, part := range jsonpointer.Split(pointer) {
		switch x := v.(type) {
		case *bundle.Object:
			v, _ = x.Get(part)
		case []any:
			if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(x) {
				v = x[i]
			}
		}
		addNames(b, v, names, &left)
	}
}

// addNames adds a text, or the texts of one object and those at the top of the files that
// the object refers to. It lowers left by the number of values that it looks at.
func addNames(b *bundle.Bundle, v any, names map[string]bool, left *int) {
	values := []any{v}
	if o, ok := v.(*bundle.Object); ok {
		for _, m := range o.Members() {
			values = append(values, m.Value)
		}
	}
	for _, v := range values {
		if *left--; *left < 0 {
			return
		}
		switch v := v.(type) {
		case string:
			names[v] = true
		case *bundle.Object:
			to, ok := bundle.Ref(v)
			if !ok {
				continue
			}
			f, ok := b.Datafile(to)
			if !ok {
				continue
			}
			for _, m := range f.Object().Members() {
				if s, ok := m.Value.(string); ok {
					names[s] = true
				}
				*left--
			}
		}
	}
}
