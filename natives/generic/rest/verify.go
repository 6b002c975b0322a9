package rest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

const (
	// backPause is the first wait for a service that does not show yet what it took, and maxBackPause the longest.
	backPause    = time.Second
	maxBackPause = 15 * time.Second
	// soon is how long a service that shows a newer resource may show values of in between.
	soon = 7 * time.Second
	// DefaultLag is how long a service may take to show what it took.
	DefaultLag = 2 * time.Minute
	// CodeMismatch says that a service accepted a value and answers another one.
	CodeMismatch = "VERIFY_MISMATCH"
)

// verify compares what was read back with what was sent. A service may show late what it took: only what it changed
// since is another value than was sent, everything else is not there yet.
func (w *write) verify(ctx context.Context) error {
	if w.Trial {
		w.result.Live = w.live
		return nil
	}
	lag := w.Lag
	if lag <= 0 {
		lag = DefaultLag
	}
	var spent time.Duration
	for wait := backPause; ; wait = min(2*wait, maxBackPause) {
		left, err := w.left(ctx)
		if err != nil {
			return err
		}
		w.result.Live = w.live
		isNew := w.live.Found && w.isNewer()
		switch {
		case w.live.Found && len(left) == 0:
			return nil
		case isNew && spent >= soon:
			return w.mismatch(left)
		case spent >= lag:
			return &Error{Class: Retry,
				Message: fmt.Sprintf("the service took the request, and does not show it after %s; the next run looks again",
					spent)}
		}
		if err := w.Clock.Fill().Sleep(ctx, wait); err != nil {
			return err
		}
		spent += wait
		if w.live, err = w.Read(ctx, w.t); err != nil {
			return err
		}
	}
}

// left returns what is not as it was sent.
func (w *write) left(ctx context.Context) ([]Difference, error) {
	if !w.live.Found {
		return nil, nil
	}
	left, err := w.p.Left(ctx, w.live)
	return slices.DeleteFunc(left, func(d Difference) bool { return w.keeps(d.Path) || w.isContested(d.Path) }), err
}

// isNewer reports whether the resource changed since it was read before the write: it has another version, or else
// another time or content. A server of Kubernetes shows a write at once.
func (w *write) isNewer() bool {
	switch {
	case !w.before.Found, w.Family.LocksInBody:
		return true
	case w.live.ETag != "" || w.before.ETag != "":
		return w.live.ETag != w.before.ETag
	}
	const timeAt = "/systemData/lastModifiedAt"
	was, _ := body.Get(w.before.Body, timeAt)
	is, isTold := body.Get(w.live.Body, timeAt)
	if isTold {
		return body.Canonical(was) != body.Canonical(is)
	}
	return digest(w.before.Body) != digest(w.live.Body)
}

// isContested reports whether a property was left out of the request on purpose.
func (w *write) isContested(path string) bool {
	return slices.ContainsFunc(w.result.Notes, func(n Note) bool {
		return n.Code == "KEPT_CONTESTED" && (path == n.Path || strings.HasPrefix(path, n.Path+"/") ||
			strings.HasPrefix(n.Path, path+"/"))
	})
}

// mismatch is the error about values that the service did not take as they were sent, with the
// overrides that would explain it. None of them says that a value cannot be changed: the service did
// not, and that class may destroy.
func (w *write) mismatch(left []Difference) *Error {
	name, _, _ := strings.Cut(w.t.Type, "@")
	e := &Error{Class: Fatal, Code: CodeMismatch}
	var paths []string
	for _, d := range left {
		if len(paths) < 5 {
			paths = append(paths, d.Path)
		}
		o := classes.Entry{Type: name, Path: fieldPath(d.pattern())}
		before, wasThere := body.Get(w.before.Body, d.Path)
		format := formatOf(d.Sent, d.Back)
		switch o.List, o.Keys = listOf(d.Sent, d.Back); {
		case o.List != "":
			o.Reason = "the service answers the items in another order, or with more members, than was sent"
		case format != "":
			o.Format, o.Reason = format, "the service answers another spelling than was sent"
		case w.before.Found && wasThere && body.Canonical(before) == body.Canonical(d.Back):
			o.Class, o.Reason = "volatile", "the service accepted a change and did not make it"
		default:
			o.Class, o.Reason = "volatile", "the service answers another value than was sent"
		}
		e.Overrides = append(e.Overrides, o)
	}
	more := ""
	if n := len(left) - len(paths); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	e.Message = fmt.Sprintf("the service accepted the request, and does not answer what was sent at %s%s",
		strings.Join(paths, ", "), more)
	e.Overrides = e.Overrides[:min(len(e.Overrides), 5)]
	return e
}

// pattern returns the path of a difference with * for the items of lists.
func (d Difference) pattern() string {
	if d.Pattern != "" {
		return strings.ReplaceAll(d.Pattern, "/*", "[]")
	}
	out := ""
	for _, part := range jsonpointer.Split(d.Path) {
		if strings.Contains(part, "=") {
			out += "[]"
			continue
		}
		out = jsonpointer.Append(out, part)
	}
	return out
}

// formatOf returns the format in which two texts are the same, "" if there is none.
func formatOf(a, b any) string {
	left, ok := a.(string)
	right, isText := b.(string)
	if !ok || !isText {
		return ""
	}
	for _, f := range []body.Format{body.EnumFold, body.Location, body.Duration, body.DateTime, body.Quantity} {
		if !body.Equal(left, right, f) {
			continue
		}
		if strings.HasPrefix(left, "/") && body.Equal(left, right, body.ARMID) {
			return string(body.ARMID)
		}
		return string(f)
	}
	if strings.HasPrefix(left, "/") && body.Equal(left, right, body.ARMID) {
		return string(body.ARMID)
	}
	return ""
}

// listOf returns how two lists are to be merged so that they are the same, "" if nothing makes them so: by the member
// that tells the items of both apart, or by the values of their items.
func listOf(sent, back any) (classes.ListKind, []string) {
	a, isList := sent.([]any)
	b, areLists := back.([]any)
	if !isList || !areLists || len(a) == 0 {
		return "", nil
	}
	if key := keyOf(a, b); key != "" {
		return classes.Map, []string{key}
	}
	if slices.Equal(spelled(a), spelled(b)) {
		return classes.Set, nil
	}
	return "", nil
}

// keyOf returns the member whose values tell the items of both lists apart, and are the same in both, "" if there is
// none. A name is preferred to an id, and both to all others.
func keyOf(a, b []any) string {
	first, _ := a[0].(map[string]any)
	names := slices.SortedFunc(maps.Keys(first), func(x, y string) int {
		order := func(name string) int { return slices.Index([]string{"id", "name"}, name) }
		return cmp.Or(cmp.Compare(order(y), order(x)), cmp.Compare(x, y))
	})
	for _, name := range names {
		ours, isKey := valuesOf(a, name)
		theirs, isAlso := valuesOf(b, name)
		if isKey && isAlso && slices.Equal(ours, theirs) {
			return name
		}
	}
	return ""
}

// valuesOf returns the values of a member of all items, sorted, and whether each item has its own.
func valuesOf(items []any, name string) ([]string, bool) {
	var out []string
	for _, item := range items {
		members, _ := item.(map[string]any)
		switch members[name].(type) {
		case nil, map[string]any, []any, bool:
			return nil, false
		}
		out = append(out, body.Canonical(members[name]))
	}
	slices.Sort(out)
	return out, len(slices.Compact(slices.Clone(out))) == len(out)
}

// spelled returns the texts of items, sorted.
func spelled(items []any) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = body.Canonical(item)
	}
	slices.Sort(out)
	return out
}
