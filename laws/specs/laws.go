package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/plan"
)

// The laws.
const (
	quiet = iota + 1
	lossless
	harmless
	failedIsRed
	secretive
	toldBefore
)

// A breach is a law that does not hold for a type.
type breach struct {
	law  int
	kind *kind
	why  string
}

// A lab holds the laws over the types of one folder.
type lab struct {
	*scene
	kinds    []*kind
	makers   []*maker
	bodies   []object // of the data now
	out      map[int]bool
	breaches []breach
}

func (l *lab) broken(law, i int, format string, args ...any) {
	l.breaches = append(l.breaches, breach{law, l.kinds[i], fmt.Sprintf(format, args...)})
}

// each calls a function for each kind that is not left out.
func (l *lab) each(do func(i int, k *kind)) {
	for i, k := range l.kinds {
		if !l.out[i] {
			do(i, k)
		}
	}
}

// hold holds all laws over the types of a folder.
func hold(ctx context.Context, b *book, kinds []*kind, seed uint64) (*lab, error) {
	s, err := newScene(b, kinds, seed)
	if err != nil {
		return nil, err
	}
	l := &lab{scene: s, kinds: kinds, out: map[int]bool{}}
	for i, k := range kinds {
		body, m := bodyOf(k, seed)
		l.makers, l.bodies = append(l.makers, m), append(l.bodies, body)
		l.canaries = append(l.canaries, m.canaries...)
		l.put(i, k, body, m.secrets, false)
	}
	for _, step := range []func(context.Context) error{l.settle, l.create, l.change, l.drift, l.fail, l.tell} {
		if err := step(ctx); err != nil {
			return l, err
		}
	}
	l.search()
	return l, nil
}

