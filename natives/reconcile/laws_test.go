package reconcile_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

var worlds = flag.Int("worlds", 3000, "how many random worlds the laws are tried on; a long run has 100000")

// rounds is how many runs of all callers must be enough to reach the end.
const rounds = 4

// A law returns how a scene breaks it, or "". The function scene makes the scene anew.
type law struct {
	name  string
	check func(t *testing.T, scene func() *scene) string
}

// laws are the laws of the library.
var laws = []law{
	{"only what is ours is written, and runs come to an end", confinedAndConvergent},
	{"a crash changes nothing in the end", crashesAreHarmless},
	{"what comes after others is written after them, also if they fail", afterWaits},
	{"the order of the input does not matter", isDeterministic},
	{"doing a plan twice is as doing it once", twiceIsOnce},
	{"the plans of the shards are the plan of the whole", shardsAreTheWhole},
	{"errors of reading never add a deletion", errorsNeverDelete},
	{"the gate is monotone", gateIsMonotone},
}

func TestLaws(t *testing.T) {
	if testing.Short() {
		*worlds = min(*worlds, 500)
	}
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*worlds) / uint64(len(laws)) {
				if why := l.check(t, func() *scene { return newScene(seed) }); why != "" {
					t.Fatalf("seed %d: %s", seed, why)
				}
			}
		})
	}
}

// finish runs all callers without faults until nothing is left to do. It returns why that
// never comes.
func (s *scene) finish(t *testing.T) string {
	t.Helper()
	s.faults, s.meddle = 0, nil
	for range rounds {
		for _, c := range s.live {
			s.run(t.Context(), c)
		}
	}
	for _, c := range s.live {
		p := reconcile.Make(s.input(c))
		for _, step := range p.Steps {
			if step.Action.Writes() || step.Action == reconcile.Forget && s.isForgettable(c, step) {
				return fmt.Sprintf("after %d rounds caller %s would still do %s of %s: %s", rounds, c, step.Action, step.Key,
					step.Reason)
			}
		}
		for _, it := range s.desired[c] {
			thing, isThere := s.things[it.Key]
			_, known := s.known[c].known[it.Key]
			step, _ := stepOf(p, it.Key)
			isHeld := step.Action == reconcile.Blocked && step.Code != "" && step.Code != reconcile.CodeNotAdopted
			if isThere && known && !isHeld && thing.Mark == (reconcile.Mark{}) && !it.Delete && it.Policy != reconcile.Observe {
				return fmt.Sprintf("caller %s does not put its mark back on %s", c, it.Key)
			}
		}
	}
	return ""
}

// isForgettable reports whether the state knows a thing that a step forgets.
func (s *scene) isForgettable(caller string, step reconcile.Step) bool {
	_, known := s.known[caller].known[step.Key]
	return known
}

// confinedAndConvergent runs all callers in any order, with faults and other editors, and
// then to the end.
func confinedAndConvergent(t *testing.T, newScene func() *scene) string {
	t.Helper()
	s := newScene()
	s.faults = 0.1
	s.meddle = func() {
		if s.random.IntN(5) > 0 || len(s.things) == 0 {
			return
		}
		keys := slices.Sorted(maps.Keys(s.things))
		k := keys[s.random.IntN(len(keys))]
		thing := s.things[k]
		s.version++
		thing.Version = fmt.Sprint(s.version)
		switch s.random.IntN(3) {
		case 0:
			thing.Mark = reconcile.Mark{Integration: "other", Caller: "x"}
		case 1:
			thing.Body = s.random.IntN(3)
		default:
			thing.Protected = true
		}
		s.things[k] = thing
	}
	for range 3 {
		s.run(t.Context(), s.live[s.random.IntN(len(s.live))])
	}
	why := s.finish(t)
	if len(s.wrong) > 0 {
		return s.wrong[0]
	}
	for k, n := range s.takeovers {
		if n > 1 {
			return fmt.Sprintf("%s was taken over %d times", k, n)
		}
	}
	return why
}

