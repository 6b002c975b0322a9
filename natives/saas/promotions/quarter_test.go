package promotions

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
)

var (
	quarterDays = flag.Int("days", 0, "how many days of the ledger are played; 90 is a quarter, 0 as many as are quick")
	quarterSeed = flag.Uint64("seed", 1, "the seed of these days")
)

// A month has the targets of a timeline with what really happened to them, by its own count: commits are numbers, in the
// order of the branch.
type month struct {
	*timeline
	random   *rand.Rand
	loops    int
	commits  int
	isBad    map[int]bool          // what a verification catches
	ran      map[string][]happened // by target
	refs     map[string]int        // of the data
	rejected map[string]map[int]bool
	undone   map[string]int // the newest commit from which somebody went back, by target
	edited   int            // the loop before which a person edited the file last
	shown    map[string]int // merge requests that were counted
	eligible map[string]int // since when something could be proposed, as a loop
	gateOf   map[string]int // the next commit of the data that is to run
	figures  map[string]int
	wrong    []string
}

// A happened is what became known of a commit at a target.
type happened struct {
	at      time.Time
	commit  int
	ok      bool
	pending bool
}

const everyLoop = 30 * time.Minute

// followers are the targets that are promoted, with their publisher and soak time.
var followers = []struct {
	name, after string
	soak        time.Duration
}{{"canary", "stage", 0}, {"production", "canary", 24 * time.Hour}, {"far", "canary", 48 * time.Hour}}

func newMonth(t *testing.T, seed uint64) *month {
	in := timelineCase{Start: "2026-01-05T08:00Z"}
	in.Settings.May = map[string][]string{"production": {"jane"}, "far": {"jane"}}
	in.Targets = []timelineTarget{{Name: "stage", App: "shop", File: "shop", Follows: "main"},
		{Name: "canary", App: "shop", File: "shop", After: []string{"stage"}, Ref: "A"},
		{Name: "production", App: "shop", File: "shop", After: []string{"canary"}, Ref: "A", SoakDays: 1},
		{Name: "far", App: "shop", File: "shop", After: []string{"canary"}, Ref: "A", SoakDays: 2}}
	in.Targets[1].Verify = &struct {
		For, Measure string
		Back         bool
	}{"30m", "errors", false}
	m := &month{timeline: newTimeline(t, in), random: rand.New(rand.NewPCG(seed, 1)), isBad: map[int]bool{},
		ran: map[string][]happened{}, refs: map[string]int{}, rejected: map[string]map[int]bool{}, undone: map[string]int{},
		shown: map[string]int{}, eligible: map[string]int{}, gateOf: map[string]int{}, figures: map[string]int{}, edited: -9}
	for _, f := range followers {
		m.rejected[f.name], m.undone[f.name] = map[int]bool{}, -1
	}
	m.begun, m.now = true, m.start
	for _, name := range []string{"stage", "canary", "production", "far"} {
		m.runs(name, 0, true)
	}
	return m
}

// letter returns how the timeline names a commit.
func letterOf(n int) string {
	if n == 0 {
		return "A"
	}
	return fmt.Sprintf("A%d", n)
}

// number returns the number of a commit, -1 if it has none.
func (m *month) number(sha string) int {
	for n := m.commits; n >= 0; n-- {
		if commitOfLetter("shop", letterOf(n)) == sha {
			return n
		}
	}
	return -1
}

func (m *month) breaks(format string, args ...any) {
	m.wrong = append(m.wrong, m.now.Sub(m.start).String()+": "+fmt.Sprintf(format, args...))
}

