package affected

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// An evaluator evaluates root elements on one side.
type evaluator struct {
	side   string // for messages
	bundle *bundle.Bundle
	roots  []*gql.Root
	one    func(*gql.Root, *bundle.File) gql.Element
}

// evaluators returns what evaluates the root elements of a query on base and on
// head: the embedded engine, or the server that answers in its place.
func (w *World) evaluators(ctx context.Context, q Query) (base, head evaluator, err error) {
	base = evaluator{side: "base", bundle: w.base, roots: q.base.Roots()}
	head = evaluator{side: "head", bundle: w.head, roots: q.head.Roots()}
	if w.live != nil {
		base.one, head.one = remote(ctx, w.live.base, q.request), remote(ctx, w.live.head, q.request)
		return base, head, nil
	}
	e, err := w.engines()
	if err != nil {
		return base, head, err
	}
	base.one = func(r *gql.Root, f *bundle.File) gql.Element { return e.base.Element(ctx, q.base, r, f) }
	head.one = func(r *gql.Root, f *bundle.File) gql.Element { return e.head.Element(ctx, q.head, r, f) }
	return base, head, nil
}

// remote asks a server for single elements.
func remote(ctx context.Context, a Answerer, req gql.Request) func(*gql.Root, *bundle.File) gql.Element {
	fail := func(why string) gql.Element { return gql.Element{Errors: []gql.Error{{Message: why}}} }
	return func(root *gql.Root, f *bundle.File) gql.Element {
		if !root.Resources() && f.Schema != root.Schema {
			return gql.Element{}
		}
		single, ok := gql.RestrictToFile(req, root, f)
		switch {
		case !ok:
			return fail("its query cannot be asked for this element alone")
		case single == nil:
			return gql.Element{}
		}
		res := a.Answer(ctx, *single)
		data, _ := res.Data.(*bundle.Object)
		list, ok := items(data, root.Key)
		switch {
		case !ok && len(res.Errors) > 0: // one that made the whole list null
			return gql.Element{Present: true, Errors: res.Errors}
		case !ok || len(list) > 1:
			return fail("the server does not answer with one element")
		case len(list) == 0:
			return gql.Element{Errors: res.Errors}
		}
		return gql.Element{Present: true, Value: list[0], Errors: res.Errors}
	}
}

// rootElement evaluates one root element on one side and tells whether it is there.
func (c *comparison) rootElement(e evaluator, root int, p bundle.Path) (any, bool) {
	r := e.roots[root]
	f, ok := e.bundle.Datafile(p)
	if r.Resources() {
		f, ok = e.bundle.Resource(p)
	}
	if !ok {
		return nil, false
	}
	el := e.one(r, f)
	if len(el.Errors) > 0 && c.doubt == "" {
		c.doubt = fmt.Sprintf("%s of %s: %s answers with an error: %s", r.Key, p, e.side, firstLine(el.Errors[0].Message))
	}
	return el.Value, el.Present
}

// differ notes in what two lists of root elements differ: the elements of each
// that the other has not, however often they occur. The order of lists does not
// count here; where it does, queries are answered as a whole.
func (c *comparison) differ(key string, base, head []any) {
	before, after := digests(base), digests(head)
	old, now := beyond(base, before, after), beyond(head, after, before)
	if len(old)+len(now) == 0 {
		return
	}
	c.evidence.Roots += max(len(old), len(now))
	if !c.compared {
		c.compared, c.base, c.head = true, &bundle.Object{}, &bundle.Object{}
	}
	c.base.(*bundle.Object).Set(key, old)
	c.head.(*bundle.Object).Set(key, now)
}

type digest = [sha256.Size]byte

func digests(list []any) []digest {
	out := make([]digest, len(list))
	var buffer []byte
	for i, v := range list {
		buffer = appendCanonical(buffer[:0], v, integration.OrderIgnored)
		out[i] = sha256.Sum256(buffer)
	}
	return out
}

// beyond returns the items that the other list does not have as often.
func beyond(list []any, own, other []digest) []any {
	left := make(map[digest]int, len(other))
	for _, d := range other {
		left[d]++
	}
	out := []any{}
	for i, d := range own {
		if left[d] > 0 {
			left[d]--
			continue
		}
		out = append(out, list[i])
	}
	return out
}
