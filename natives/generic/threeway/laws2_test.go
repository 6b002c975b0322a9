package threeway_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

func hasDesired(w world, make maker) string {
	in, p := w.update(make)
	if p.Action != threeway.Update {
		return ""
	}
	after := leaves(p.PutBody)
	for path, want := range leaves(in.Desired) {
		formatted := slices.Contains([]string{"/location", "/p/target", "/p/timeout", "/p/port", "/p/ids", "/p/only"},
			path) ||
			strings.HasSuffix(path, "/ips") || strings.HasSuffix(path, "/protocol")
		if path == "/p/password" || path == "/p/capacity" || formatted {
			continue // compared by the plan's own rules only
		}
		if got := after[path]; got != want && !(isNothing(got) && isNothing(want)) {
			return fmt.Sprintf("%s: got %s, want %s, after %s", path, after[path], want, describe(p))
		}
	}
	return ""
}

func isNothing(text string) bool { return text == "" || text == "null" || text == "[]" || text == "{}" }

func isOneObject(w world, make maker) string {
	in, p := w.update(make)
	if p.Action != threeway.Update {
		return ""
	}
	patched, put := leaves(body.Merge(in.Live, p.MergePatch)), leaves(p.PutBody)
	for path, v := range patched {
		if put[path] != v && !isOfService(path) && !(isNothing(put[path]) && isNothing(v)) {
			return fmt.Sprintf("%s is %s by the patch and %q by PUT, after %s", path, v, put[path], describe(p))
		}
	}
	for path, v := range put {
		if path != hiddenAt && patched[path] != v && !(isNothing(patched[path]) && isNothing(v)) {
			return fmt.Sprintf("%s is %s by PUT and %q by the patch, after %s", path, v, patched[path], describe(p))
		}
	}
	return ""
}

// hiddenAt is where the service never answers a value.
const hiddenAt = "/p/password"

// losesNothing holds that a body for PUT has the value that the service does not answer, changed or not.
func losesNothing(w world, make maker) string {
	in, p := w.update(make)
	want := leaves(in.Desired)[hiddenAt]
	if got := leaves(p.PutBody)[hiddenAt]; p.Action == threeway.Update && !isNothing(want) && got != want {
		return fmt.Sprintf("%s is %q by PUT, want %q, after %s", hiddenAt, got, want, describe(p))
	}
	return ""
}

func ignoresOrder(w world, make maker) string {
	in := w.triple()
	first := describe(make(in))
	for _, v := range []*any{&in.Applied, &in.Desired, &in.Live} {
		*v = w.reordered("", *v)
	}
	// of two spellings of a value in a set, the first one is shown
	if second := describe(make(in)); !strings.EqualFold(second, first) {
		return fmt.Sprintf("in another order %s, else %s", second, first)
	}
	return ""
}

// reordered returns a body with its lists with keys and its sets in another order.
func (w world) reordered(path string, v any) any {
	switch of := v.(type) {
	case object:
		out := object{}
		for _, name := range sortedNames(of) {
			out[name] = w.reordered(path+"/"+name, of[name])
		}
		return out
	case []any:
		out := []any{}
		for _, item := range of {
			out = append(out, w.reordered(path+"/*", item))
		}
		if path != "/p/dns" {
			w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

// A live resource that equals base has, beside base, what the service fills in.
func isFoundOnline(w world, make maker) string {
	base := w.body()
	head := w.edited(base, 30)
	in := threeway.Input{Applied: base, Desired: head, Live: base, Rules: worldRules, WasApplied: true, IsThere: true}
	offline := make(in)
	in.Live = w.serve(base)
	online := make(in)
	for _, f := range offline.Violations {
		if !slices.ContainsFunc(online.Violations, func(g threeway.Objection) bool {
			return g.Code == f.Code && g.Path == f.Path
		}) {
			return fmt.Sprintf("%s %s is not found online: %s", f.Code, f.Path, describe(online))
		}
	}
	return ""
}

func hidesSecrets(w world, make maker) string {
	in := w.triple()
	p := make(in)
	shown, err := json.Marshal([]any{p.Changes, p.Violations, p.Warnings, threeway.Remember(in.Desired, in.Rules, in.Key)})
	if err != nil {
		return err.Error()
	}
	for _, word := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary))[:12]} {
		if bytes.Contains(shown, []byte(word)) {
			return string(shown)
		}
	}
	return ""
}

func isAlwaysSame(w world, make maker) string {
	in := w.triple()
	first := describe(make(in))
	if second := describe(make(in)); second != first {
		return fmt.Sprintf("first %s, then %s", first, second)
	}
	return ""
}

// describe returns a plan in a line. Values of changes are left out: an item that goes is
// shown as live has it.
func describe(p *threeway.Plan) string {
	out := []string{string(p.Action)}
	for _, c := range p.Changes {
		out = append(out, fmt.Sprintf("%s %s (%s)", c.Op, c.Path, c.Reason))
	}
	for _, f := range slices.Concat(p.Violations, p.Warnings) {
		out = append(out, f.Code+" "+f.Path)
	}
	return strings.Join(out, "; ")
}
