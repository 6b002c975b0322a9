package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A world is a system in memory whose calls may fail.
type world struct {
	mu      sync.Mutex
	things  map[reconcile.Key]reconcile.Thing
	version int
	writes  int
	order   []reconcile.Key // of the writes that were tried

	random *rand.Rand
	faults float64 // the share of calls that fail
	meddle func()  // what others do between a reading and the write that follows it

	allowed   func(s reconcile.Step, now reconcile.Thing, isThere bool) string // why a write is not allowed, or ""
	wrong     []string                                                         // writes that were not allowed
	takeovers map[reconcile.Key]int                                            // changes from one caller to another
}

var errFault = errors.New("the call failed")

func (w *world) chance(p float64) bool { return p > 0 && w.random.Float64() < p }

// Read implements [reconcile.Doer].
func (w *world) Read(_ context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.chance(w.faults) {
		return nil, errFault
	}
	if t, ok := w.things[key]; ok {
		return &t, nil
	}
	return nil, nil
}

// Write implements [reconcile.Doer]. The fault may come before or after the write.
func (w *world) Write(_ context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.meddle != nil {
		w.meddle()
	}
	w.order = append(w.order, s.Key)
	if w.chance(w.faults) {
		return errFault
	}
	now, isThere := w.things[s.Key]
	if isThere != (fresh != nil) || isThere && now.Version != fresh.Version {
		return reconcile.ErrConflict
	}
	w.writes++
	if w.allowed != nil {
		if why := w.allowed(s, now, isThere); why != "" {
			w.wrong = append(w.wrong, fmt.Sprintf("%s of %s: %s", s.Action, s.Key, why))
		}
	}
	if now.Mark.Integration == mark.Integration && now.Mark.Caller != mark.Caller {
		w.takeovers[s.Key]++
	}
	w.put(s, now, mark)
	if w.chance(w.faults) {
		return errFault // the answer is lost
	}
	return nil
}

// put does what a step says.
func (w *world) put(s reconcile.Step, t reconcile.Thing, mark reconcile.Mark) {
	w.version++
	switch s.Action {
	case reconcile.Remove:
		delete(w.things, s.Key)
		return
	case reconcile.AdoptIt, reconcile.MarkIt:
	default:
		t.Body, t.Needs = s.Item.Body, s.Item.Needs
	}
	t.Key, t.Mark, t.Version = s.Key, mark, fmt.Sprint(w.version)
	w.things[s.Key] = t
}

// list returns all things, in any order.
func (w *world) list() []reconcile.Thing {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Collect(maps.Values(w.things))
	w.random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// bodies returns what is there without versions.
func (w *world) bodies() map[reconcile.Key]string {
	out := map[reconcile.Key]string{}
	for k, t := range w.things {
		out[k] = fmt.Sprint(t.Body, t.Mark, t.Needs)
	}
	return out
}

// A memory is a state whose calls may fail.
type memory struct {
	mu    sync.Mutex
	known map[reconcile.Key]reconcile.Record
	world *world
}

func (m *memory) Remember(_ context.Context, k reconcile.Key, r reconcile.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.world.fails() {
		return errFault
	}
	m.known[k] = r
	return nil
}

func (m *memory) Forget(_ context.Context, k reconcile.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.world.fails() {
		return errFault
	}
	delete(m.known, k)
	return nil
}

func (w *world) fails() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.chance(w.faults)
}

func (m *memory) snapshot() map[reconcile.Key]reconcile.Record { return maps.Clone(m.known) }

// compareBodies compares numbers. A negative number cannot be changed, only replaced, and 1
// cannot become 2.
func compareBodies(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
	if want.Body == is.Body {
		return reconcile.Difference{}, nil
	}
	if is.Body == 1 && want.Body == 2 {
		return reconcile.Difference{Changes: []reconcile.Change{{Path: "/"}},
			Mistake: reconcile.Mistake{Code: "CONFLICT", Message: "somebody else has set it"}}, nil
	}
	old, _ := is.Body.(int)
	return reconcile.Difference{Changes: []reconcile.Change{{Path: "/"}}, Replace: old < 0}, nil
}

// A scene is a world with callers of one integration, of which some live and desire things.
type scene struct {
	*world
	class   reconcile.Class
	prune   bool
	peer    bool // things of another version are taken
	live    []string
	refused bool                        // the gate refused deletions of a run
	desired map[string][]reconcile.Item // by live caller
	known   map[string]*memory
	rules   func(reconcile.Input) reconcile.Input
	gate    func(reconcile.Gate, reconcile.Deletions) reconcile.Refusal // nil for the rule of the library
}

const integration = "shop"

// newScene returns a random scene.
func newScene(seed uint64) *scene {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // repeatable
	s := &scene{world: &world{random: r, things: map[reconcile.Key]reconcile.Thing{}, takeovers: map[reconcile.Key]int{}},
		desired: map[string][]reconcile.Item{}, known: map[string]*memory{},
		class: []reconcile.Class{reconcile.Listing, reconcile.Knowing, reconcile.Blind}[r.IntN(3)], prune: r.IntN(2) == 0,
		peer:  r.IntN(3) == 0,
		rules: func(in reconcile.Input) reconcile.Input { return in }}
	all := []string{"a", "b", "c", "d", "e"}
	s.live = all[:1+r.IntN(4)]
	for _, c := range s.live {
		s.known[c] = &memory{known: map[reconcile.Key]reconcile.Record{}, world: s.world}
	}
	for i := range 2 + r.IntN(10) {
		k := reconcile.Key(fmt.Sprintf("k%d", i))
		if r.IntN(4) > 0 {
			s.addThing(k, all)
		}
		if r.IntN(4) > 0 {
			c := s.live[r.IntN(len(s.live))]
			s.desired[c] = append(s.desired[c], s.newItem(k, i))
		}
	}
	return s
}

