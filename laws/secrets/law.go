package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/mask"
)

// A class says what kind of difference there is between both runs.
type class string

// The classes. Only the first breaks the law; doc.go explains the others.
const (
	violation class = "violation"
	masked    class = "masked"   // a word of the output is the value of a secret in one set
	absent    class = "absent"   // the store has no value in one set
	unsteady  class = "unsteady" // two runs with the same secrets differ as well
)

// classes are all classes in the order of the table.
var classes = []class{violation, masked, absent, unsteady}

// A difference is what differs first between two runs.
type difference struct {
	Class  class    `json:"class"`
	Native string   `json:"native"`
	Index  int      `json:"index"`
	Edits  []string `json:"edits"`
	Where  string   `json:"where"` // "sent" or the name of a document
	First  string   `json:"first"`
	Second string   `json:"second"`
}

// A law holds merge requests of one native against each other.
type law struct {
	kind  kind
	scene func() *scene
	seed  uint64
	temp  string // folder for what runs write
}

// newLaw returns the law for a native.
func newLaw(ctx context.Context, native string, seed uint64, temp string) (law, error) {
	k, err := kindOf(native)
	if err != nil {
		return law{}, err
	}
	scene, err := k.start(ctx)
	return law{k, scene, seed, temp}, err
}

// A pair is a merge request with both of its stores.
type pair struct {
	prepared
	stores store
}

// make makes a merge request with some edits.
func (l law) make(ctx context.Context, index int, edits []string) (pair, error) {
	s := l.scene()
	for _, e := range l.kind.edits {
		if slices.Contains(edits, e.name) {
			e.do(s, rng(l.seed, index, "edit "+e.name))
		}
	}
	if l.kind.finish != nil {
		l.kind.finish(s)
	}
	stores := store{seed: l.seed, index: index, credentials: map[string]bool{}, servers: s.servers, words: s.words,
		tries: s.tries, absent: s.absent}
	for _, names := range s.owned {
		for _, name := range names {
			stores.credentials[name] = true
		}
	}
	p, err := prepare(ctx, l.kind, s)
	return pair{p, stores}, err
}

// both runs a merge request with both sets.
func (l law) both(ctx context.Context, p pair) (a, b outcome, err error) {
	if a, err = l.one(ctx, p, first); err == nil {
		b, err = l.one(ctx, p, second)
	}
	return a, b, err
}

// one runs a merge request with one set.
func (l law) one(ctx context.Context, p pair, of side) (outcome, error) {
	folder, err := os.MkdirTemp(l.temp, "run-")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(folder)
	o, err := p.run(ctx, folder, func(name string) string { return p.stores.value(of, name) })
	for name, text := range o.said {
		o.said[name] = strings.ReplaceAll(text, folder, "FOLDER")
	}
	return o, err
}

// check checks a merge request. The difference is nil if there is none.
func (l law) check(ctx context.Context, index int, edits []string) (outcome, *difference, error) {
	p, err := l.make(ctx, index, edits)
	if err != nil {
		return outcome{}, nil, err
	}
	a, b, err := l.both(ctx, p)
	if err != nil {
		return a, nil, err
	}
	d := differ(a, b)
	if d == nil {
		return a, nil, nil
	}
	d.Class = p.classify(a, b, d)
	d.Native, d.Index, d.Edits = l.kind.name, index, edits
	if d.Class == violation && d.Where != "sent" {
		if d.Class, err = l.without(ctx, p); err != nil {
			return a, nil, err
		}
	}
	if d.Class == violation {
		again, other, err := l.both(ctx, p)
		if err != nil {
			return a, nil, err
		}
		if differ(a, again) != nil || differ(b, other) != nil {
			d.Class = unsteady
		}
	}
	return a, d, nil
}

// without returns the class of a violation in what is said: [masked] if nothing differs when no secret is a
// word of the data.
func (l law) without(ctx context.Context, p pair) (class, error) {
	if len(p.stores.words) == 0 {
		return violation, nil
	}
	p.stores.words = nil
	a, b, err := l.both(ctx, p)
	if err != nil || differ(a, b) != nil {
		return violation, err
	}
	return masked, nil
}

