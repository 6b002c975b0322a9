package server

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// answerDiff answers GET /diff: the differences between two bundles, or between two
// versions of one file. The parts are those of the path after /diff. The last part is the
// path of a file and may contain slashes.
func (h *handler) answerDiff(r *http.Request, parts []string, x *Exchange) *reply {
	names := make([]string, 4) // base, head, kind of file, path of file
	for i, part := range parts {
		names[i], _ = unescapePart(part)
	}
	var sides [2]*bundle.Bundle
	for i, sha := range names[:2] {
		found := h.find(sha)
		if found == nil {
			return noBundleReply(sha)
		}
		sides[i] = found.Bundle
	}
	x.SHA256 = names[1]
	path := bundle.Path("/" + names[3])
	switch names[2] {
	case "":
		return h.limiter.run(r.Context(), func(context.Context) *reply { return bundlesReply(sides[0], sides[1]) })
	case "datafile":
		return fileReply(describeDatafile(changeOf(sides, path, (*bundle.Bundle).Datafile)), "datafile")
	case "resourcefile":
		return fileReply(describeResource(changeOf(sides, path, (*bundle.Bundle).Resource)), "resourcefile")
	}
	return newReply(http.StatusBadRequest, typeHTML, "unknown filetype "+escapeHTML(names[2]))
}

// A change is a file on both sides. One side is nil if the file was added or removed.
type change struct {
	path     bundle.Path
	old, now *bundle.File
}

// changeOf returns the file at a path on both sides.
func changeOf(sides [2]*bundle.Bundle, path bundle.Path, get func(*bundle.Bundle,
	bundle.Path) (*bundle.File, bool)) change {
	old, _ := get(sides[0], path)
	now, _ := get(sides[1], path)
	return change{path, old, now}
}

// fileReply answers with the description of one file, or 404 if o is nil.
func fileReply(o *bundle.Object, kind string) *reply {
	if o == nil {
		return newReply(http.StatusNotFound, typeHTML, kind+" not found")
	}
	return newReply(http.StatusOK, typeJSON, string(gql.AppendJSON(nil, o)))
}

// describeDatafile returns the description of a datafile in an answer, nil if neither side
// has the file.
func describeDatafile(c change) *bundle.Object {
	last := c.now
	if last == nil {
		last = c.old
	}
	if last == nil {
		return nil
	}
	return c.addSides(bundle.NewObject(bundle.Member{Key: "datafilepath", Value: string(c.path)},
		bundle.Member{Key: "datafileschema", Value: string(last.Schema)}))
}

// describeResource returns the description of a resource in an answer, nil if neither side
// has the file.
func describeResource(c change) *bundle.Object {
	if c.old == nil && c.now == nil {
		return nil
	}
	return c.addSides(bundle.NewObject(bundle.Member{Key: "resourcepath", Value: string(c.path)}))
}

// addSides adds the old and the new content of the file to its description o.
func (c change) addSides(o *bundle.Object) *bundle.Object {
	if c.old != nil {
		o.Set("old", c.old.Object())
	}
	if c.now != nil {
		o.Set("new", c.now.Object())
	}
	return o
}

// bundlesReply answers with all files that differ between two bundles. It writes the files
// one after another, since all together may be too large for the memory.
func bundlesReply(base, head *bundle.Bundle) *reply {
	datafiles := changedFiles(base.Datafiles(), head.Datafiles(), base.Datafile, head.Datafile, equalDatafiles)
	resources := changedFiles(base.Resources(), head.Resources(), base.Resource, head.Resource, equalResources)
	return &reply{status: http.StatusOK, contentType: typeJSON, hasETag: true, stream: func(w io.Writer) error {
		out := []byte(`{"datafiles":{`)
		flush := func() error {
			_, err := w.Write(out)
			out = out[:0]
			return err
		}
		for i, c := range datafiles {
			if out = appendChange(out, i, c, describeDatafile(c)); len(out) >= flushSize {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		out = append(out, `},"resources":{`...)
		for i, c := range resources {
			if out = appendChange(out, i, c, describeResource(c)); len(out) >= flushSize {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		out = append(out, "}}"...)
		return flush()
	}}
}

// flushSize is the number of bytes of an answer that are collected before they are sent.
const flushSize = 64 << 10

// appendChange appends the i-th member of an object of changes.
func appendChange(out []byte, i int, c change, o *bundle.Object) []byte {
	if i > 0 {
		out = append(out, ',')
	}
	out = append(gql.AppendJSON(out, string(c.path)), ':')
	return gql.AppendJSON(out, o)
}

// A fileLookup returns the file of a bundle with a path.
type fileLookup = func(bundle.Path) (*bundle.File, bool)

// changedFiles returns the files that differ: first the files of base in their order, then
// the files that only head has.
func changedFiles(base, head []*bundle.File, inBase, inHead fileLookup, same func(a, b *bundle.File) bool) []change {
	var out []change
	for _, old := range base {
		now, ok := inHead(old.Path)
		if !ok {
			out = append(out, change{old.Path, old, nil})
		} else if now != old && !same(old, now) {
			out = append(out, change{old.Path, old, now})
		}
	}
	for _, now := range head {
		if _, ok := inBase(now.Path); !ok {
			out = append(out, change{now.Path, nil, now})
		}
	}
	return out
}

// equalDatafiles reports whether two datafiles have the same content.
func equalDatafiles(a, b *bundle.File) bool {
	return bytes.Equal(a.Raw(), b.Raw()) || equalValues(a.Object(), b.Object())
}

// equalResources reports whether two resources have the same sha256sum. qontract-server
// compares nothing else either.
func equalResources(a, b *bundle.File) bool {
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	return equalValues(field(a.Object(), "sha256sum"), field(b.Object(), "sha256sum"))
}

// equalValues reports whether two JSON values are equal in JavaScript: numbers by value,
// objects in any order of their keys.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case *bundle.Object:
		b, ok := b.(*bundle.Object)
		return ok && a.Len() == b.Len() && !slices.ContainsFunc(a.Members(), func(m bundle.Member) bool {
			v, ok := b.Get(m.Key)
			return !ok || !equalValues(m.Value, v)
		})
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalValues)
	case bundle.Number:
		b, ok := b.(bundle.Number)
		return ok && (a == b || equalNumbers(string(a), string(b)))
	}
	return a == b
}

// equalNumbers reports whether two JSON numbers have the same value in JavaScript.
func equalNumbers(a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64) // infinite if it is too large, as in JavaScript
	y, _ := strconv.ParseFloat(b, 64)
	return x == y && math.Signbit(x) == math.Signbit(y)
}
