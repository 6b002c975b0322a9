package promotions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

func TestLedgerCases(t *testing.T) {
	shared.Each(t, "ledger", func(t *testing.T, c struct {
		Input    timelineCase
		Expected map[string]json.RawMessage
	}) {
		newTimeline(t, c.Input).holds(c.Expected)
	})
	t.Log("judge ledger: timelines with the decision after each step")
}

// holds plays the steps, and holds what is expected.
func (p *timeline) holds(expected map[string]json.RawMessage) {
	seen := map[string]bool{}
	steps := slices.Clone(p.in.Steps)
	slices.SortStableFunc(steps, func(a, b []string) int { return int(p.when(a) - p.when(b)) })
	for _, step := range steps {
		p.now = p.start.Add(p.when(step))
		label := p.play(step)
		want, ok := expected[label]
		if !ok {
			continue
		}
		seen[label] = true
		if step[1] != "gate" {
			p.check(label, want)
		} else if got := p.gate(step[2], step[3]); got != jsonOf[string](p.t, want) {
			p.t.Errorf("%s: the gate is %s, want %s", label, got, want)
		}
	}
	for name, want := range expected {
		switch {
		case seen[name]:
		case name == "ledger":
			p.checkEntries(jsonOf[[]string](p.t, want))
		case name == "runs":
			p.checkRuns(jsonOf[map[string][]string](p.t, want))
		default:
			p.t.Errorf("the driver does not know the expectation %q", name)
		}
	}
}

