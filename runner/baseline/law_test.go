package baseline_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/runner/baseline"
)

var (
	lawRuns = flag.Int("law", 1000, "how many random failures are compared; a long run has 200000")
	lawSeed = flag.Uint64("law-seed", 1, "for the random failures")
)

// A program checks objects and writes a log in one of several styles. It says the same of
// the same objects, but for noise.
type program struct {
	random  *rand.Rand
	style   int      // how a line looks
	generic bool     // errors do not name their object
	sayings []string // noise after the first objects
	workers int      // lines that come in any order at the end; 0 is none
	offset  time.Duration
}

const (
	styleLevels = iota // [time] [LEVEL] text
	stylePlain
	styleLogfmt
	styleOnlyInfo // everything calls itself info
	styles
)

// noises write something that differs in each run, on each side.
var noises = map[string]func(*rand.Rand) string{
	"gave up after %s":       func(r *rand.Rand) string { return fmt.Sprintf("%d.%03ds", r.IntN(60), r.IntN(1000)) },
	"POST to port %s failed": func(r *rand.Rand) string { return fmt.Sprint(20000 + r.IntN(40000)) },
	"request id: %s": func(r *rand.Rand) string {
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), r.IntN(1<<16),
			r.Uint64N(1<<48))
	},
	"<object at %s> is gone": func(r *rand.Rand) string { return fmt.Sprintf("0x7f%010x", r.Uint64N(1<<40)) },
	"cannot write %s/x":      func(r *rand.Rand) string { return fmt.Sprintf("/tmp/tmp%08x", r.Uint32()) },
	"trace %s":               func(r *rand.Rand) string { return fmt.Sprintf("%016x", r.Uint64()) },
	"worker[%s]: no answer":  func(r *rand.Rand) string { return fmt.Sprint(1000 + r.IntN(90000)) },
	"backup of %s is the last one": func(r *rand.Rand) string {
		return fmt.Sprintf("20%02d-%02d-%02d 0%d:%02d:%02d", 10+r.IntN(9), 1+r.IntN(12), 1+r.IntN(28), r.IntN(9), r.IntN(60),
			r.IntN(60))
	},
	"goroutine %s [running]: out of air": func(r *rand.Rand) string { return fmt.Sprint(1 + r.IntN(100000)) },
}

// errorTexts are what a program says of a bad object, with a value of the data that looks
// like noise.
var errorTexts = []string{"quota of %d exceeded", "gave up after %ds", "POST http://127.0.0.1:%d: refused",
	"request id: %08x", "expired at 10:00:%02d", "pid=%d died", "object at 0x7f0000%06x is bad"}

// An object is what a program checks.
type object struct {
	name  string
	text  int // of its error; -1 if it is good
	value int
}

func (p *program) line(now time.Time, level, text string) string {
	at := now.Add(time.Duration(p.random.IntN(2000)) * time.Millisecond)
	switch p.style {
	case styleLevels:
		return fmt.Sprintf("[%s] [%s] [DRY-RUN] [x.py:run:7] - %s\n", at.Add(p.offset).UTC().Format(time.DateTime), level,
			text)
	case styleLogfmt:
		return fmt.Sprintf("time=%q level=%s msg=%q\n", at.UTC().Format(time.RFC3339Nano), strings.ToLower(level), text)
	case styleOnlyInfo:
		return fmt.Sprintf("time=%q level=info msg=%q\n", at.UTC().Format(time.RFC3339Nano), text)
	}
	return text + "\n"
}

// run returns the log of a run over objects.
func (p *program) run(objects []object, effects bool) baseline.Run {
	began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC).Add(time.Duration(p.random.IntN(1e6)) * time.Second)
	var log strings.Builder
	for i, o := range objects {
		log.WriteString(p.line(began, "INFO", "checking "+o.name))
		if effects && p.style == styleLevels && p.random.IntN(3) == 0 {
			log.WriteString(p.line(began, "INFO", fmt.Sprintf("['update_user', '%s', %d]", o.name, p.random.IntN(1000))))
		}
		if o.text >= 0 {
			text := fmt.Sprintf(errorTexts[o.text], o.value)
			if !p.generic {
				text = o.name + ": " + text
			}
			log.WriteString(p.line(began, "ERROR", text))
		}
		if i < len(p.sayings) {
			log.WriteString(p.line(began, "WARNING", fmt.Sprintf(p.sayings[i], noises[p.sayings[i]](p.random))))
		}
	}
	for _, w := range p.random.Perm(p.workers) {
		log.WriteString(p.line(began, "ERROR", fmt.Sprintf("worker of cluster-%c stopped", 'a'+w)))
	}
	r := failed(1)
	r.Tail = sanitize.Text(log.String())
	return baseline.Run{Result: r, Log: log.String(), Began: began, Ended: began.Add(2 * time.Second)}
}

