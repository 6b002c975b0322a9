package promotion

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

var worlds = flag.Int("promotion.worlds", 3000, "how many random worlds the laws are held on")

// A world is publishers that deploy commits at random, with the truth beside their records.
type world struct {
	Question
	events map[string][]event // by publisher
}

// An event is the end of a run of a publisher.
type event struct {
	commit  string
	success bool
	at      time.Time
}

// newWorld returns the world of a seed.
func newWorld(seed uint64) world {
	r := rand.New(rand.NewPCG(seed, 7))
	w := world{events: map[string][]event{}}
	var commits []string // newest first
	for i := range 2 + r.IntN(6) {
		commits = append([]string{fmt.Sprintf("c%d", i+1)}, commits...)
	}
	for range 1 + r.IntN(2) {
		w.Branches = append(w.Branches, commits[r.IntN(2):])
	}
	w.Now, w.Ref, w.Rule = now, commits[r.IntN(len(commits))], []Rule{Newest, Newest, Head}[r.IntN(3)]
	w.SoakTime, w.Soak, w.Redeploy = hours(float64(r.IntN(3)*20)), []saas.Soak{saas.Sum, saas.Each}[r.IntN(2)],
		r.IntN(2) == 0
	some := func(n int) []string {
		if r.IntN(n) > 0 {
			return nil
		}
		return []string{commits[r.IntN(len(commits))]}
	}
	w.Blocked, w.Hotfix = some(3), some(4)
	if r.IntN(5) == 0 {
		w.Pin = commits[r.IntN(len(commits))]
	}
	publishers := []string{"p", "q", "r"}[:1+r.IntN(3)]
	for i := range 1 + r.IntN(2) {
		c := Channel{Name: fmt.Sprintf("channel-%d", i)}
		for _, p := range publishers {
			if len(c.Publishers) == 0 || r.IntN(2) == 0 {
				c.Publishers = append(c.Publishers, p)
			}
		}
		w.Channels = append(w.Channels, c)
		if r.IntN(3) == 0 {
			w.Data = append(w.Data,
				saas.ChannelData{Channel: c.Name, Parents: []saas.ParentConfig{{Saas: "up", Hash: fmt.Sprint(r.IntN(2))}}})
		}
	}
	w.run(r, commits)
	return w
}

// run lets the publishers deploy, and writes their records as a deployment does.
func (w *world) run(r *rand.Rand, commits []string) {
	w.Logs = Logs{}
	for _, at := range w.places() {
		w.Logs[at] = Log{Records: map[string]Record{}, Wrong: map[string]error{}}
		if _, did := w.events[at.UID]; did {
			continue
		}
		w.events[at.UID] = nil
		when := now.Add(-hours(100))
		for range r.IntN(8) {
			when = when.Add(hours(r.Float64() * 25))
			e := event{commits[r.IntN(len(commits))], r.IntN(5) > 0, when}
			if when.Before(now) {
				w.events[at.UID] = append(w.events[at.UID], e)
			}
		}
	}
	for _, at := range w.places() {
		last := ""
		for _, e := range w.events[at.UID] {
			var old *Record
			if is, ok := w.Logs[at].Records[e.commit]; ok {
				old = &is
			}
			if log := w.Logs[at]; last != e.commit {
				log.Runs = append(log.Runs, Run{e.commit, e.at})
				w.Logs[at] = log
			}
			w.Logs[at].Records[e.commit] = Result{Success: e.success, Saas: "up", Hash: fmt.Sprint(r.IntN(2)), At: e.at,
				Replaced: last != e.commit}.Next(old)
			last = e.commit
		}
		if r.IntN(30) == 0 {
			w.Logs[at].Wrong[commits[r.IntN(len(commits))]] = fmt.Errorf("it is damaged")
		}
	}
}

// ran returns for how long a commit was the one that ran at a publisher.
func (w world) ran(uid, commit string) time.Duration {
	var sum time.Duration
	for i, e := range w.events[uid] {
		end := now
		if i+1 < len(w.events[uid]) {
			end = w.events[uid][i+1].at
		}
		if e.commit == commit {
			sum += end.Sub(e.at)
		}
	}
	return sum
}

// soakLaw says that no commit soaks while another one is deployed, that a publisher counts once,
// and that the gate tells the time at which it opens.
func soakLaw(w world, soaked func(Subject, string, Logs, time.Time) (time.Duration, time.Time, error)) string {
	uids := map[string]bool{}
	for _, at := range w.places() {
		uids[at.UID] = true
	}
	for _, c := range w.Branches[0] {
		left, opens, err := soaked(w.Subject, c, w.Logs, w.Now)
		if err != nil {
			continue
		}
		var sum time.Duration
		least := time.Duration(1 << 62)
		for uid := range uids {
			ran := w.ran(uid, c)
			sum, least = sum+ran, min(least, ran)
		}
		if w.Soak == saas.Each {
			sum = least
		}
		if true := max(w.SoakTime-sum, 0); left < true-time.Millisecond { // records have microseconds
			return fmt.Sprintf("%s must run %v longer, not %v", c, true, left)
		}
		if left > 0 && !opens.IsZero() {
			if again, _, _ := soaked(w.Subject, c, w.Logs, opens); again > 0 {
				return fmt.Sprintf("%s was to be open at %v, and %v are left", c, opens, again)
			}
		}
	}
	return ""
}