// models returns what the native reads of two worlds.
func findings(ctx context.Context, base, head *scene) (map[string][]check.Finding, error) {
	var models []*cloud.Model
	for _, w := range []*scene{base, head} {
		if w == nil {
			models = append(models, nil)
			continue
		}
		query, err := w.world.Open()
		if err != nil {
			return nil, err
		}
		m, err := (&cloud.Reader{}).Read(ctx, query)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	out := map[string][]check.Finding{}
	for _, f := range check.Run(models[0], models[1]).Findings {
		if f.Severity == plan.SeverityError {
			out[f.File] = append(out[f.File], f)
		}
	}
	return out, nil
}

// settle moves what the check calls a secret into the store of secrets, as an author does. A body that the check
// refuses for another reason breaks a law, and its type is left out.
func (l *lab) settle(ctx context.Context) error {
	const rounds = 4
	for range rounds {
		found, err := findings(ctx, nil, l.scene)
		if err != nil {
			return err
		}
		isMoved := false
		l.each(func(i int, k *kind) {
			for _, f := range found[fileOf(i)] {
				if path, isBody := strings.CutPrefix(f.Pointer, "/body/"); f.Code == "SECRET_INLINE" && isBody {
					isMoved = l.hide(i, strings.Split(path, "/")) || isMoved
					continue
				}
				l.broken(toldBefore, i, "a body that the service takes: %s %s: %s", f.Code, f.Pointer, f.Message)
				l.out[i] = true
				break
			}
			l.put(i, k, l.bodies[i], l.makers[i].secrets, false)
		})
		if !isMoved {
			break
		}
	}
	for i := range l.kinds {
		if l.out[i] {
			delete(l.world.Data, fileOf(i))
		}
	}
	return nil
}

// hide moves a value into the store of secrets.
func (l *lab) hide(i int, path []string) bool {
	v, body, ok := taken(l.bodies[i], path)
	if text, isText := v.(string); ok && isText {
		l.bodies[i] = asObject(body)
		l.makers[i].secrets["/"+strings.Join(path, "/")] = text
		l.canaries = append(l.canaries, text)
		l.makers[i].leaves = slices.DeleteFunc(l.makers[i].leaves, func(f leaf) bool { return slices.Equal(f.at, path) })
		return true
	}
	return false
}

// taken returns the value at a place and the body without it.
func taken(v any, path []string) (value, rest any, ok bool) {
	switch v := v.(type) {
	case object:
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
		out := maps.Clone(v)
		if len(path) == 1 {
			delete(out, name)
			return v[name], out, v[name] != nil
		}
		value, out[name], ok = taken(v[name], path[1:])
		return value, out, ok
	case []any:
		var n int
		if _, err := fmt.Sscan(path[0], &n); err != nil || n < 0 || n >= len(v) || len(path) == 1 {
			return nil, v, false
		}
		out := slices.Clone(v)
		value, out[n], ok = taken(v[n], path[1:])
		return value, out, ok
	}
	return nil, v, false
}

// create makes all resources. The next run is quiet.
func (l *lab) create(ctx context.Context) error {
	const tries = 3 // a service that is throttled and behind may take more than one
	for range tries {
		if err := l.run(ctx); err != nil {
			return err
		}
		if l.err == nil && len(l.red) == 0 {
			break
		}
	}
	l.each(func(i int, k *kind) {
		if why := l.why(i, k); why != "" {
			l.broken(quiet, i, "it is not made: %s", why)
			l.out[i] = true
		} else if l.service.things[strings.ToLower(k.id)] == nil {
			l.broken(quiet, i, "nobody made it: %v", l.err)
			l.out[i] = true
		}
	})
	for i := range l.kinds {
		if l.out[i] {
			delete(l.world.Data, fileOf(i))
		}
	}
	l.each(func(i int, _ *kind) { l.whole(i, "after it was made") })
	return l.calm(ctx, "after it was made")
}

// calm runs once more, which writes nothing.
func (l *lab) calm(ctx context.Context, when string) error {
	if err := l.run(ctx); err != nil {
		return err
	}
	l.each(func(i int, k *kind) {
		if why := l.why(i, k); why != "" {
			l.broken(quiet, i, "%s it is red: %s", when, why)
		} else if wrote := l.wrote(k); wrote != "" {
			l.broken(quiet, i, "%s a run writes: %s", when, wrote)
		}
	})
	return nil
}

// whole checks that the service has all that the data and the store of secrets have.
func (l *lab) whole(i int, when string) {
	t := l.service.things[strings.ToLower(l.kinds[i].id)]
	if t == nil {
		l.broken(lossless, i, "%s it is gone", when)
		return
	}
	if at := lost(l.bodies[i], t.store, ""); at != "" {
		l.broken(lossless, i, "%s the service lost %s", when, at)
	}
	for _, place := range slices.Sorted(maps.Keys(l.makers[i].secrets)) {
		if !strings.Contains(canonical(t.store), canonical(l.makers[i].secrets[place])) {
			l.broken(lossless, i, "%s the service lost the secret %s", when, place)
		}
	}
}

// lost returns the place of a value that a store has not, "" if there is none. Items of lists are anywhere.
func lost(want, is any, at string) string {
	switch want := want.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if found := lost(want[name], asObject(is)[name], at+"/"+name); found != "" {
				return found
			}
		}
		return ""
	case []any:
		for i, item := range want {
			if !slices.ContainsFunc(list(is), func(other any) bool { return lost(item, other, "") == "" }) {
				return fmt.Sprintf("%s/%d", at, i)
			}
		}
		return ""
	}
	if plain(want) != plain(is) {
		return at
	}
	return ""
}

// change changes one value of each. Nothing else is lost.
func (l *lab) change(ctx context.Context) error {
	l.each(func(i int, k *kind) { l.edit(i, k, 0) })
	if err := l.run(ctx); err != nil {
		return err
	}
	l.each(func(i int, k *kind) {
		if why := l.why(i, k); why != "" {
			l.broken(toldBefore, i, "a change that the service takes is red: %s", why)
			return
		}
		l.whole(i, "after a change")
	})
	return l.calm(ctx, "after a change")
}

// edit changes a value of the data of a kind that the service takes, and reports whether there is one.
func (l *lab) edit(i int, k *kind, n int) bool {
	for j := range l.makers[i].leaves {
		f := l.makers[i].leaves[(j+n)%len(l.makers[i].leaves)]
		if is := at(l.bodies[i], f.at); is != nil {
			if to := f.another(is); to != nil {
				l.bodies[i] = with(l.bodies[i], f.at, to)
				l.put(i, k, l.bodies[i], l.makers[i].secrets, false)
				return true
			}
		}
	}
	return false
}
