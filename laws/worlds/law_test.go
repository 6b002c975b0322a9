//go:build unix

package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var (
	runner  = flag.String("runner", "", "the program runner, with which TestLaw checks some pairs")
	planner = flag.String("planner", "", "the program planner")
	pairs   = flag.Int("pairs", 5, "how many pairs TestLaw checks")
)

// The law holds for some pairs.
func TestLaw(t *testing.T) {
	if *runner == "" || *planner == "" {
		t.Skip("-runner and -planner name no programs")
	}
	o := options{pairs: *pairs, seed: 1, workers: 2, runner: *runner, planner: *planner, places: []place{local, job},
		noShrink: true, shown: 3}
	if err := start(t.Context(), t.Output(), o); err != nil {
		t.Error(err)
	}
}

// A seed and a number draw the same pair each time, and another number draws another one.
func TestDrawRepeats(t *testing.T) {
	for i := range 50 {
		if a, b := draw(3, i), draw(3, i); !reflect.DeepEqual(a, b) || !reflect.DeepEqual(a.heads(), b.heads()) {
			t.Fatalf("pair %d differs from itself", i)
		}
	}
	if reflect.DeepEqual(draw(3, 1).Programs, draw(3, 2).Programs) {
		t.Error("two pairs have the same programs")
	}
}

// Every kind of block is drawn, in the shell and in Python, and makes lines.
func TestEveryBlock(t *testing.T) {
	seen := map[string]bool{}
	for i := range 400 {
		for _, p := range draw(5, i).Programs {
			for _, b := range p.Blocks {
				text, lang := b.shell(), "sh"
				if p.Language == python {
					text, lang = b.python(), "python"
				}
				if text == "" || strings.Contains(text, "%!") {
					t.Errorf("%s in %s has the lines %q", b.Kind, lang, text)
				}
				seen[string(b.Kind)+" "+lang] = true
			}
		}
	}
	for _, k := range append((program{}).kinds(), asks) {
		for _, lang := range []string{"sh", "python"} {
			if !seen[string(k)+" "+lang] {
				t.Errorf("no program in %s %s", lang, k)
			}
		}
	}
}

// Every aim is drawn, and its second round changes what a block reads in the way of the aim.
func TestEveryAim(t *testing.T) {
	edited := map[string]bool{}
	for i := range 400 {
		p := draw(5, i)
		heads := p.heads()
		for _, prog := range p.Programs {
			for _, b := range prog.Blocks {
				for _, a := range []aim{atNames, atVain, atLinks, atData, atIgnored} {
					for _, steps := range a.edits(b, heads[0]) {
						edits := p.Rounds[1].Edits
						if n := len(edits) - len(steps); n >= 0 && reflect.DeepEqual(edits[n:], steps) {
							edited[string(a)+" "+string(b.Kind)] = true
						}
					}
				}
			}
		}
	}
	for _, want := range []string{"names lists", "vain exists", "vain opens", "links follows", "data opens",
		"ignored built"} {
		if !edited[want] {
			t.Errorf("no second round changes %s", want)
		}
	}
}

// What a block says that it sees decides what it says: two trees in which all programs see the
// same have the same outcomes.
func TestSeenDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	for i := range 12 {
		p := draw(11, i)
		last, heads := map[string]outcome{}, p.heads()
		trees := []tree{p.base(), heads[0], heads[1]}
		seen := map[string]string{}
		for k, now := range trees {
			dir := t.TempDir()
			if err := lay(dir, nil, now); err != nil {
				t.Fatal(err)
			}
			if err := build(dir, now); err != nil {
				t.Fatal(err)
			}
			got, err := truthOf(t.Context(), p, local, dir, dir, "", now)
			if err != nil {
				t.Fatal(err)
			}
			for name, o := range got.outcomes {
				if k > 0 && seen[name] == got.seen[name] && last[name] != o {
					t.Errorf("pair %d, %s: got %v, and %v before, of what looks the same", i, name, o, last[name])
				}
				last[name], seen[name] = o, got.seen[name]
			}
		}
	}
}

// A smaller pair has one part less, and leaves the pair that it comes from as it was.
func TestSmaller(t *testing.T) {
	p := draw(1, 1)
	before := copyOf(p)
	weight := func(p pair) int {
		n := len(p.Pool) + len(p.Rounds[0].Edits) + len(p.Rounds[1].Edits)
		for _, prog := range p.Programs {
			n += 1 + len(prog.Blocks) + len(prog.Uses)
		}
		return n
	}
	for _, q := range smaller(p) {
		if weight(q) >= weight(p) {
			t.Errorf("got a pair that is no smaller:\n%s", describe(q))
		}
	}
	if !reflect.DeepEqual(p, before) {
		t.Error("the pair itself has changed")
	}
}

