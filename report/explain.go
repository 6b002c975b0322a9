package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/plan"
)

// ErrUnknown is the error for an integration that is not in the plan.
var ErrUnknown = errors.New("unknown integration")

// ExplainText writes why one integration runs, runs on some shards or is
// skipped: the reason, the rung, the evidence and the tasks. For a name that is not
// in the plan it returns an [ErrUnknown] that suggests similar names. flips are what would
// have decided otherwise; nil if that was not looked for.
func ExplainText(w io.Writer, p *plan.Plan, name string, flips *plan.Flips) error {
	d, ok := p.Decision(name)
	if !ok {
		return fmt.Errorf("%w %q; %s", ErrUnknown, cleanLine(name), suggestNames(p, name))
	}
	verb := map[plan.Action]string{plan.Run: "runs in full", plan.Shards: "runs on the affected shards",
		plan.Skip: "is skipped"}[d.Decision]
	t := text{}
	t.printLine("%s %s", cleanLine(d.Name), verb)
	rows := table{
		{{text: "reason"}, {text: cleanLine(d.Reason)}},
		{{text: "rung"}, {text: cleanLine(string(d.Rung) + ": " + d.Rung.Question())}},
	}
	if d.Decision == plan.Skip {
		rows = append(rows, []cell{{text: "replay"}, {text: "planner verify " + d.Rung.Replayed()}})
	}
	rows = append(rows, evidenceRows(d.Evidence)...)
	rows.writeTo(&t.out, t.style, "  ")
	if len(d.Tasks) > 0 {
		t.printHeading("Tasks (%d)", len(d.Tasks))
	}
	for _, id := range d.Tasks {
		if task, ok := p.Task(id); ok {
			t.writePlannedTask(task)
		}
	}
	if flips != nil {
		t.writeFlips(d, *flips)
	}
	return t.writeTo(w)
}

// evidenceRows returns one row per piece of evidence, and for a list one row per
// item.
func evidenceRows(e plan.Evidence) table {
	var rows table
	add := func(label string, values ...string) {
		for _, value := range values {
			rows = append(rows, []cell{{text: label}, {text: cleanLine(value)}})
			label = ""
		}
	}
	add("definition", e.Definition...)
	add("changed in it", e.Fields...)
	if e.Allowed > 0 {
		add("may read", phrase.Count(e.Allowed, "schema"))
	}
	add("changed schemas", e.Schemas...)
	add("changed files", e.Paths...)
	add("edited rules", e.Edited...)
	if e.Rule != "" {
		add("path rule", e.Rule)
	}
	for _, q := range e.Queries {
		add("query", describeQuery(q))
		add("", q.Fields...)
	}
	for _, t := range e.Traces {
		add("trace", describeTrace(t))
	}
	if s := e.State; s != nil {
		add("state on base", s.Base)
		add("state on head", s.Head)
	}
	add("shards", e.Keys...)
	for _, p := range e.Passed {
		add("passed", describeEarlier(p))
	}
	add("in doubt", e.Doubts...)
	return rows
}

// describeQuery returns what the comparison of one query found.
func describeQuery(q plan.QueryDifference) string {
	text := fmt.Sprintf("%s: reads something in %s, ", q.Name, phrase.Count(q.Reached, "changed file"))
	switch {
	case q.Complete:
		return text + "evaluated as a whole on both sides"
	case q.Roots == 1:
		return text + "1 root element differs"
	}
	return text + phrase.Count(q.Roots, "root element") + " differ"
}

// describeTrace returns what one trace proved, or why it proved nothing.
func describeTrace(t plan.TraceProof) string {
	shard, proof := "", "proves that it would see the same"
	if t.Shard != "" {
		shard = "of shard " + strconv.Quote(t.Shard) + ": "
	}
	if t.Doubt != "" {
		proof = t.Doubt
	}
	if t.Digest == "" {
		return shard + proof
	}
	return fmt.Sprintf("%s%.19s…, %s: %s", shard, t.Digest, phrase.Count(t.Requests, "request"), proof)
}

// describeEarlier returns when a task passed that need not run again, and with
// which inputs.
func describeEarlier(p plan.Earlier) string {
	shard := ""
	if p.Shard != "" {
		shard = "shard " + strconv.Quote(p.Shard) + ", "
	}
	return fmt.Sprintf("%s%s, with inputs %.19s…", shard, p.Began.UTC().Format("2006-01-02 15:04:05 UTC"), p.Inputs)
}

// writePlannedTask writes one task of a plan with its limits and its command.
func (t *text) writePlannedTask(task plan.Task) {
	parts := []string{"timeout " + cleanLine(task.Timeout)}
	if task.EstimateSeconds > 0 {
		about := "about " + formatSeconds(task.EstimateSeconds)
		if task.EstimateP90 > task.EstimateSeconds {
			about += ", nine times of ten within " + formatSeconds(task.EstimateP90)
		}
		parts = append(parts, about)
	}
	if task.Order != 0 {
		parts = append(parts, "order "+strconv.Itoa(task.Order))
	}
	if shards, id := task.Static.Numbers(); task.Static != (plan.Fraction{}) {
		parts = append(parts, fmt.Sprintf("shards %d, shard_id %d", shards, id))
	}
	t.printLine("  %s (%s)", cleanLine(task.ID), strings.Join(parts, ", "))
	switch {
	case task.Blocked != "":
		t.printLine("    not started: %s", cleanLine(task.Blocked))
	case task.Native:
		t.printLine("    native, in the runner itself")
	default:
		t.printLine("    %s", formatCommand(task.Argv))
	}
}

// formatCommand returns an argument vector as one line. Arguments with spaces,
// quotes or invisible characters are quoted, so that a reader sees where each one
// ends.
func formatCommand(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool {
			return r == ' ' || strings.ContainsRune("\"'\\", r) || !unicode.IsPrint(r)
		}) {
			arg = strconv.Quote(arg)
		}
		words[i] = arg
	}
	return strings.Join(words, " ")
}

// suggestNames returns a sentence with the names of integrations that are similar
// to an unknown name.
func suggestNames(p *plan.Plan, name string) string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, d := range p.Integrations {
		distance := suggest.Edits(name, d.Name)
		if name != "" && strings.Contains(d.Name, name) {
			distance = 1
		}
		if distance <= 2+len(name)/5 {
			found = append(found, candidate{cleanLine(d.Name), distance})
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("the plan has %s, none with a name like it", phrase.Count(len(p.Integrations), "integration"))
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, c := range found[:min(len(found), 5)] {
		names = append(names, c.name)
	}
	return "did you mean " + strings.Join(names, ", ") + "?"
}