// crashesAreHarmless compares a world after runs with faults with that of runs without. The
// gate counts the deletions of one run, so it may let pass in several runs what it refuses
// together; worlds in which it refused something are not compared.
func crashesAreHarmless(t *testing.T, newScene func() *scene) string {
	t.Helper()
	alone := func() *scene {
		s := newScene()
		s.live = s.live[:1]
		return s
	}
	clean, faulty := alone(), alone()
	if why := clean.finish(t); why != "" {
		return why
	}
	faulty.faults = 0.3
	for range 3 {
		faulty.run(t.Context(), faulty.live[0])
	}
	if why := faulty.finish(t); why != "" {
		return why
	}
	if a, b := clean.bodies(), faulty.bodies(); !clean.refused && !faulty.refused && !reflect.DeepEqual(a, b) {
		return fmt.Sprintf("with crashes the world is %v, want %v", b, a)
	}
	return ""
}

func isDeterministic(t *testing.T, newScene func() *scene) string {
	t.Helper()
	s := newScene()
	for _, c := range s.live {
		first := s.input(c)
		second := s.input(c) // the things in another order
		second.Desired = slices.Clone(second.Desired)
		slices.Reverse(second.Desired)
		if a, b := asJSON(t, reconcile.Make(first)), asJSON(t, reconcile.Make(second)); a != b {
			return fmt.Sprintf("got\n%s\nand\n%s", a, b)
		}
	}
	return ""
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func twiceIsOnce(t *testing.T, newScene func() *scene) string {
	t.Helper()
	s := newScene()
	p, _ := s.run(t.Context(), s.live[0])
	once := s.bodies()
	// steps may fail, since they are done
	_, _ = reconcile.Execute(t.Context(), p, s.world, s.known[s.live[0]], reconcile.Options{})
	if twice := s.bodies(); !reflect.DeepEqual(once, twice) {
		return fmt.Sprintf("the second time gives %v, the first %v", twice, once)
	}
	return ""
}

// shardsAreTheWhole divides a world without dependences in two by the last digit of keys.
func shardsAreTheWhole(t *testing.T, newScene func() *scene) string {
	t.Helper()
	s := newScene()
	in := s.input(s.live[0])
	in.Gate.Limits = reconcile.Limits{Max: 1000, Percent: 10000, Floor: 1000}
	in.Desired = slices.Clone(in.Desired)
	for i := range in.Desired {
		in.Desired[i].Needs, in.Desired[i].After = nil, nil
	}
	// no shard desires nothing
	in.Desired = append(in.Desired, reconcile.Item{Key: "even0", Policy: reconcile.Observe},
		reconcile.Item{Key: "odd1", Policy: reconcile.Observe})
	half := func(of int) reconcile.Input {
		out := in
		mine := func(k reconcile.Key) bool { return int(k[len(k)-1]-'0')%2 == of }
		out.Desired, out.Current, out.Known = nil, nil, map[reconcile.Key]reconcile.Record{}
		for _, it := range in.Desired {
			if mine(it.Key) {
				out.Desired = append(out.Desired, it)
			}
		}
		for _, thing := range in.Current {
			if mine(thing.Key) {
				out.Current = append(out.Current, thing)
			}
		}
		for k, r := range in.Known {
			if mine(k) {
				out.Known[k] = r
			}
		}
		return out
	}
	want := actions(reconcile.Make(in))
	got := actions(reconcile.Make(half(0)))
	maps.Copy(got, actions(reconcile.Make(half(1))))
	if !maps.Equal(got, want) {
		return fmt.Sprintf("the shards do %v, the whole %v", got, want)
	}
	return ""
}

func actions(p *reconcile.Plan) map[reconcile.Key]reconcile.Action {
	out := map[reconcile.Key]reconcile.Action{}
	for _, s := range p.Steps {
		out[s.Key] = s.Action
	}
	return out
}

func errorsNeverDelete(t *testing.T, newScene func() *scene) string {
	t.Helper()
	s := newScene()
	in := s.input(s.live[0])
	if s.random.IntN(2) == 0 || len(in.Current) == 0 {
		in.Errors = []error{errors.New("a list was cut")}
	} else {
		in.Unread = map[reconcile.Key]error{in.Current[0].Key: errors.New("it did not answer")}
	}
	for k, a := range actions(reconcile.Make(in)) {
		if a == reconcile.Remove || a == reconcile.Replace {
			return fmt.Sprintf("%s of %s, although not all was read", a, k)
		}
	}
	return ""
}

// gateIsMonotone takes deletions away from a run that is allowed, and nothing confirms it.
func gateIsMonotone(_ *testing.T, newScene func() *scene) string {
	s := newScene()
	g := reconcile.Gate{Limits: reconcile.Limits{Max: s.random.IntN(12), Percent: s.random.IntN(100),
		Floor: s.random.IntN(5)}}
	decide := s.decide()
	d := reconcile.Deletions{Managed: s.random.IntN(60), Desired: s.random.IntN(3)}
	for i := range s.random.IntN(20) {
		d.Keys = append(d.Keys, reconcile.Key(fmt.Sprint(i)))
	}
	isAllowed := decide(g, d).Code == ""
	limit := min(g.Limits.Max, d.Managed*g.Limits.Percent/100)
	if n := len(d.Keys); isAllowed && n > 0 && (d.Desired == 0 || n > g.Limits.Floor && n > limit) {
		return fmt.Sprintf("%+v lets %d of %d pass, with %d desired", g.Limits, n, d.Managed, d.Desired)
	}
	for isAllowed && len(d.Keys) > 0 {
		d.Keys = d.Keys[1:]
		if decide(g, d).Code != "" {
			return fmt.Sprintf("%+v refuses %d of %d, but not one more", g.Limits, len(d.Keys), d.Managed)
		}
	}
	return ""
}

// decide returns the rule of the gate that the scene follows.
func (s *scene) decide() func(reconcile.Gate, reconcile.Deletions) reconcile.Refusal {
	if s.gate != nil {
		return s.gate
	}
	return reconcile.Gate.Decide
}

// Each mutant breaks one rule. A law must notice.
func TestMutants(t *testing.T) {
	judge := reconcile.Owner.Judge
	type judging = func(reconcile.Owner, reconcile.Mark, reconcile.Wish) reconcile.Verdict
	act := reconcile.Verdict{Owner: reconcile.Us, Act: true, Mark: true}
	ours := func(m reconcile.Mark) bool { return m.Integration == integration }
	for name, broken := range map[string]judging{
		"a thing of nobody is ours": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			if m == (reconcile.Mark{}) {
				return act
			}
			return judge(o, m, w)
		},
		"a stripped mark is not put back": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			v := judge(o, m, w)
			v.Act = v.Act && m != (reconcile.Mark{})
			return v
		},
		"other integrations are ours": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			if m != (reconcile.Mark{}) {
				m.Integration = integration
			}
			return judge(o, m, w)
		},
		"claims reach into other integrations": func(o reconcile.Owner, m reconcile.Mark,
			w reconcile.Wish) reconcile.Verdict {
			if !ours(m) && w.Claim == reconcile.TakeOver && w.Desired {
				return act
			}
			return judge(o, m, w)
		},
		"living callers count as retired": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			o.Callers = []string{o.Caller}
			return judge(o, m, w)
		},
		"retired callers are taken over without a wish": func(o reconcile.Owner, m reconcile.Mark,
			w reconcile.Wish) reconcile.Verdict {
			if ours(m) && !slices.Contains(o.Callers, m.Caller) {
				return act
			}
			return judge(o, m, w)
		},
		"adopting needs no claim": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			w.Claim = reconcile.Adopt
			return judge(o, m, w)
		},
		"taking over needs no claim": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			w.Claim = reconcile.TakeOver
			return judge(o, m, w)
		},
		"a claim is enough to delete": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			w.Desired = w.Desired || w.Claim != reconcile.NoClaim
			return judge(o, m, w)
		},
		"other versions are ours": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			m.Version = ""
			return judge(o, m, w)
		},
		"other versions are taken from living callers": func(o reconcile.Owner, m reconcile.Mark,
			w reconcile.Wish) reconcile.Verdict {
			if ours(m) && m.Version != "" {
				m.Caller = o.Caller
			}
			return judge(o, m, w)
		},
		"what is taken gets no mark": func(o reconcile.Owner, m reconcile.Mark, w reconcile.Wish) reconcile.Verdict {
			v := judge(o, m, w)
			if v.Act && m == (reconcile.Mark{}) {
				v.Owner, v.Mark = reconcile.Us, false
			}
			return v
		},
	} {
		t.Run(name, func(t *testing.T) { mustBreak(t, broken, reconcile.Gate.Decide) })
	}
	decide := reconcile.Gate.Decide
	for name, broken := range map[string]func(reconcile.Gate, reconcile.Deletions) reconcile.Refusal{
		"reading may be incomplete": func(g reconcile.Gate, d reconcile.Deletions) reconcile.Refusal {
			d.Incomplete = false
			return decide(g, d)
		},
		"nothing may be desired": func(g reconcile.Gate, d reconcile.Deletions) reconcile.Refusal {
			d.Desired = 1
			return decide(g, d)
		},
		"there is no largest number": func(g reconcile.Gate, d reconcile.Deletions) reconcile.Refusal {
			g.Limits.Max = 1 << 30
			return decide(g, d)
		},
		"there is no largest share": func(g reconcile.Gate, d reconcile.Deletions) reconcile.Refusal {
			g.Limits.Percent = 1 << 20
			return decide(g, d)
		},
		"the first ones are deleted": func(g reconcile.Gate, d reconcile.Deletions) reconcile.Refusal {
			r := decide(g, d)
			if len(r.Keys) > 3 {
				r.Keys = r.Keys[3:]
			}
			if len(r.Keys) < len(d.Keys) {
				r.Code = ""
			}
			return r
		},
		"few deletions are suspicious": func(g reconcile.Gate, d reconcile.Deletions) reconcile.Refusal {
			if len(d.Keys) == 1 {
				return reconcile.Refusal{Code: reconcile.CodeTooMany, Keys: d.Keys}
			}
			return decide(g, d)
		},
	} {
		t.Run(name, func(t *testing.T) { mustBreak(t, reconcile.Owner.Judge, broken) })
	}
}