// newProgram makes a random program.
func newProgram(random *rand.Rand) *program {
	p := &program{random: random, style: random.IntN(styles), generic: random.IntN(2) == 0}
	if random.IntN(4) == 0 {
		p.offset = 9 * time.Hour // the program writes another zone
	}
	forms := make([]string, 0, len(noises))
	for f := range noises {
		forms = append(forms, f)
	}
	slices.Sort(forms)
	for range random.IntN(4) {
		p.sayings = append(p.sayings, forms[random.IntN(len(forms))])
	}
	if random.IntN(20) == 0 {
		p.workers = 6 + random.IntN(10)
	}
	return p
}

// someObjects makes random objects, at least one of them bad.
func (p *program) someObjects() []object {
	out := make([]object, 3+p.random.IntN(6))
	for i := range out {
		out[i] = object{fmt.Sprintf("/a/%c%d.yml", 'a'+i, p.random.IntN(3)), -1, 0}
		if p.random.IntN(4) == 0 {
			out[i] = p.bad(out[i])
		}
	}
	i := p.random.IntN(len(out))
	out[i] = p.bad(out[i])
	return out
}

func (p *program) bad(o object) object {
	o.text, o.value = p.random.IntN(len(errorTexts)), p.random.IntN(60)
	return o
}

// change returns objects of which others are bad, or in another way.
func (p *program) change(objects []object) []object {
	for {
		out := slices.Clone(objects)
		for range 1 + p.random.IntN(2) {
			i := p.random.IntN(len(out))
			if out[i].text >= 0 && p.random.IntN(2) == 0 {
				out[i].text = -1
			} else {
				out[i] = p.bad(out[i])
			}
		}
		isNewlyBad := func(i int) bool { return out[i].text >= 0 && out[i] != objects[i] }
		for i := range out {
			if isNewlyBad(i) {
				return out
			}
		}
	}
}

// judge compares like the runner: with another run on base as long as that may help.
func judge(p *program, head baseline.Run, base []object) (baseline.Comparison, int) {
	runs := []baseline.Run{p.run(base, false)}
	for {
		c := baseline.Compare(task, head, runs...)
		if !c.Unclear {
			return c, len(runs)
		}
		runs = append(runs, p.run(base, false))
	}
}

// A failure that the change brings is never found on base. A failure that is on base is
// found there, but for one in a hundred; each of those is told with its reason.
func TestLawOfNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(*lawSeed, 7)) //nolint:gosec // repeatable
	equal, red, onceMore, most := 0, 0, 0, 0
	for range *lawRuns {
		p := newProgram(random)
		base := p.someObjects()
		if random.IntN(2) == 0 {
			head := p.run(p.change(base), true)
			if c, _ := judge(p, head, base); c.Same {
				t.Fatalf("a fault is not seen: style %d, generic %v\n%s\non base\n%s", p.style, p.generic, head.Log,
					p.run(base, false).Log)
			}
			continue
		}
		equal++
		c, runs := judge(p, p.run(base, true), base)
		if !c.Same {
			red++
			t.Logf("red although equal: %s after %d runs on base, with %d workers", c.Finding, runs, p.workers)
		}
		if quiet := len(p.sayings) == 0 && p.workers == 0; quiet && runs > 1 {
			t.Errorf("%d runs on base without noise: %+v", runs, c)
		}
		if runs > 1 {
			onceMore++
		}
		most = max(most, runs)
	}
	t.Logf("%d of %d equal failures are red (%.2f %%); %d needed further runs on base, at most %d in all", red, equal,
		100*float64(red)/float64(equal), onceMore, most)
	if red*100 > equal {
		t.Errorf("%d of %d equal failures are red, want at most one in a hundred", red, equal)
	}
}