// classify returns the class of the difference of two runs. If masks explain a part of it, the
// difference becomes the part that is left.
func (p pair) classify(a, b outcome, d *difference) class {
	empty := func(o outcome) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(o.read)), func(name string) bool { return o.read[name] != "" })
	}
	switch {
	case p.leaves(a) || p.leaves(b) || p.shows(a) || p.shows(b):
		return violation
	case p.absent && !slices.Equal(empty(a), empty(b)):
		return absent
	}
	if left := differ(a.hidden(b), b.hidden(a)); left != nil {
		*d = *left
		return violation
	}
	return masked
}

// leaves reports whether the value of a secret is in what was sent, as it is or escaped. Short values
// and words of the data may be there anyway.
func (p pair) leaves(o outcome) bool {
	for name, value := range o.read {
		if isPlain := len(value) < 8 || slices.Contains(slices.Concat(p.words, p.tries), value); isPlain ||
			p.servers[name] != "" {
			continue
		}
		for _, line := range o.sent {
			if strings.Contains(line, value) || strings.Contains(line, url.PathEscape(value)) ||
				strings.Contains(line, url.QueryEscape(value)) {
				return true
			}
		}
	}
	return false
}

// shows reports whether the value of a secret is in what was said, as it is.
func (p pair) shows(o outcome) bool {
	for _, value := range o.read {
		if len(value) < 8 || slices.Contains(slices.Concat(p.words, p.tries), value) {
			continue
		}
		for _, text := range o.said {
			if strings.Contains(text, value) {
				return true
			}
		}
	}
	return false
}

// hidden returns an outcome in which the secrets of both sets are masked.
func (o outcome) hidden(other outcome) outcome {
	hide := mask.New(append(slices.Collect(maps.Values(o.read)), slices.Collect(maps.Values(other.read))...))
	out := o
	out.said = map[string]string{}
	for name, text := range o.said {
		out.said[name] = hide.Text(strings.ReplaceAll(text, `\*`, `*`)) // Markdown escapes what a mask leaves
	}
	return out
}

// differ returns the first difference of two runs: in what was sent, or in what was said.
func differ(a, b outcome) *difference {
	if !slices.Equal(a.sent, b.sent) {
		return &difference{Where: "sent", First: only(a.sent, b.sent), Second: only(b.sent, a.sent)}
	}
	names := slices.Sorted(maps.Keys(a.said))
	if others := slices.Sorted(maps.Keys(b.said)); !slices.Equal(names, others) {
		return &difference{Where: "names of documents", First: fmt.Sprint(names), Second: fmt.Sprint(others)}
	}
	for _, name := range names {
		if a.said[name] == b.said[name] {
			continue
		}
		one, two := clocks.ReplaceAllString(a.said[name], "TIME"), clocks.ReplaceAllString(b.said[name], "TIME")
		if one != two {
			one, two = lines(strings.Split(one, "\n"), strings.Split(two, "\n"))
			return &difference{Where: name, First: one, Second: two}
		}
	}
	return nil
}

// only returns the lines of a that b has not, or not as often.
func only(a, b []string) string {
	left := map[string]int{}
	for _, line := range b {
		left[line]++
	}
	var out []string
	for _, line := range a {
		if left[line]--; left[line] < 0 {
			out = append(out, line)
		}
	}
	return fmt.Sprintf("%d lines, %d not in the other: %s", len(a), len(out), strings.Join(out, "\n"))
}

// lines returns the first lines that differ.
func lines(a, b []string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	at := func(of []string) string {
		if i >= len(of) {
			return "(nothing)"
		}
		return of[i]
	}
	one, two := at(a), at(b)
	begin := 0 // of what differs within the line, with some signs before it
	for begin < len(one) && begin < len(two) && one[begin] == two[begin] {
		begin++
	}
	begin = max(0, begin-80)
	return one[begin:], two[begin:]
}

// shrink returns the difference with the fewest edits that show it in the same class.
func (l law) shrink(ctx context.Context, d difference) difference {
	for i := 0; i < len(d.Edits); {
		fewer := slices.Delete(slices.Clone(d.Edits), i, i+1)
		if _, found, err := l.check(ctx, d.Index, fewer); err == nil && found != nil && found.Class == d.Class {
			d = *found
		} else {
			i++
		}
	}
	return d
}
