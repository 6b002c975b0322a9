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

	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/plan"
)

// ErrUnknown is the error for an integration that the plan does not have.
var ErrUnknown = errors.New("unknown integration")

// ExplainText writes why one integration runs, runs on some shards or is
// skipped: rung, reason, evidence and tasks. An unknown name is an [ErrUnknown]
// that lists the names most like it.
func ExplainText(w io.Writer, p *plan.Plan, name string) error {
	d, ok := p.Decision(name)
	if !ok {
		return fmt.Errorf("%w %q; %s", ErrUnknown, line(name), suggestion(p, name))
	}
	verb := map[plan.Action]string{plan.Run: "runs in full", plan.Shards: "runs on the affected shards", plan.Skip: "is skipped"}[d.Decision]
	t := text{}
	t.line("%s %s", line(d.Name), verb)
	rows := table{
		{{text: "reason"}, {text: line(d.Reason)}},
		{{text: "rung"}, {text: line(string(d.Rung) + ": " + question(d.Rung))}},
	}
	rows = append(rows, evidence(d.Evidence)...)
	rows.write(&t.out, t.style, "  ")
	if len(d.Tasks) > 0 {
		t.heading("Tasks (%d)", len(d.Tasks))
	}
	for _, id := range d.Tasks {
		if task, ok := p.Task(id); ok {
			t.task(task)
		}
	}
	return t.flush(w)
}

// question returns what a rung asks.
func question(r plan.Rung) string {
	return map[plan.Rung]string{
		plan.RungDefinition: "is it checked at all, and did its own definition change?",
		plan.RungSchema:     "did a file change that it may read?",
		plan.RungFields:     "do its queries read a field that changed?",
		plan.RungState:      "does its desired state differ?",
		plan.RungShards:     "to which shards does the difference belong?",
		plan.RungResult:     "did this very input pass already?",
	}[r]
}

// evidence returns one row per piece of evidence; a list has a row per item.
func evidence(e plan.Evidence) table {
	var rows table
	add := func(label string, values ...string) {
		for _, value := range values {
			rows = append(rows, []cell{{text: label}, {text: line(value)}})
			label = ""
		}
	}
	add("definition", e.Definition...)
	add("changed in it", e.Fields...)
	if e.Allowed > 0 {
		add("may read", number(e.Allowed, "schema"))
	}
	add("changed schemas", e.Schemas...)
	add("changed files", e.Paths...)
	add("edited rules", e.Edited...)
	if e.Rule != "" {
		add("path rule", e.Rule)
	}
	for _, q := range e.Queries {
		add("query", query(q))
		add("", q.Fields...)
	}
	for _, t := range e.Traces {
		add("trace", remembered(t))
	}
	if s := e.State; s != nil {
		add("state on base", s.Base)
		add("state on head", s.Head)
	}
	add("shards", e.Keys...)
	for _, p := range e.Passed {
		add("passed", earlier(p))
	}
	add("in doubt", e.Doubts...)
	return rows
}

// query returns what comparing one query found.
func query(q plan.Query) string {
	text := fmt.Sprintf("%s: reads something in %s, ", q.Name, number(q.Reached, "changed file"))
	switch {
	case q.Complete:
		return text + "evaluated as a whole on both sides"
	case q.Roots == 1:
		return text + "1 root element differs"
	}
	return text + number(q.Roots, "root element") + " differ"
}

// remembered returns what one trace proved.
func remembered(t plan.Trace) string {
	of, says := "", "proves that it would see the same"
	if t.Shard != "" {
		of = "of shard " + strconv.Quote(t.Shard) + ": "
	}
	if t.Doubt != "" {
		says = t.Doubt
	}
	if t.Digest == "" {
		return of + says
	}
	return fmt.Sprintf("%s%.19s…, %s: %s", of, t.Digest, number(t.Requests, "request"), says)
}

// earlier returns when a task passed that does not run again.
func earlier(p plan.Earlier) string {
	of := ""
	if p.Shard != "" {
		of = "shard " + strconv.Quote(p.Shard) + ", "
	}
	return fmt.Sprintf("%s%s, with inputs %.19s…", of, p.Began.UTC().Format("2006-01-02 15:04:05 UTC"), p.Inputs)
}

// task shows one task.
func (t *text) task(task plan.Task) {
	parts := []string{"timeout " + line(task.Timeout)}
	if task.EstimateSeconds > 0 {
		about := "about " + seconds(task.EstimateSeconds)
		if task.EstimateP90 > task.EstimateSeconds {
			about += ", nine times of ten within " + seconds(task.EstimateP90)
		}
		parts = append(parts, about)
	}
	if task.Order != 0 {
		parts = append(parts, "order "+strconv.Itoa(task.Order))
	}
	if shards, id := task.Static.Numbers(); task.Static != (plan.Fraction{}) {
		parts = append(parts, fmt.Sprintf("shards %d, shard_id %d", shards, id))
	}
	t.line("  %s (%s)", line(task.ID), strings.Join(parts, ", "))
	switch {
	case task.Blocked != "":
		t.line("    not started: %s", line(task.Blocked))
	case task.Native:
		t.line("    native, in the runner itself")
	default:
		t.line("    %s", command(task.Argv))
	}
}

// command shows an argument vector. Arguments that are not plain words are
// quoted, so that each can be told from the next and is harmless.
func command(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return r == ' ' || strings.ContainsRune("\"'\\", r) || !unicode.IsPrint(r) }) {
			arg = strconv.Quote(arg)
		}
		words[i] = arg
	}
	return strings.Join(words, " ")
}

// suggestion lists the names most like an unknown one.
func suggestion(p *plan.Plan, name string) string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, d := range p.Integrations {
		distance := suggest.Edits(name, d.Name)
		if name != "" && strings.Contains(d.Name, name) {
			distance = 1
		}
		if distance <= 2+len(name)/5 {
			found = append(found, near{line(d.Name), distance})
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("the plan has %s, none with a name like it", number(len(p.Integrations), "integration"))
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, n := range found[:min(len(found), 5)] {
		names = append(names, n.name)
	}
	return "did you mean " + strings.Join(names, ", ") + "?"
}
