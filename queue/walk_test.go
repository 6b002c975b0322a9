package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/queue"
)

// What nobody proved is unknown, and nothing short of a whole proof of the pair lets a request be merged.
func TestWhatIsNotProven(t *testing.T) {
	pair := queue.Pair{Head: "h", Base: "b"}
	with := func(t queue.PlannedTask) func(*queue.Proof) {
		return func(p *queue.Proof) { p.Tasks = []queue.PlannedTask{t} }
	}
	whole := queue.Proof{Pair: pair, Tree: "t", IsValidated: true, IsPlanned: true}
	for name, c := range map[string]struct {
		change func(*queue.Proof)
		want   queue.State
	}{
		"whole":          {func(*queue.Proof) {}, queue.Holds},
		"nothing":        {func(p *queue.Proof) { *p = queue.Proof{} }, queue.Unknown},
		"only the pair":  {func(p *queue.Proof) { *p = queue.Proof{Pair: pair} }, queue.Unknown},
		"another head":   {func(p *queue.Proof) { p.Pair.Head = "h2" }, queue.Unknown},
		"another base":   {func(p *queue.Proof) { p.Pair.Base = "b0" }, queue.Unknown},
		"no tree":        {func(p *queue.Proof) { p.Tree = "" }, queue.Unknown},
		"not validated":  {func(p *queue.Proof) { p.IsValidated = false }, queue.Unknown},
		"not planned":    {func(p *queue.Proof) { p.IsPlanned = false }, queue.Unknown},
		"an error":       {func(p *queue.Proof) { p.Unknown = []string{"x"} }, queue.Unknown},
		"a conflict":     {func(p *queue.Proof) { p.Conflicts = []string{"x"} }, queue.Conflict},
		"empty":          {func(p *queue.Proof) { p.IsEmpty = true }, queue.NothingLeft},
		"invalid":        {func(p *queue.Proof) { p.Faults = []string{"x"} }, queue.Invalid},
		"not approved":   {func(p *queue.Proof) { p.Unapproved = []string{"x"} }, queue.Waiting},
		"a task":         {with(queue.PlannedTask{Name: "x"}), queue.Delta},
		"it runs":        {with(queue.PlannedTask{Run: queue.Started}), queue.Running},
		"it failed":      {with(queue.PlannedTask{Run: queue.RunFailed}), queue.Red},
		"it passed":      {with(queue.PlannedTask{Run: queue.RunPassed}), queue.Holds},
		"image by a tag": {with(queue.PlannedTask{Result: passed(queue.SameName)}), queue.Unknown},
		"a result":       {with(queue.PlannedTask{Result: passed(queue.Same)}), queue.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			p := whole
			c.change(&p)
			if d := p.Decide(pair); d.State != c.want {
				t.Errorf("got %s (%s), want %s", d.State, d.Reason, c.want)
			}
		})
	}
	if d := (queue.Proof{}).Decide(queue.Pair{}); d.State != queue.Unknown {
		t.Errorf("nothing about nothing is %s", d.State)
	}
}

func passed(image queue.Sameness) *queue.Result {
	return &queue.Result{HasPassed: true, Attempt: 1, Lasts: 1, IsTrusted: true, Command: queue.Same, Inputs: queue.Same,
		Image: image}
}

// A result of which nothing is known does not count, and one doubt is enough.
func TestOneDoubtIsEnough(t *testing.T) {
	if got := (queue.Result{}).Verdict(); got.IsPass() {
		t.Errorf("nothing counts as %s", got)
	}
	for name, spoil := range map[string]func(*queue.Result){
		"failed":         func(r *queue.Result) { r.HasPassed = false },
		"on base":        func(r *queue.Result) { r.HasPassed, r.OnBase = false, true },
		"second attempt": func(r *queue.Result) { r.Attempt = 2 },
		"no attempt":     func(r *queue.Result) { r.Attempt = 0 },
		"too old":        func(r *queue.Result) { r.Age = 2 },
		"the future":     func(r *queue.Result) { r.Age = -1 },
		"not trusted":    func(r *queue.Result) { r.IsTrusted = false },
		"failed since":   func(r *queue.Result) { r.FailedSince = true },
		"edited":         func(r *queue.Result) { r.IsEdited = true },
		"effects":        func(r *queue.Result) { r.LacksEffects = true },
		"always":         func(r *queue.Result) { r.IsAlways = true },
		"native":         func(r *queue.Result) { r.IsNative = true },
		"flaky":          func(r *queue.Result) { r.IsFlaky = true },
		"command":        func(r *queue.Result) { r.Command = queue.SameName },
		"inputs":         func(r *queue.Result) { r.Inputs = queue.SameName },
		"other image":    func(r *queue.Result) { r.Image = queue.Other },
		"no image":       func(r *queue.Result) { r.Image = queue.NotKnown },
	} {
		r := passed(queue.Same)
		if !r.Verdict().IsPass() {
			t.Fatal("the whole result does not count")
		}
		spoil(r)
		if got := r.Verdict(); got.IsPass() {
			t.Errorf("%s: counts as %s", name, got)
		}
	}
}