// runs ends a run of a target. The canary is verified: a bad commit shows at the next loop, a good one is clear after
// half an hour.
func (m *month) runs(name string, commit int, ok bool) {
	m.values[name] = ""
	if name == "canary" {
		m.values[name] = "good"
		if m.isBad[commit] {
			m.values[name] = "unknown"
		}
	}
	m.run(name, letterOf(commit), map[bool]string{true: "ok", false: "failed"}[ok])
	m.figures["runs"]++
	m.ran[name] = append(m.ran[name], happened{at: m.now, commit: commit, ok: ok, pending: ok && name == "canary"})
	if ok && name == "canary" && !m.isBad[commit] {
		m.ran[name] = append(m.ran[name], happened{at: m.now.Add(30 * time.Minute), commit: commit, ok: true})
	}
}

// soaked returns for how long a commit ran well at a target, as the table of the facts says, and whether it is good.
func (m *month) soaked(name string, commit int) (time.Duration, bool) {
	ran, runs, isGood, isBad, before := time.Duration(0), false, false, false, -1
	last := m.start
	for _, e := range m.ran[name] {
		if e.at.After(m.now) {
			break
		}
		if runs {
			ran += e.at.Sub(last)
		}
		was := runs
		last, runs = e.at, false
		switch {
		case e.commit == commit && e.pending:
			runs = was && before == commit
		case e.commit == commit && e.ok:
			if isBad {
				ran = 0
			}
			runs, isGood, isBad = true, true, false
		case e.commit == commit:
			ran, isBad = 0, true
		case e.commit > commit:
			runs = e.ok && !e.pending && isGood && !isBad
		case before >= commit:
			isBad = true
		}
		before = e.commit
	}
	if runs {
		ran += m.now.Sub(last)
	}
	return ran, isGood && !isBad
}

// could returns the newest commit that a target could be promoted to, -1 for none.
func (m *month) could(name, after string, soak time.Duration) int {
	newest := -1
	for c := range m.rejected[name] {
		newest = max(newest, c)
	}
	last := m.ran[after][len(m.ran[after])-1]
	for c := m.commits; c > max(m.refs[name], m.undone[name], newest); c-- {
		ran, ok := m.soaked(after, c)
		_, own := m.soaked(name, c)
		knowsOwn := slices.ContainsFunc(m.ran[name], func(h happened) bool { return h.commit == c })
		isVerified := last.commit != c || !last.at.After(m.now)
		if ok && ran >= soak && isVerified && (own || !knowsOwn) {
			return c
		}
	}
	return -1
}

// open returns the merge request that changes a target, nil if there is none, and to what.
func (m *month) open(name string) (*services.MergeRequest, int) {
	r := m.request(name, services.MergeOpen)
	if r == nil {
		return nil, -1
	}
	return r, m.number(m.refOf(r.Branch, name))
}

// day plays half an hour: what people and machines do, then a loop, then what must hold.
func (m *month) step() {
	m.now = m.start.Add(time.Duration(m.loops+1) * everyLoop)
	m.loops++
	if m.random.IntN(4) == 0 { // a commit each two hours
		m.commits++
		m.isBad[m.commits] = m.random.IntN(12) == 0
		m.code["shop"] = append([]string{letterOf(m.commits)}, m.code["shop"]...)
		m.runs("stage", m.commits, m.random.IntN(15) > 0)
	}
	m.people()
	if last := m.ran["canary"][len(m.ran["canary"])-1]; last.pending && m.isBad[last.commit] {
		m.values["canary"] = "bad"
		m.ran["canary"] = append(m.ran["canary"], happened{at: m.now, commit: last.commit})
		m.figures["bad versions caught"]++
	}
	m.iterate()
	if m.err != nil {
		m.breaks("the loop ended with %v", m.err)
	}
	m.holdsNow()
}

// people merge, reject and go back.
func (m *month) people() {
	for _, f := range followers {
		r, to := m.open(f.name)
		switch chance := m.random.IntN(100); {
		case r != nil && to >= 0 && chance < 8 && f.name != "canary":
			r.State, r.ClosedBy, r.Closed = services.MergeClosed, "jane", m.now
			for _, of := range followers {
				if m.changes(r, of.name) {
					m.rejected[of.name][m.number(m.refOf(r.Branch, of.name))] = true
					m.figures["rejections"]++
				}
			}
		case r != nil && chance < 40:
			m.forge.now = m.now
			if m.forge.merge(r) {
				m.figures["merges"]++
			} else if m.loops-m.edited > 2 {
				m.breaks("!%d conflicts, and no person edited the file", r.Number)
			}
		case r == nil && chance == 99:
			m.back(f.name)
		}
	}
	m.follow()
}

