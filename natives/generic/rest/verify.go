package rest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

const (
	// readBacks is how often a resource is read after a write until it shows what was written.
	readBacks = 4
	backPause = time.Second
	// CodeMismatch says that a service accepted a value and answers another one.
	CodeMismatch = "VERIFY_MISMATCH"
)

// verify compares what was read back with what was sent. A service may need a moment.
func (w *write) verify(ctx context.Context) error {
	if w.Trial {
		w.result.Live = w.live
		return nil
	}
	var left []Difference
	for i := range readBacks {
		var err error
		if left, err = w.p.Left(ctx, w.live); err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(d Difference) bool { return w.keeps(d.Path) || w.isContested(d.Path) })
		if len(left) == 0 {
			w.result.Live = w.live
			return nil
		}
		if i == readBacks-1 {
			break
		}
		if err := w.Clock.Fill().Sleep(ctx, backPause<<i); err != nil {
			return err
		}
		if w.live, err = w.Read(ctx, w.t); err != nil {
			return err
		}
	}
	w.result.Live = w.live
	return w.mismatch(left)
}

// isContested reports whether a property was left out of the request on purpose.
func (w *write) isContested(path string) bool {
	return slices.ContainsFunc(w.result.Notes, func(n Note) bool {
		return n.Code == "KEPT_CONTESTED" && (path == n.Path || strings.HasPrefix(path, n.Path+"/") || strings.HasPrefix(n.Path, path+"/"))
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
	e.Message = fmt.Sprintf("the service accepted the request, and does not answer what was sent at %s%s", strings.Join(paths, ", "), more)
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