// decideLaw says that a decision, the gate and the report agree: what is chosen passes the gate
// as the target will be, nothing newer would, and what is not chosen is held with a reason.
func decideLaw(w world, decide func(Question) Decision) string {
	d := decide(w.Question)
	chosen := d.Ref != w.Ref
	if chosen {
		after := w.Subject
		after.Ref, after.Data, after.Order = d.Ref, Noted(w.Data, d.Data), w.Branches
		switch v := Gate(after, d.Ref, w.Logs, w.Now); {
		case !v.Open:
			return fmt.Sprintf("%s is chosen, and the gate will be closed: %s", d.Ref, v.Reason)
		case slices.Contains(w.Blocked, d.Ref):
			return d.Ref + " is blocked"
		case w.Rule == Newest && d.Ref < w.Ref:
			return d.Ref + " is older"
		case w.Pin != "" && slices.Contains(w.Branches[0], w.Pin) && !slices.Contains(before(w.Branches[0], w.Pin), d.Ref) &&
			w.Rule == Newest:
			return d.Ref + " is not newer than the pin"
		}
		for _, at := range w.places() {
			if r := w.Logs[at].Records[d.Ref]; !r.Success {
				return fmt.Sprintf("%s failed at %v", d.Ref, at)
			}
		}
	}
	isKnown := slices.ContainsFunc(w.Branches, func(b []string) bool { return slices.Contains(b, w.Ref) })
	for _, c := range w.Branches[0] {
		inAll := !slices.ContainsFunc(w.Branches, func(b []string) bool { return !slices.Contains(b, c) })
		// names of commits are in their order
		if w.Rule == Newest && w.Pin == "" && isKnown && inAll && c > d.Ref && w.eligible(c).Open {
			return fmt.Sprintf("%s is chosen, and %s is newer", d.Ref, c)
		}
	}
	candidates, _ := w.newer()
	if !chosen && len(candidates) > 0 && d.Hold == "" {
		return "nothing is chosen, and no reason is told"
	}
	return ""
}

func TestLaws(t *testing.T) {
	promoted, soaking := 0, 0
	for seed := range uint64(*worlds) {
		w := newWorld(seed)
		if broken := soakLaw(w, soaked); broken != "" {
			t.Fatalf("seed %d: %s", seed, broken)
		}
		if broken := decideLaw(w, Decide); broken != "" {
			t.Fatalf("seed %d: %s", seed, broken)
		}
		if Decide(w.Question).Ref != w.Ref {
			promoted++
		}
		if left, _, _ := soaked(w.Subject, w.Branches[0][0], w.Logs, w.Now); left > 0 {
			soaking++
		}
	}
	if promoted < *worlds/50 || soaking < *worlds/50 {
		t.Errorf("%d promotions and %d soaking commits of %d worlds say little", promoted, soaking, *worlds)
	}
}

// Each mutant breaks a law on some world, so the laws see such faults.
func TestLawsCatchMutants(t *testing.T) {
	soakMutants := map[string]func(Subject, string, Logs, time.Time) (time.Duration, time.Time, error){
		"what was replaced goes on soaking, each channel counts": func(s Subject, c string, logs Logs,
			at time.Time) (time.Duration, time.Time, error) {
			left := s.SoakTime
			for _, place := range s.places() {
				r := logs[place].Records[c]
				if since, ok := r.Since(); ok {
					left -= at.Sub(since)
				}
			}
			return max(left, 0), time.Time{}, nil
		},
		"a publisher of two channels counts twice": func(s Subject, c string, logs Logs,
			at time.Time) (time.Duration, time.Time, error) {
			s.Soak = saas.Sum
			left := s.SoakTime
			for _, place := range s.places() {
				h := historyOf([]RecordPlace{place}, logs)
				if h.err != nil {
					return 0, time.Time{}, h.err
				}
				left -= h.book.Stay(c, ledger.Order{}, at, true).Ran
			}
			return max(left, 0), time.Time{}, nil
		},
		"it opens too early": func(s Subject, c string, logs Logs, at time.Time) (time.Duration, time.Time, error) {
			left, opens, err := soaked(s, c, logs, at)
			return left, opens.Add(-time.Hour), err
		},
	}
	for name, mutant := range soakMutants {
		caught(t, name, func(w world) string { return soakLaw(w, mutant) })
	}
	decideMutants := map[string]func(Question) Decision{
		"blocked commits":   func(q Question) Decision { q.Blocked = nil; return Decide(q) },
		"hotfixes only":     func(q Question) Decision { q.Hotfix = q.Branches[0]; return Decide(q) },
		"no pin":            func(q Question) Decision { q.Pin = ""; return Decide(q) },
		"no soak":           func(q Question) Decision { q.SoakTime = 0; return Decide(q) },
		"the head alone":    func(q Question) Decision { q.Branches = [][]string{q.Branches[0][:1]}; return Decide(q) },
		"no reason":         func(q Question) Decision { d := Decide(q); d.Hold = ""; return d },
		"notes stay":        func(q Question) Decision { d := Decide(q); d.Data = nil; return d },
		"the oldest one":    oldest,
		"one channel alone": func(q Question) Decision { q.Channels = q.Channels[:1]; return Decide(q) },
	}
	for name, mutant := range decideMutants {
		caught(t, name, func(w world) string { return decideLaw(w, mutant) })
	}
}

// oldest chooses the oldest commit that may be chosen.
func oldest(q Question) Decision {
	commits, _ := q.newer()
	slices.Reverse(commits)
	return q.choose(commits)
}

// caught fails the test if a law holds on all worlds.
func caught(t *testing.T, name string, law func(world) string) {
	t.Helper()
	for seed := range uint64(*worlds) {
		if law(newWorld(seed)) != "" {
			return
		}
	}
	t.Errorf("the mutant %q breaks no law", name)
}

// soaked asks about one commit alone.
func soaked(s Subject, commit string, logs Logs, now time.Time) (time.Duration, time.Time, error) {
	return (&soaking{Subject: s, logs: logs}).left(commit, now)
}