// mustBreak fails unless a law notices that a rule is broken.
func mustBreak(t *testing.T, judge func(reconcile.Owner, reconcile.Mark, reconcile.Wish) reconcile.Verdict,
	decide func(reconcile.Gate, reconcile.Deletions) reconcile.Refusal) {
	t.Helper()
	mustBreakBy(t, func(s *scene) {
		s.gate = decide
		s.rules = func(in reconcile.Input) reconcile.Input { return reconcile.WithRules(in, judge, decide) }
	})
}

// mustBreakBy fails unless a law notices what is done to the scenes.
func mustBreakBy(t *testing.T, mutate func(*scene)) {
	t.Helper()
	for seed := range uint64(3000) {
		for _, l := range laws {
			why := l.check(t, func() *scene {
				s := newScene(seed)
				mutate(s)
				return s
			})
			if why != "" {
				t.Logf("%s: seed %d: %s", l.name, seed, why)
				return
			}
		}
	}
	t.Error("no law notices it")
}

// The numbers of the random source are the same each time, so a seed names a scene.
func TestScenesAreRepeatable(t *testing.T) {
	if a, b := newScene(5).bodies(), newScene(5).bodies(); !reflect.DeepEqual(a, b) {
		t.Errorf("got %v and %v", a, b)
	}
}
