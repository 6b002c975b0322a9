package source

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/validator"
)

// Lines finds the places of a change in the files that both bundles were made
// from. Whatever is missing makes it less precise: without the checkout of head
// every line is 1, and without the bundles list items may have moved. It is for
// one goroutine.
type Lines struct {
	Head       Texts          // the files of head; zero: not at hand
	Base, With *bundle.Bundle // both bundles; nil: not at hand

	at      integration.Checkout
	texts   map[bundle.Path]*validator.Text // of datafiles; nil: cannot be read
	changes map[bundle.Path]bundle.Change
	places  map[bundle.Path]map[string]string
	names   map[report.Origin]map[string]bool
}

// Lines finds lines in what a reference to a checkout names. Without one, and
// without bundles, it knows the folders only; so it does when there is an error.
func (o Opener) Lines(ctx context.Context, head string, base, with *bundle.Bundle) (*Lines, error) {
	l := &Lines{
		Base: base, With: with, at: o.Settings.Checkout(), texts: map[bundle.Path]*validator.Text{}, changes: map[bundle.Path]bundle.Change{},
		places: map[bundle.Path]map[string]string{}, names: map[report.Origin]map[string]bool{},
	}
	if base != nil && with != nil {
		d := bundle.Compare(base, with)
		for _, c := range d.Datafiles {
			l.changes[c.Path] = c
		}
	}
	if !IsCheckout(head) {
		return l, nil
	}
	if dir, isFolder := strings.CutPrefix(head, "dir:"); isFolder {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(l.at.Data))); err != nil || !info.IsDir() {
			return l, cli.Invalid(fmt.Errorf("reference %q: there is no folder %s in it: name a checkout, or the settings that tell where its parts are", head, l.at.Data))
		}
	}
	var err error
	l.Head, err = o.Texts(ctx, head)
	return l, err
}

// Locate returns the line of a place in head: of the changed field, or of the
// nearest parent that is still there; of a resource the first line that differs.
func (l *Lines) Locate(o report.Origin) report.Location {
	dirs := map[validator.Section]string{
		validator.Data: l.at.Data, validator.Resources: l.at.Resources, validator.Schemas: l.at.Schemas, validator.GraphQL: l.at.GraphQL,
	}
	section := validator.Section(o.Section)
	dir := dirs[section]
	if dir == "" || integration.IsOutside(dir) || l.at.FromBundle() && section != validator.Data && section != validator.Resources {
		return report.Location{}
	}
	at := report.Location{Path: path.Join(dir, o.Path), Line: 1}
	switch section {
	case validator.Data:
		if text := l.text(bundle.Path(o.Path)); text != nil {
			at.Line, _ = text.At(l.pointer(o))
		}
	case validator.Resources:
		at.Line = l.firstChanged(bundle.Path(o.Path))
	}
	return at
}

// text returns a datafile of head. One that is not as the bundle has it is none,
// since its lines are others.
func (l *Lines) text(p bundle.Path) *validator.Text {
	if text, known := l.texts[p]; known || l.Head.Read == nil {
		return text
	}
	var text *validator.Text
	if raw, err := l.Head.Read(validator.Data, p); err == nil && l.same(p, raw) {
		text, _ = validator.ParseText(raw)
	}
	l.texts[p] = text
	return text
}

func (l *Lines) same(p bundle.Path, raw []byte) bool {
	if l.With == nil {
		return true
	}
	f, ok := l.With.Datafile(p)
	if !ok {
		return false
	}
	sum := f.Object().String("$file_sha256sum")
	return sum == "" || sum == fmt.Sprintf("%x", sha256.Sum256(raw))
}

// pointer returns the pointer of a changed field in head.
func (l *Lines) pointer(o report.Origin) string {
	p := bundle.Path(o.Path)
	c, ok := l.changes[p]
	if !ok {
		return o.Pointer
	}
	places, known := l.places[p]
	if !known {
		places = c.Places()
		l.places[p] = places
	}
	if at, ok := places[o.Pointer]; ok {
		return at
	}
	return o.Pointer
}

// firstChanged returns the first line of a resource of head that base does not
// have there.
func (l *Lines) firstChanged(p bundle.Path) int {
	if l.Base == nil || l.With == nil {
		return 1
	}
	old, inBase := l.Base.Resource(p)
	now, inHead := l.With.Resource(p)
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

// maxNames bounds how many values are looked at to find a shard's name.
const maxNames = 10_000

// Concerns tells whether a file has the name of a shard on the way to a changed
// field, or refers there to a file that has it at its top.
func (l *Lines) Concerns(o report.Origin, shard string) bool {
	names, known := l.names[o]
	if !known {
		names = map[string]bool{}
		l.names[o] = names
		if l.Base != nil && l.With != nil && o.Section == string(validator.Data) {
			l.collect(o, names)
		}
	}
	return names[shard]
}

// collect gathers the names on the way to a place, those of the place included.
func (l *Lines) collect(o report.Origin, names map[string]bool) {
	b, pointer := l.With, l.pointer(o)
	f, ok := b.Datafile(bundle.Path(o.Path))
	if !ok {
		b, pointer = l.Base, o.Pointer
		if f, ok = b.Datafile(bundle.Path(o.Path)); !ok {
			return
		}
	}
	left := maxNames
	v := any(f.Object())
	namesOf(b, v, names, &left)
	for _, part := range jsonpointer.Split(pointer) {
		switch x := v.(type) {
		case *bundle.Object:
			v, _ = x.Get(part)
		case []any:
			if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(x) {
				v = x[i]
			}
		}
		namesOf(b, v, names, &left)
	}
}

// namesOf gathers the texts of one object, or of a list's items, and those at
// the top of the files that it refers to.
func namesOf(b *bundle.Bundle, v any, names map[string]bool, left *int) {
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
