package server

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// diff answers what differs between two bundles, or in one file of them. The
// parts are those of the path after /diff, the last with slashes of its own.
func (s *site) diff(r *http.Request, parts []string, x *Exchange) *reply {
	names := make([]string, 4) // base, head, the kind of file, its path
	for i, part := range parts {
		names[i], _ = unescapePart(part)
	}
	var sides [2]*bundle.Bundle
	for i, sha := range names[:2] {
		found := s.find(sha)
		if found == nil {
			return noBundle(sha)
		}
		sides[i] = found.Bundle
	}
	x.SHA256 = names[1]
	path := bundle.Path("/" + names[3])
	switch names[2] {
	case "":
		return s.gate.pass(r.Context(), func(context.Context) *reply { return differences(sides[0], sides[1]) })
	case "datafile":
		return oneFile(datafileChange(pair(sides, path, (*bundle.Bundle).Datafile)), "datafile")
	case "resourcefile":
		return oneFile(resourceChange(pair(sides, path, (*bundle.Bundle).Resource)), "resourcefile")
	}
	return sent(http.StatusBadRequest, typeHTML, "unknown filetype "+escapeHTML(names[2]))
}

// A change is a file on both sides; one of them may be nil.
type change struct {
	path     bundle.Path
	old, now *bundle.File
}

func pair(sides [2]*bundle.Bundle, path bundle.Path, get func(*bundle.Bundle, bundle.Path) (*bundle.File, bool)) change {
	old, _ := get(sides[0], path)
	now, _ := get(sides[1], path)
	return change{path, old, now}
}

func oneFile(o *bundle.Object, kind string) *reply {
	if o == nil {
		return sent(http.StatusNotFound, typeHTML, kind+" not found")
	}
	return sent(http.StatusOK, typeJSON, string(gql.AppendJSON(nil, o)))
}

// datafileChange is what an answer says about a datafile, nil when neither side
// has it.
func datafileChange(c change) *bundle.Object {
	last := c.now
	if last == nil {
		last = c.old
	}
	if last == nil {
		return nil
	}
	return c.sides(bundle.NewObject(bundle.Member{Key: "datafilepath", Value: string(c.path)},
		bundle.Member{Key: "datafileschema", Value: string(last.Schema)}))
}

func resourceChange(c change) *bundle.Object {
	if c.old == nil && c.now == nil {
		return nil
	}
	return c.sides(bundle.NewObject(bundle.Member{Key: "resourcepath", Value: string(c.path)}))
}

func (c change) sides(o *bundle.Object) *bundle.Object {
	if c.old != nil {
		o.Set("old", c.old.Object())
	}
	if c.now != nil {
		o.Set("new", c.now.Object())
	}
	return o
}

// differences answers with all files that differ. Only one of them at a time
// is in memory as text.
func differences(base, head *bundle.Bundle) *reply {
	datafiles := changed(base.Datafiles(), head.Datafiles(), base.Datafile, head.Datafile, sameDatafile)
	resources := changed(base.Resources(), head.Resources(), base.Resource, head.Resource, sameResource)
	return &reply{status: http.StatusOK, kind: typeJSON, tagged: true, stream: func(w io.Writer) error {
		out := []byte(`{"datafiles":{`)
		flush := func() error {
			_, err := w.Write(out)
			out = out[:0]
			return err
		}
		for i, c := range datafiles {
			if out = appendChange(out, i, c, datafileChange(c)); len(out) >= flushFrom {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		out = append(out, `},"resources":{`...)
		for i, c := range resources {
			if out = appendChange(out, i, c, resourceChange(c)); len(out) >= flushFrom {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		out = append(out, "}}"...)
		return flush()
	}}
}

// flushFrom is how much text of an answer is gathered before it is sent.
const flushFrom = 64 << 10

func appendChange(out []byte, i int, c change, o *bundle.Object) []byte {
	if i > 0 {
		out = append(out, ',')
	}
	out = append(gql.AppendJSON(out, string(c.path)), ':')
	return gql.AppendJSON(out, o)
}

type finder = func(bundle.Path) (*bundle.File, bool)

// changed returns the files that differ: those that base has in the order of
// base, then the new ones.
func changed(base, head []*bundle.File, inBase, inHead finder, same func(a, b *bundle.File) bool) []change {
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

func sameDatafile(a, b *bundle.File) bool {
	return bytes.Equal(a.Raw(), b.Raw()) || same(a.Object(), b.Object())
}

// sameResource compares sha256sum alone, as qontract-server does.
func sameResource(a, b *bundle.File) bool {
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	return same(field(a.Object(), "sha256sum"), field(b.Object(), "sha256sum"))
}

// same tells whether two values are the same to JavaScript: numbers by value,
// objects whatever the order of their keys.
func same(a, b any) bool {
	switch a := a.(type) {
	case *bundle.Object:
		b, ok := b.(*bundle.Object)
		return ok && a.Len() == b.Len() && !slices.ContainsFunc(a.Members(), func(m bundle.Member) bool {
			v, ok := b.Get(m.Key)
			return !ok || !same(m.Value, v)
		})
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case bundle.Number:
		b, ok := b.(bundle.Number)
		return ok && (a == b || sameNumber(string(a), string(b)))
	}
	return a == b
}

func sameNumber(a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64) // infinite when it is too large, as in JavaScript
	y, _ := strconv.ParseFloat(b, 64)
	return x == y && math.Signbit(x) == math.Signbit(y)
}