// back lets a person go back to what ran well before.
func (m *month) back(name string) {
	for c := m.refs[name] - 1; c >= 0; c-- {
		if _, ok := m.soaked(name, c); ok {
			m.edit(name, "ref: "+m.refOf("main", name)+" # of "+name, "ref: "+commitOfLetter("shop", letterOf(c))+" # of "+name)
			m.undone[name] = max(m.undone[name], m.refs[name])
			m.edited = m.loops
			m.figures["rollbacks"]++
			if got := m.gate(name, letterOf(c)); got != "open" {
				m.breaks("the gate of %s is %s for %d, which it ran well", name, got, c)
			}
			return
		}
	}
}

// follow runs what the data newly say, if the gate is open.
func (m *month) follow() {
	for _, f := range followers {
		c := m.number(m.refOf("main", f.name))
		if c == m.refs[f.name] {
			continue
		}
		if m.rejected[f.name][c] {
			m.breaks("%s is set to %d, which was rejected", f.name, c)
		}
		if m.isBad[c] && f.name != "canary" {
			m.breaks("%s is set to %d, which a verification found bad", f.name, c)
		}
		if m.refs[f.name] = c; m.gate(f.name, letterOf(c)) == "open" {
			m.runs(f.name, c, m.random.IntN(25) > 0)
		} else {
			m.figures["held runs"]++
		}
	}
}

// holdsNow holds what must be true after each loop.
func (m *month) holdsNow() {
	for _, f := range followers {
		r, to := m.open(f.name)
		if r != nil && m.rejected[f.name][to] {
			m.breaks("!%d proposes %d for %s, which was rejected", r.Number, to, f.name)
		}
		if r != nil {
			m.shown[fmt.Sprintf("%s %d", f.name, to)] = 1
		}
		c := m.could(f.name, f.after, f.soak)
		if r != nil || c < 0 {
			delete(m.eligible, f.name)
			continue
		}
		if _, waits := m.eligible[f.name]; !waits {
			m.eligible[f.name] = m.loops
		}
		if m.loops-m.eligible[f.name] >= 2 {
			m.breaks("%s could go to %d, and nothing proposes it:\n%s", f.name, c, m.log.String())
		}
		if log := m.log.String(); strings.Contains(log, "nothing waits") && m.loops-m.eligible[f.name] > 0 {
			m.breaks("nothing waits, says the loop, and %s could go to %d", f.name, c)
		}
	}
}

// A quarter of the ledger with the real loop: commits each two hours, runs that fail, bad versions that a verification
// catches, rejections and rollbacks by people. By a count of its own no rejected commit is proposed or deployed, no bad
// one gets beyond the verification, what a target ran well is never held, nothing is proposed later than its time by
// more than two loops, and merge requests of ours never conflict with each other.
func TestQuarterOfLedger(t *testing.T) {
	days := *quarterDays
	if days == 0 {
		days = 3
	}
	m := newMonth(t, *quarterSeed)
	for range days * 48 {
		if m.step(); len(m.wrong) > 3 {
			break
		}
	}
	for _, line := range m.wrong {
		t.Error(line)
	}
	m.figures["promotions that were proposed"] = len(m.shown)
	t.Logf("%d days, %d commits, %v", days, m.commits, m.figures)
	for _, what := range []string{"merges", "rejections", "rollbacks", "bad versions caught"} {
		if days >= 30 && m.figures[what] == 0 {
			t.Errorf("there are no %s, so nothing is shown about them", what)
		}
	}
}