// The judge calls by name what the law forbids, and what it only counts.
func TestJudge(t *testing.T) {
	good, red, blue := outcome{}, outcome{1, "ERROR: red"}, outcome{1, "ERROR: blue"}
	ran := map[string]string{"a": "passed"}
	for _, tt := range []struct {
		name       string
		code       int
		ran        map[string]string
		base, head outcome
		want       counts
	}{
		{"green is right", 0, ran, good, good, counts{runs: 1, greens: 1}},
		{"red is right", 1, ran, good, red, counts{runs: 1, faults: 1}},
		{"broken before", 0, ran, red, red, counts{runs: 1, greens: 1}},
		{"mended", 0, nil, red, good, counts{skips: 1, greens: 1}},
		{"false green", 0, ran, good, red, counts{runs: 1, greens: 1, faults: 1, falseGreens: 1}},
		{"other words", 0, ran, blue, red, counts{runs: 1, greens: 1, faults: 1, falseGreens: 1}},
		{"wrong skip", 0, nil, good, red, counts{skips: 1, greens: 1, faults: 1, wrongSkips: 1}},
		{"wrong skip beside a red one", 1, nil, good, red, counts{skips: 1, faults: 1, wrongSkips: 1}},
		{"over-strict", 1, ran, red, red, counts{runs: 1, overStrict: 1}},
		{"false red", 1, ran, good, good, counts{runs: 1, falseReds: 1}},
		{"not checked", 3, nil, good, red, counts{notChecked: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := finding{verdicts: []verdict{{Code: tt.code, Ran: tt.ran}}}
			f.judge(pair{Programs: []program{{Name: "a"}}}, local, 1, truth{outcomes: map[string]outcome{"a": tt.base}},
				truth{outcomes: map[string]outcome{"a": tt.head}})
			if f.counts != tt.want {
				t.Errorf("got %+v\nwant %+v", f.counts, tt.want)
			}
		})
	}
}

// Needless are the tasks that passed on what is the same, unless head edits their queries.
func TestSpare(t *testing.T) {
	p := pair{Programs: []program{{Name: "a", Declares: true, Blocks: []block{{Kind: asks}}}, {Name: "b"}, {Name: "c"}}}
	ran := map[string]string{"a": "passed", "b": "passed", "c": "failed"}
	same := truth{seen: map[string]string{"a": "x", "b": "x", "c": "x"}}
	other := truth{seen: map[string]string{"a": "x", "b": "y", "c": "x"}}
	edited := tree{"queries/a-0.graphql": {Text: "# more"}}
	for _, tt := range []struct {
		name      string
		head      tree
		now       truth
		unchanged int
	}{
		{"two passed", tree{}, same, 2},
		{"one reads something new", tree{}, other, 1},
		{"queries of one are edited", edited, same, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := finding{verdicts: []verdict{{Ran: ran}, {Ran: ran}}}
			f.spare(p, local, tree{}, tt.head, same, tt.now)
			if f.unchanged != tt.unchanged || f.needless != tt.unchanged || len(f.whys) != tt.unchanged {
				t.Errorf("got %d of %d: %q", f.needless, f.unchanged, f.whys)
			}
		})
	}
}

// The names in a folder are those of its files and folders, also at the root.
func TestEntries(t *testing.T) {
	all := tree{"a": {}, "b/c": {}, "b/d/e": {}, "bc/f": {}}
	for dir, want := range map[string][]string{".": {"a", "b", "bc"}, "b": {"c", "d"}, "x": nil} {
		if got := all.entries(dir); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
	if got := all.matching([]string{"a", "b/**"}); !reflect.DeepEqual(got, []string{"a", "b/c", "b/d/e"}) {
		t.Errorf("got %q", got)
	}
}

// Each mutant breaks the product as it is now.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		raw, err := os.ReadFile(filepath.Join("..", "..", m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if n := strings.Count(string(raw), m.text); n != 1 {
			t.Errorf("%s: %s has %q %d times, want once", m.name, m.file, m.text, n)
		}
	}
}

// A mutant whose text is not in its file says so.
func TestMutantMustFit(t *testing.T) {
	if testing.Short() {
		t.Skip("it copies the files of the repository")
	}
	_, err := law{temp: t.TempDir()}.catchOne(t.Context(), options{},
		mutant{name: "x", file: "go.mod", text: "no such text"})
	if err == nil || !strings.Contains(err.Error(), "adapt the patch") {
		t.Errorf("got %v", err)
	}
}