// when returns the time of a step after the start.
func (p *timeline) when(step []string) time.Duration {
	p.t.Helper()
	if len(step) < 3 {
		p.t.Fatalf("the step %q is too short", step)
	}
	d, err := time.ParseDuration(step[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

// words are the words of steps, with how many words follow.
var words = map[string]int{"commit": 2, "run": 3, "loop": 1, "gate": 3, "merge": 1, "close": 1, "reopen": 1, "push": 1,
	"checks": 2, "edit": 2, "edit_comment": 1, "block": 2, "hotfix": 2, "down": 1, "up": 1, "command": 2, "measure": 2,
	"branch_settings": 1}

// play lets one step happen, and returns the label of what is to be looked at, "" for nothing.
func (p *timeline) play(step []string) (label string) {
	word, args := step[1], step[2:]
	n, known := words[word]
	if !known || len(args) != n {
		p.t.Fatalf("the driver does not know the step %q", step)
	}
	switch word {
	case "loop":
		p.iterate()
		return args[0]
	case "gate":
		return args[2]
	case "commit":
		p.code[args[0]] = append([]string{args[1]}, p.code[args[0]]...)
	case "run":
		p.run(args[0], args[1], args[2])
	case "merge", "close", "reopen", "push", "checks":
		p.person(word, args[0], args[len(args)-1])
	case "edit":
		p.edit(args[0], "ref: "+p.refOf("main", args[0])+" # of "+args[0],
			"ref: "+commitOfLetter(p.target(args[0]).App, args[1])+" # of "+args[0])
	case "edit_comment":
		p.edit(args[0], "# about "+args[0], "# a person wrote this about "+args[0])
	case "block", "hotfix":
		key := map[string]string{"block": "blockedVersions", "hotfix": "hotfixVersions"}[word]
		p.app[args[0]][key] = append(p.app[args[0]][key].([]any), commitOfLetter(args[0], args[1]))
	case "down", "up":
		p.outage(args[0], word == "down")
	case "command":
		p.command(args[0], args[1])
	case "measure":
		p.measure(args[0], args[1])
	case "branch_settings": // only settings of base are read
	}
	return ""
}

// outage begins or ends an outage.
func (p *timeline) outage(of string, begins bool) {
	if !slices.Contains([]string{"records", "code", "forge"}, of) {
		p.t.Fatalf("the driver does not know what %q is", of)
	}
	p.down[of] = begins
	if p.noRecords = nil; p.down["records"] {
		p.noRecords = errDown
	}
}

// iterate runs one loop.
func (p *timeline) iterate() {
	p.forge.now, p.begun = p.now, true
	p.log.Reset()
	p.err = p.native().Run(p.t.Context(), p.env(), p.actors())
}

// command lets a person give a command by the program.
func (p *timeline) command(text, who string) {
	parts := strings.Fields(text)
	if len(parts) == 3 {
		parts[2] = commitOfLetter(p.target(parts[1]).App, parts[2])
	}
	if _, err := ledger.ParseCommand(strings.Join(parts, " ")); err != nil {
		p.t.Fatalf("the driver does not know the command %q: %v", text, err)
	}
	env := p.env()
	env.Approve.Word = &integration.Word{Text: strings.Join(parts, " "), Who: who}
	_ = p.native().Run(p.t.Context(), env, p.actors()) // a refusal stands in the ledger
}

// measure lets the verification of a target measure something.
func (p *timeline) measure(name, is string) {
	if !slices.Contains([]string{"good", "bad", "unknown"}, is) {
		p.t.Fatalf("the driver does not know what %q is", is)
	}
	p.values[name] = is
	w, err := p.native().read(p.t.Context(), p.env())
	if err != nil {
		p.t.Fatal(err)
	}
	act := p.actors()
	w.act = &act
	w.asker = newAsker(p.t.Context(), w.services, w.env, w.settings, w.model, w.all)
	if err := w.verify(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// run ends a run of a target: it is noted as a deployment does it.
func (p *timeline) run(name, letter, result string) {
	ok := result == "ok"
	if !ok && result != "failed" {
		p.t.Fatalf("the driver does not know how %q ends", result)
	}
	m, in := p.model()
	t := p.found(m, name)
	commit := commitOfLetter(p.target(name).App, letter)
	run := promotion.RunOf(in, t, commit, ok, p.now)
	at := p.noRecords
	p.noRecords = nil
	defer func() { p.noRecords = at }()
	if err := p.book(t, run); err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if is := p.values[name]; is != "" {
			p.measure(name, is) // somebody looks at the end of a run
		}
	}()
	for _, c := range t.Promotion.Publish {
		err := promotion.Publish(p.t.Context(), p.scene, promotion.RecordPlace{Channel: c, UID: t.UID()}, commit,
			promotion.Result{Success: ok, Saas: t.Template.File.Name, Hash: t.Hash(), At: p.now})
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// book notes a run in the ledger. What ran before the first loop stands in records alone, as another program leaves them.
func (p *timeline) book(t *saas.Target, run ledger.Run) error {
	if !p.begun && slices.ContainsFunc(p.in.Steps, func(step []string) bool { return step[1] == "loop" }) {
		return nil
	}
	return promotion.Book(p.t.Context(), p.scene, t, run)
}

// person lets a person do something with the merge request that changes a target.
func (p *timeline) person(word, name, how string) {
	state := services.MergeOpen
	if word == "reopen" {
		state = services.MergeClosed
	}
	m := p.request(name, state)
	if m == nil {
		p.t.Fatalf("at %s no merge request changes %s\n%s", p.after(p.now), name, p.log.String())
	}
	p.forge.now = p.now
	switch word {
	case "merge":
		if !p.forge.merge(m) {
			p.t.Errorf("at %s the merge request of %s cannot be merged", p.after(p.now), name)
		}
	case "close":
		m.State, m.ClosedBy, m.Closed = services.MergeClosed, "somebody", p.now
	case "reopen":
		if p.forge.heads[m.Branch] == "" {
			p.t.Fatalf("at %s the branch of the merge request of %s is gone", p.after(p.now), name)
		}
		m.State, m.ClosedBy, m.ClosedByUs, m.Closed = services.MergeOpen, "", false, time.Time{}
	case "push":
		of := p.target(name)
		path := of.path(of.File)
		p.forge.edit(m.Branch, path, strings.Replace(p.text(m.Branch, path), "# about", "# pushed about", 1))
	case "checks":
		switch m.Head = p.forge.heads[m.Branch]; how {
		case "passed":
			if m.Checks = services.ChecksPassed; m.Armed {
				p.forge.merge(m)
			}
		case "failed":
			m.Checks = services.ChecksFailed
		default:
			p.t.Fatalf("the driver does not know how checks end with %q", how)
		}
	}
}

// check holds that everything is as a label says.
func (p *timeline) check(label string, want json.RawMessage) {
	var of map[string]json.RawMessage
	if json.Unmarshal(want, &of) != nil {
		p.t.Fatalf("the driver does not know the expectation %s", want)
	}
	waits := p.held()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		switch name {
		case "requests":
			if got := p.requests(); fmt.Sprint(got) != fmt.Sprint(jsonOf[[][]string](p.t, of[name])) {
				p.t.Errorf("%s: open are %v, want %s", label, got, of[name])
			}
		case "waits":
			for _, line := range jsonOf[[]string](p.t, of[name]) {
				parts := strings.Fields(line)
				if h := waits[parts[0]]; strings.TrimSpace(h.commit+" "+h.code+until(h, line)) != strings.Join(parts[1:], " ") {
					p.t.Errorf("%s: %s waits as %+v, want %s\n%s", label, parts[0], h, line, p.log.String())
				}
			}
		case "outages":
			if got := p.outages(); got != jsonOf[int](p.t, of[name]) {
				p.t.Errorf("%s: %d outages are told, want %s: %v", label, got, of[name], p.err)
			}
		default:
			p.checkTarget(label, name, jsonOf[string](p.t, of[name]), waits[name])
		}
	}
}

// until returns the end of a wait if a line expects one.
func until(h held, line string) string {
	if !strings.Contains(line, " until ") || h.until == "" {
		return ""
	}
	return " until " + h.until
}

// outages returns how many outages the last loop told.
func (p *timeline) outages() int {
	if p.err == nil {
		return 0
	}
	return strings.Count(p.err.Error(), errDown.Error())
}

// requests returns the targets of the open merge requests.
func (p *timeline) requests() [][]string {
	out := [][]string{}
	for _, m := range p.forge.requests {
		if m.State != services.MergeOpen {
			continue
		}
		var names []string
		for _, of := range p.in.Targets {
			if p.changes(m, of.Name) {
				names = append(names, of.Name)
			}
		}
		slices.Sort(names)
		out = append(out, names)
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// changes reports whether a merge request changes a target.
func (p *timeline) changes(m *services.MergeRequest, name string) bool {
	base := p.forge.base(p.forge.heads["main"], p.forge.heads[m.Branch])
	return p.refOf(m.Branch, name) != p.refOf(base, name)
}

// checkTarget holds what is expected of one target.
func (p *timeline) checkTarget(label, name, want string, is held) {
	of := p.target(name)
	proposed := ""
	for _, m := range p.forge.requests {
		if m.State != services.MergeOpen {
			continue
		}
		if p.changes(m, name) {
			proposed = p.letter(of.App, p.refOf(m.Branch, name))
		}
	}
	got := "nothing"
	switch parts := strings.Fields(want); {
	case proposed != "":
		got = "propose " + proposed
	case parts[0] == "held":
		got = "held " + is.commit + " " + is.code + until(is, want)
	case parts[0] == "nothing", parts[0] == "propose":
	default:
		p.t.Fatalf("the driver does not know the expectation %q", want)
	}
	if got != want {
		p.t.Errorf("%s: %s is %q, want %q\n%v\n%s", label, name, got, want, p.err, p.log.String())
	}
}

// checkEntries holds that the ledger has entries: verb, target, commit, who, when.
func (p *timeline) checkEntries(want []string) {
	got := map[string]int{}
	for name, b := range p.books() {
		for _, e := range b.Entries {
			commit := p.letter(p.target(name).App, e.Commit)
			got[fmt.Sprintf("%s %s %s %s %s", e.Verb, name, commit, e.Who, p.after(e.At))]++
		}
	}
	for _, line := range want {
		if got[line] != 1 {
			p.t.Errorf("the ledger has %q %d times: %v", line, got[line], slices.Sorted(maps.Keys(got)))
		}
	}
}

// checkRuns holds that the ledger has the runs of some targets since the start.
func (p *timeline) checkRuns(want map[string][]string) {
	books := p.books()
	for name, lines := range want {
		var got []string
		for _, r := range books[name].Runs {
			if !r.At.Before(p.start) {
				got = append(got, p.ranAs(name, r))
			}
		}
		if !slices.Equal(got, lines) {
			p.t.Errorf("%s ran %q, want %q", name, got, lines)
		}
	}
}

// ranAs returns a run in the words of the cases.
func (p *timeline) ranAs(name string, r ledger.Run) string {
	commit := p.letter(p.target(name).App, r.Commit)
	if r.Check != nil && r.Check.Result == ledger.Failed {
		return commit + " failed verify " + p.after(r.Check.Done)
	}
	return fmt.Sprintf("%s %s %s", commit, r.Result, p.after(r.At))
}

// gate asks the gate of a target as a loop does that starts runs.
func (p *timeline) gate(name, letter string) string {
	m, in := p.model()
	t := p.found(m, name)
	v := promotion.Ask(p.t.Context(), promotion.NewRecords(p.scene, 1), ledger.NewBooks(p.scene),
		promotion.Of(m, t, in), t, commitOfLetter(p.target(name).App, letter), p.now)
	if v.Open {
		return "open"
	}
	return "closed " + string(v.Code)
}