// addThing adds a thing of a random owner, or of nobody.
func (s *scene) addThing(k reconcile.Key, callers []string) {
	r := s.random
	t := reconcile.Thing{Key: k, Body: r.IntN(4) - 1, Version: fmt.Sprintf("old-%s", k), Protected: r.IntN(12) == 0}
	owner := callers[r.IntN(len(callers))]
	switch r.IntN(7) {
	case 0:
	case 1:
		t.Mark = reconcile.Mark{Integration: "other", Caller: owner}
	case 2:
		t.Mark = reconcile.Mark{Integration: integration, Version: "0", Caller: owner}
	default:
		t.Mark = reconcile.Mark{Integration: integration, Caller: owner}
	}
	s.things[k] = t
	if m := s.known[owner]; m != nil && t.Mark.Integration != "other" && r.IntN(2) == 0 {
		m.known[k] = reconcile.Record{Applied: t.Body}
	}
}

// newItem returns a random entry, which may need entries before it.
func (s *scene) newItem(k reconcile.Key, i int) reconcile.Item {
	r := s.random
	it := reconcile.Item{Key: k, Body: r.IntN(3), Delete: r.IntN(5) == 0, Protected: r.IntN(10) == 0}
	it.Policy = []reconcile.Policy{reconcile.Manage, reconcile.Manage, reconcile.Manage, reconcile.Observe,
		reconcile.Detach}[r.IntN(5)]
	it.Claim = []reconcile.Claim{reconcile.NoClaim, reconcile.NoClaim, reconcile.NoClaim, reconcile.Adopt,
		reconcile.TakeOver, reconcile.AdoptOrTakeOver}[r.IntN(6)]
	if i > 0 && r.IntN(3) == 0 {
		it.Needs = []reconcile.Key{reconcile.Key(fmt.Sprintf("k%d", r.IntN(i)))}
	}
	switch r.IntN(12) {
	case 0, 1, 2:
		it.After = []reconcile.Key{reconcile.Key(fmt.Sprintf("k%d", r.IntN(i+1)))}
	case 3:
		it.After = []reconcile.Key{reconcile.Key(fmt.Sprintf("k%d", r.IntN(12)))} // perhaps in a circle
	}
	return it
}

// input returns the input for a caller as the world is now.
func (s *scene) input(caller string) reconcile.Input {
	return s.rules(reconcile.Input{
		Owner: reconcile.Owner{Integration: integration, Caller: caller, Callers: s.live, TakeOver: s.peer}, Class: s.class,
		Prune:   s.prune,
		Desired: s.desired[caller], Current: s.list(), Known: s.known[caller].snapshot(), Compare: compareBodies,
		Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
	})
}

// run plans and executes for a caller, and watches its writes.
func (s *scene) run(ctx context.Context, caller string) (*reconcile.Plan, []reconcile.Result) {
	in := s.input(caller)
	s.allowed = func(step reconcile.Step, now reconcile.Thing, isThere bool) string {
		return s.forbids(in, step, now, isThere)
	}
	p := reconcile.Make(in)
	s.refused = s.refused || p.Refused.Code != ""
	// the results have the errors
	results, _ := reconcile.Execute(ctx, p, s.world, s.known[caller], reconcile.Options{Limit: 4})
	return p, results
}

// forbids returns why a write is against the rules about owners, told in other words than the
// library has them; "" if it is allowed.
func (s *scene) forbids(in reconcile.Input, step reconcile.Step, now reconcile.Thing, isThere bool) string {
	if !isThere {
		return ""
	}
	_, known := in.Known[step.Key]
	i := slices.IndexFunc(in.Desired, func(it reconcile.Item) bool { return it.Key == step.Key })
	var it reconcile.Item
	if i >= 0 {
		it = in.Desired[i]
	}
	isWanted := i >= 0 && !it.Delete
	isOurs := now.Mark == in.Owner.Mark() || now.Mark == (reconcile.Mark{}) && known
	isPeers := now.Mark.Integration == integration && now.Mark.Version != ""
	isRetired := now.Mark.Integration == integration && !isPeers && !slices.Contains(s.live, now.Mark.Caller)
	isFree := now.Mark.Caller == in.Owner.Caller || !slices.Contains(s.live, now.Mark.Caller)
	isTaken := isPeers && s.peer && isFree && i >= 0 ||
		!isPeers &&
			(now.Mark == (reconcile.Mark{}) && isWanted &&
				(it.Claim == reconcile.Adopt || it.Claim == reconcile.AdoptOrTakeOver) || isRetired && i >= 0 ||
				now.Mark.Integration == integration && isWanted &&
					(it.Claim == reconcile.TakeOver || it.Claim == reconcile.AdoptOrTakeOver))
	isDeletion := step.Action == reconcile.Remove || step.Action == reconcile.Replace
	switch {
	case !isDeletion && isWanted && now.Body == 1 && it.Body == 2 && step.Thing.Body == now.Body:
		return "it cannot be made so"
	case !isOurs && !isTaken:
		return fmt.Sprintf("it is marked %+v", now.Mark)
	case isDeletion && !isOurs:
		return "it is taken in this run"
	case i >= 0 && it.Policy == reconcile.Observe:
		return "it must not be written"
	case isDeletion && (now.Protected || it.Protected):
		return "it is protected"
	case step.Action == reconcile.Remove && it.Policy == reconcile.Detach:
		return "its policy leaves it alone"
	case step.Action == reconcile.Remove && isWanted:
		return "it is desired"
	case i < 0 && (s.class == reconcile.Blind || s.class == reconcile.Knowing && (!known || !s.prune)):
		return "no entry names it"
	}
	return ""
}
