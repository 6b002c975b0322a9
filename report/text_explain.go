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

// An Explanation is what is known about the decision about one integration.
type Explanation struct {
	Version  string        `json:"version"`
	Decision plan.Decision `json:"decision"`
	Tasks    []plan.Task   `json:"tasks"`
	Flips    *plan.Flips   `json:"flips,omitempty"` // nil if they were not looked for
}

// ExplainJSON writes an [Explanation] as JSON. The errors are those of [ExplainText].
func ExplainJSON(w io.Writer, p *plan.Plan, name string, flips *plan.Flips) error {
	d, ok := p.Decision(name)
	if !ok {
		return fmt.Errorf("%w %q; %s", ErrUnknown, cleanLine(name), suggestNames(p, name))
	}
	out := Explanation{Version: plan.Version, Decision: d, Tasks: []plan.Task{}, Flips: flips}
	for _, id := range d.Tasks {
		if task, ok := p.Task(id); ok {
			out.Tasks = append(out.Tasks, task)
		}
	}
	return encodeJSON(w, out)
}

// maxFlipChanges bounds how many changes of one flip are written as text.
const maxFlipChanges = 10

// writeFlips writes which changes would have decided otherwise.
func (t *text) writeFlips(d plan.Decision, f plan.Flips) {
	verb := "be skipped"
	if d.Decision == plan.Skip {
		verb = "run"
	}
	t.printHeading("What would flip it")
	if len(f.Known) == 0 {
		t.printLine("  nothing known: %s", cleanLine(f.Why))
		return
	}
	for _, flip := range f.Known {
		t.printLine("  It would %s, decided at %s, %s:", verb, cleanLine(string(flip.Rung)), flipCondition(flip))
		for _, c := range flip.Changes[:min(len(flip.Changes), maxFlipChanges)] {
			t.printLine("    %s", describeFlipChange(flip.Kind, c))
		}
		if more := len(flip.Changes) - maxFlipChanges; more > 0 {
			t.printLine("    and %d more", more)
		}
		if !flip.Smallest {
			t.printLine("    (a part of this may be enough)")
		}
		if len(flip.Keys) > 0 {
			t.printLine("    affected shards: %s", cleanLine(strings.Join(flip.Keys, ", ")))
		}
	}
}

// flipCondition returns the words that lead to the changes of a flip.
func flipCondition(f plan.Flip) string {
	switch f.Kind {
	case plan.FlipTakeBack:
		return "if this part of the change were taken back"
	case plan.FlipRules:
		return "if base and head had this rule"
	}
	return "if head were also changed like this"
}

// describeFlipChange returns one change of a flip as a line.
func describeFlipChange(kind plan.FlipKind, c plan.FlipChange) string {
	place := c.Path
	if c.Part == plan.PartTypes {
		place = "all GraphQL types"
	}
	if c.Field != "" && c.Part == plan.PartSettings {
		place = c.Field + " in " + c.Path
	} else if c.Field != "" {
		place += "#" + c.Field
	}
	if kind == plan.FlipTakeBack && c.Schema != "" {
		place += " (schema " + c.Schema + ")"
	}
	switch {
	case c.Removed:
		place += " taken out"
	case len(c.Without) > 0:
		place += fmt.Sprintf(" without %s (right only if it reads no file of %s)", strings.Join(c.Without, ", "),
			pronoun(len(c.Without)))
	case c.To != "":
		place += " = " + c.To
	}
	return cleanLine(place)
}

// pronoun returns the word for one schema or several ones.
func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// Bounds of a section of schemas.
const (
	maxSchemaRows = 20 // integrations
	maxSchemas    = 3  // schemas of each integration
)

// A schemaSection lists integrations whose allowed schemas do not fit what they read.
type schemaSection struct {
	title, note string
	rows        []schemaRow
}

// A schemaRow is one integration with the schemas that do not fit.
type schemaRow struct {
	integration string
	schemas     []string
}

// schemaSections returns which integrations depend on schemas that they may not read, and
// which ran in full and did not read all schemas that they may read.
func schemaSections(all []plan.Observed) []schemaSection {
	beyond := schemaSection{
		title: "Not allowed, but depended on",
		note: "the answers depend on these schemas, so changes of their files select the integration from now on; allow " +
			"the schemas, or say schemas: strict",
	}
	unread := schemaSection{
		title: "Allowed, but not read",
		note:  "narrower schemas make an integration run less often; planner suggest writes them down",
	}
	for _, o := range all {
		if len(o.Beyond) > 0 {
			beyond.rows = append(beyond.rows, schemaRow{o.Integration, o.Beyond})
		}
		if len(o.Unread) > 0 && !o.Partial {
			unread.rows = append(unread.rows, schemaRow{o.Integration, o.Unread})
		}
	}
	return []schemaSection{beyond, unread}
}

// more says how many integrations are not shown, or returns "".
func (s schemaSection) more() string {
	if len(s.rows) <= maxSchemaRows {
		return ""
	}
	return fmt.Sprintf("and %d more integrations", len(s.rows)-maxSchemaRows)
}

// shown returns the integrations that are shown.
func (s schemaSection) shown() []schemaRow { return s.rows[:min(len(s.rows), maxSchemaRows)] }

// list returns the names of the first few schemas.
func (r schemaRow) list() string {
	if len(r.schemas) <= maxSchemas {
		return strings.Join(r.schemas, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(r.schemas[:maxSchemas], ", "), len(r.schemas)-maxSchemas)
}

// writeSchemas writes the sections of schemas that are not empty.
func (t *text) writeSchemas(all []plan.Observed) {
	for _, s := range schemaSections(all) {
		if len(s.rows) == 0 {
			continue
		}
		t.printHeading("%s (%d)", s.title, len(s.rows))
		var rows table
		for _, r := range s.shown() {
			rows = append(rows, []cell{{text: cleanLine(r.integration)}, numberCell(fmt.Sprint(len(r.schemas))),
				{text: cleanLine(r.list())}})
		}
		rows.writeTo(&t.out, t.style, "  ")
		if more := s.more(); more != "" {
			t.printLine("  %s", more)
		}
		t.printLine("  (%s)", s.note)
	}
}

// writeSchemas writes the sections of schemas that are not empty, folded.
func (m *markdown) writeSchemas(all []plan.Observed) {
	for _, s := range schemaSections(all) {
		if len(s.rows) == 0 {
			continue
		}
		end := m.startFold("%s (%d)", s.title, len(s.rows))
		for _, r := range s.shown() {
			m.printLine("- %s: %s", codeSpan(r.integration), escapeMarkdown(r.list()))
		}
		if more := s.more(); more != "" {
			m.printLine("- %s", more)
		}
		m.printLine("\n%s.", startSentence(s.note))
		end()
	}
}