// newRandomBatch makes a line of changes that write and read random places.
func newRandomBatch(seed uint64) *batch {
	r := rand.New(rand.NewPCG(38, seed))
	pick := func(n int) (out []string) {
		for range n {
			out = append(out, string(rune('a'+r.IntN(9))))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	w := &batch{red: map[string][][]string{}, ran: map[string]queue.RunState{}}
	tasks := map[string][]string{}
	for i := range 1 + r.IntN(4) {
		tasks[fmt.Sprintf("t%d", i)] = pick(1 + r.IntN(3))
	}
	for i := range 2 + r.IntN(5) {
		w.changes = append(w.changes, batchChange{ID: string(rune('A' + i)), Writes: pick(1 + r.IntN(2)), Tasks: tasks})
	}
	for range r.IntN(3) {
		a, b := r.IntN(len(w.changes)), r.IntN(len(w.changes))
		task := fmt.Sprintf("t%d", r.IntN(len(tasks)))
		if meet(w.changes[a].Writes, tasks[task]) && meet(w.changes[b].Writes, tasks[task]) { // it fails by what it reads
			w.red[task] = append(w.red[task], []string{w.changes[a].ID, w.changes[b].ID})
		}
	}
	return w
}

// isTrue says by plain means whether changes can be merged in an order: each task that reads what a change writes
// passes with all that is there then.
func (w *batch) isTrue(order []string) bool {
	for i, id := range order {
		c := w.find(id)
		for _, earlier := range order[:i] {
			if meet(w.find(earlier).Writes, c.Writes) {
				return false
			}
		}
		for _, task := range w.plan(c) {
			if w.fails(task, order[:i+1]) {
				return false
			}
		}
	}
	return true
}

// walkOn walks until nothing is left to run, and merges what is accepted in between as the policy says.
func (w *batch) walkOn(t *testing.T, p queue.Policy) (merged []string, guesses int) {
	t.Helper()
	for range 200 {
		o := queue.Walk("base", w.line(), w.look, p)
		merged = nil
		for _, n := range o.Accepted {
			merged = append(merged, w.id(n))
		}
		if !w.isTrue(merged) {
			t.Fatalf("accepts %v, which is not true: %+v red %v", merged, w.changes, w.red)
		}
		for _, s := range o.Standings {
			if s.State.MayMerge() != slices.Contains(o.Accepted, s.Place.Number) {
				t.Fatalf("!%d is %s, and accepted are %v", s.Place.Number, s.State, o.Accepted)
			}
		}
		if len(o.Starts) == 0 {
			return merged, guesses
		}
		for _, s := range o.Starts {
			if s.IsGuess {
				guesses++
			}
			w.run(s)
		}
	}
	t.Fatal("it does not end")
	return nil, 0
}

// In 20,000 random lines no accepted order breaks a task, with and without guesses and overtaking; and guesses change
// nothing of what is merged.
func TestWalkLaw(t *testing.T) {
	n, guessed := uint64(20_000), 0
	if testing.Short() {
		n = 2_000
	}
	for seed := range n {
		strict, _ := newRandomBatch(seed).walkOn(t, queue.Policy{})
		guessing, guesses := newRandomBatch(seed).walkOn(t, queue.Policy{Depth: 4})
		guessed += guesses
		if !slices.Equal(strict, guessing) {
			t.Fatalf("seed %d: guesses merge %v, without them %v", seed, guessing, strict)
		}
		newRandomBatch(seed).walkOn(t, queue.Policy{Depth: 2, Overtake: true})
	}
	if guessed == 0 {
		t.Error("nothing was tried on a guess")
	}
}

// A request whose delta is open is not overtaken, unless the policy says so and it takes nothing from it.
func TestOvertaking(t *testing.T) {
	tasks := map[string][]string{"p": {"a", "b"}, "q": {"c"}, "r": {"d", "b"}}
	for name, c := range map[string]struct {
		writes [][]string
		policy queue.Policy
		want   []int
		starts int
	}{
		"strict":           {[][]string{{"a"}, {"b"}, {"c"}}, queue.Policy{}, []int{1}, 1},
		"takes nothing":    {[][]string{{"a"}, {"b"}, {"c"}}, queue.Policy{Overtake: true}, []int{1, 3}, 1},
		"takes something":  {[][]string{{"a"}, {"b"}, {"d"}}, queue.Policy{Overtake: true}, []int{1}, 1},
		"a guess":          {[][]string{{"a"}, {"b"}, {"d"}}, queue.Policy{Depth: 1}, []int{1}, 2},
		"no deeper":        {[][]string{{"a"}, {"b"}, {"d"}, {"d"}}, queue.Policy{Depth: 1}, []int{1}, 2},
		"a guess too dear": {[][]string{{"a"}, {"b"}, {"d"}}, queue.Policy{Depth: 1, Budget: -1}, []int{1}, 1},
		"an unlikely one":  {[][]string{{"a"}, {"b"}, {"d"}}, queue.Policy{Depth: 1, Chance: 0.6}, []int{1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := &batch{ran: map[string]queue.RunState{}}
			for i, places := range c.writes {
				w.changes = append(w.changes, batchChange{ID: string(rune('A' + i)), Writes: places, Tasks: tasks})
			}
			o := queue.Walk("base", w.line(), w.look, c.policy)
			if !slices.Equal(o.Accepted, c.want) || len(o.Starts) != c.starts {
				t.Errorf("accepted %v, started %+v; want %v and %d starts", o.Accepted, o.Starts, c.want, c.starts)
			}
			for _, s := range o.Standings {
				if s.State == queue.Unknown || s.State == "" || s.Reason.Why == "" {
					t.Errorf("!%d is %q: %s", s.Place.Number, s.State, s.Reason)
				}
			}
		})
	}
}

// A red delta names the tasks, the requests that it meets there and their files, and those behind go on without it.
func TestWhoBrokeIt(t *testing.T) {
	tasks := map[string][]string{"p": {"a", "b"}}
	w := &batch{ran: map[string]queue.RunState{}, red: map[string][][]string{"p": {{"A", "B"}}}, changes: []batchChange{
		{ID: "A", Writes: []string{"a"}, Tasks: tasks}, {ID: "B", Writes: []string{"b"}, Tasks: tasks},
		{ID: "C", Writes: []string{"c"}, Tasks: tasks}}}
	w.run(queue.Walk("base", w.line(), w.look, queue.Policy{}).Starts[0])
	o := queue.Walk("base", w.line(), w.look, queue.Policy{})
	d := o.Standings[1].Decision
	if d.State != queue.Red || d.Reason.String() != "passes alone, and fails with what was merged since: p" ||
		len(d.Influences) != 1 || d.Influences[0].Request != "A" || !slices.Equal(d.Influences[0].Files, []string{"a"}) {
		t.Errorf("got %+v", d)
	}
	if !slices.Equal(o.Accepted, []int{1, 3}) {
		t.Errorf("accepted %v", o.Accepted)
	}
}

// A request that lacks a label for what its tasks announce waits, also if all of them hold; one that runs or fails says so
// first.
func TestLabelNeeded(t *testing.T) {
	pair := queue.Pair{Head: "h", Base: "b"}
	p := queue.Proof{Pair: pair, Tree: "t", IsValidated: true, IsPlanned: true, Labels: []string{"deletions-reviewed"}}
	if d := p.Decide(pair); d.State != queue.Waiting || d.Reason.String() !=
		"needs the label deletions-reviewed for what its tasks would do" {
		t.Errorf("got %s: %s", d.State, d.Reason)
	}
	for run, want := range map[queue.RunState]queue.State{queue.NotStarted: queue.Delta, queue.Started: queue.Running,
		queue.RunFailed: queue.Red, queue.RunPassed: queue.Waiting} {
		p.Tasks = []queue.PlannedTask{{Name: "a", Inputs: "i", Run: run}}
		if d := p.Decide(pair); d.State != want {
			t.Errorf("run %d: got %s, want %s", run, d.State, want)
		}
	}
}
