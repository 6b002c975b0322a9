package threeway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// An Input is what a plan is made of.
type Input struct {
	Applied, Desired, Live any
	// Known is what the data have, if Desired is only a part of it, such as the mark of a resource. A body for PUT
	// carries its values that cannot be read back. nil is Desired.
	Known        any
	WasApplied   bool // Applied counts; else the resource was never applied
	IsThere      bool // Live counts; else the resource is not there
	Rules        rules.Rules
	AllowReplace bool     // a create-only change may delete and create
	AllowUpdate  []string // places whose inferred create-only is not believed
	Children     []string // managed resources that a replacement would destroy
	// Key makes the keyed hashes of [Remember]. With a key, a value that cannot be read back and
	// that Applied has no trace of was never sent. Without one it counts as sent, unless its rule
	// says that it changed.
	Key []byte
	// Again says that the resource is to be sent again although nothing differs: its last operation failed.
	Again bool
	// Stop is asked now and then, if it is not nil. Once it returns true, the rest of the plan says
	// that nothing is known, and must not be used.
	Stop func() bool
}

// An Action is what is to be done.
type Action string

// The actions.
const (
	None    Action = "none"
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace" // delete and create
	Blocked Action = "blocked" // nothing, because of violations
)

// A Reason says why a value changes.
type Reason string

// The reasons.
const (
	Desired Reason = "desired" // the data changed
	Drift   Reason = "drift"   // the data are as they were applied, and live differs
	Removed Reason = "removed" // the data have it no longer
	Cleared Reason = "cleared" // the data say null
	Adopt   Reason = "adopt"   // the resource was never applied
	Variant Reason = "variant" // only the variant that it was has it
	Secret  Reason = "secret"  // its version changed; it cannot be compared
	Failed  Reason = "failed"  // nothing differs, and the last operation failed
)

// The codes of violations and warnings.
const (
	CreateOnly         = "CREATE_ONLY"
	CreateOnlyInferred = "CREATE_ONLY_INFERRED"
	ReadOnlySet        = "RO_SET"
	Duplicate          = "DUPLICATE"
	SpecBroken         = "SPEC_REF"
	Orphan             = "ORPHAN"
	KeptContested      = "KEPT_CONTESTED"
	KeptCreateOnly     = "KEPT_CREATE_ONLY"
	UnknownValue       = "UNKNOWN_VALUE"
)

// A Change is one value that becomes another. From and To are masked; nil means that there is
// none.
type Change struct {
	Op      string `json:"op"`   // add, replace or remove
	Path    string `json:"path"` // a JSON pointer; items are named by keys or value
	Pattern string `json:"-"`    // the same with * for items
	Reason  Reason `json:"reason"`
	From    any    `json:"from,omitempty"`
	To      any    `json:"to,omitempty"`
	Ground  string `json:"ground,omitempty"` // why the property has its class
	Place   string `json:"place,omitempty"`  // where the specification or an override says so
	// FirstSet is the path of the create-only value that comes with the change and was not there;
	// "" if there is none. Once it is there it stays.
	FirstSet string `json:"-"`

	isForeign bool // the value is of somebody else: the data did not change it
}

// An Objection is why a plan is blocked, or what a person should know.
type Objection struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Pattern string `json:"-"`
	Message string `json:"message"` // what is wrong, and what to do
	Reason  Reason `json:"reason,omitempty"`
	From    any    `json:"from,omitempty"`
	To      any    `json:"to,omitempty"`
	Ground  string `json:"ground,omitempty"`
	Place   string `json:"place,omitempty"`

	isForeign bool
}

// A Plan is what has to change. Changes and findings are sorted by path.
type Plan struct {
	Action     Action
	Changes    []Change
	Violations []Objection
	Warnings   []Objection

	// What to send. It may hold secrets.
	Body       any            // to create or to replace
	MergePatch map[string]any // RFC 7386, to update
	PutBody    any            // to update, without what the service fills in, with all that the data know
}

// Make returns the plan. It never changes the bodies of the input, and what it returns may
// share parts with them.
func Make(in Input) *Plan {
	if in.Rules == nil {
		in.Rules = rules.None
	}
	if in.Known == nil {
		in.Known = in.Desired
	}
	m := &maker{in: in, plan: &Plan{}, known: map[place]rules.Rule{}, isNew: map[string]bool{}}
	m.inspect(place{}, in.Desired)
	if in.IsThere {
		m.compare()
	} else {
		m.create()
	}
	m.finish()
	return m.plan
}

func (m *maker) create() {
	m.plan.Action = Create
	m.plan.Body = sendable(m.in.Desired)
	reason := Desired
	if m.in.WasApplied {
		reason = Drift
	}
	m.plan.Changes = []Change{{Op: "add", Reason: reason, To: rules.Mask(m.in.Rules, "", "", m.plan.Body)}}
}

// compare plans a resource that is there.
func (m *maker) compare() {
	applied := side{m.in.Applied, m.in.WasApplied && m.in.Applied != nil}
	result := m.merge(place{}, applied, in(m.in.Desired), in(m.in.Live))
	switch {
	case len(m.plan.Changes) > 0:
	case !m.in.Again:
		m.plan.Action = None
		return
	default:
		m.plan.Changes = []Change{{Op: "replace", Reason: Failed}}
	}
	m.plan.Action = Update
	live, _ := m.strip(place{}, m.in.Live).(map[string]any)
	if to, ok := result.v.(map[string]any); ok {
		m.plan.MergePatch = body.MergePatch(live, to)
	}
	m.plan.PutBody = m.carry(place{}, m.in.Known, result).v
	if m.plan.MergePatch != nil {
		m.carryLists(place{}, m.in.Known, m.plan.MergePatch)
	}
	if all, ok := sendable(m.in.Known).(map[string]any); ok && m.plan.Changes[0].Reason == Failed {
		m.plan.MergePatch = all
	}
	m.unknown(place{}, found{m.in.Known, true}, m.in.Live, m.plan.PutBody)
}

// finish sorts the plan, and decides what violations mean.
func (m *maker) finish() {
	p := m.plan
	slices.SortStableFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Op, b.Op))
	})
	for _, findings := range [][]Objection{p.Violations, p.Warnings} {
		slices.SortStableFunc(findings, func(a, b Objection) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code))
		})
	}
	if len(p.Violations) == 0 {
		return
	}
	canReplace := m.in.AllowReplace && slices.ContainsFunc(p.Violations, Objection.isOfData) &&
		!slices.ContainsFunc(p.Violations, func(f Objection) bool {
			return f.Code != CreateOnly && f.Code != CreateOnlyInferred
		})
	p.PutBody, p.MergePatch, p.Body = nil, nil, nil
	p.Action = Blocked
	switch {
	case canReplace && len(m.in.Children) > 0:
		p.Violations = append([]Objection{orphans(m.in.Children)}, p.Violations...)
	case canReplace:
		p.Action = Replace
		p.Body = sendable(m.in.Desired)
	}
}

// Version is the version of the JSON form of a plan. Changes of the form only add to it.
const Version = 1

// MarshalJSON writes a plan without the bodies to send, so that no output has them.
func (p *Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Version    int         `json:"version"`
		Action     Action      `json:"action"`
		Changes    []Change    `json:"changes"`
		Violations []Objection `json:"violations"`
		Warnings   []Objection `json:"warnings"`
	}{Version, p.Action, notNil(p.Changes), notNil(p.Violations), notNil(p.Warnings)})
}

func notNil[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// String returns a plan as text. Its bodies are not shown.
func (p *Plan) String() string {
	var out strings.Builder
	_ = p.WriteText(&out) // a strings.Builder takes everything
	return out.String()
}

// GoString is String: the bodies of a plan are not shown by %#v either.
func (p *Plan) GoString() string { return p.String() }

// WriteJSON writes a plan as JSON, indented.
func (p *Plan) WriteJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// WriteText writes a plan for a terminal: a line for the action, and one for each change and
// finding.
func (p *Plan) WriteText(to io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", p.Action, p.summary())
	for _, c := range p.Changes {
		fmt.Fprintf(&out, "  %s %s  %s\n", sign(c.Op), line(c.Display(), c.From, c.To), sanitize.Line(c.Why()))
	}
	for _, f := range p.Violations {
		fmt.Fprintf(&out, "  ! %s\n", f)
	}
	for _, f := range p.Warnings {
		fmt.Fprintf(&out, "  ? %s\n", f)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// WriteMarkdown writes a plan for a merge request: a table of changes, and a list of findings.
func (p *Plan) WriteMarkdown(to io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s**: %s\n", p.Action, p.summary())
	if len(p.Changes) > 0 {
		out.WriteString("\n| | property | live | wanted | why |\n|---|---|---|---|---|\n")
	}
	for _, c := range p.Changes {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", markdown.Code(sign(c.Op)), markdown.Code(c.Display()),
			code(c.From), code(c.To), markdown.Escape(c.Why()))
	}
	if len(p.Violations)+len(p.Warnings) > 0 {
		out.WriteByte('\n')
	}
	for _, list := range [][]Objection{p.Violations, p.Warnings} {
		for _, f := range list {
			fmt.Fprintf(&out, "- **%s** %s: %s\n", f.Code, markdown.Code(f.Display()), markdown.Escape(f.Explain()))
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

func code(v any) string {
	if v == nil {
		return ""
	}
	return markdown.Code(show(v))
}

// summary says how many changes and findings there are.
func (p *Plan) summary() string {
	out := []string{count(len(p.Changes), "change")}
	if n := len(p.Violations); n > 0 {
		out = append(out, count(n, "violation"))
	}
	if n := len(p.Warnings); n > 0 {
		out = append(out, count(n, "warning"))
	}
	return strings.Join(out, ", ")
}

func count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func sign(op string) string {
	return map[string]string{"add": "+", "remove": "-"}[op] + map[string]string{"replace": "~"}[op]
}

// String returns a finding in a line, such as
// "location: westus → eastus  CREATE_ONLY: changing it means delete and create: …".
func (f Objection) String() string {
	return fmt.Sprintf("%s  %s: %s", line(f.Display(), f.From, f.To), f.Code, sanitize.Line(f.Explain()))
}

// Explain returns the message of a finding, with the ground of the rule and where it stands.
func (f Objection) Explain() string { return f.Message + because(f.Ground, f.Place) }

func line(name string, from, to any) string {
	switch {
	case from != nil && to != nil:
		return fmt.Sprintf("%s: %s → %s", name, show(from), show(to))
	case from != nil:
		return fmt.Sprintf("%s: %s", name, show(from))
	case to != nil:
		return fmt.Sprintf("%s: %s", name, show(to))
	}
	return name
}

// maxShown is the length in bytes up to which a value is shown.
const maxShown = 160

// show returns a value in a line, without quotes where nothing else can be meant.
func show(v any) string {
	text, isText := v.(string)
	if !isText || !isWord(text) {
		text = body.Text(v)
	}
	return sanitize.Line(phrase.Cut(text, maxShown))
}

// isWord reports whether a text cannot be taken for something else than a text.
func isWord(text string) bool {
	switch text {
	case "", "true", "false", "null":
		return false
	}
	for i, r := range text {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '/' || r == '('
		if !isLetter && (i == 0 || r < '-' || r > '9') && r != '_' && r != ')' {
			return false
		}
	}
	return true
}

// Display returns the place of a change for people, such as subnets[name=a].prefix.
func (c Change) Display() string { return display(c.Path, c.Pattern) }

// Display returns the place of a finding for people.
func (f Objection) Display() string { return display(f.Path, f.Pattern) }

func display(path, pattern string) string {
	if path == "" {
		return "the resource"
	}
	var out strings.Builder
	patterns := jsonpointer.Split(pattern)
	for i, part := range jsonpointer.Split(path) {
		switch {
		case i < len(patterns) && patterns[i] == "*" && part != "*":
			out.WriteString("[" + part + "]")
		case out.Len() > 0:
			out.WriteString("." + part)
		default:
			out.WriteString(part)
		}
	}
	return sanitize.Line(out.String())
}

// Why returns the reason of a change in words, with the ground of its rule.
func (c Change) Why() string {
	words := map[Reason]string{
		Desired: "the data changed", Drift: "it is not as it was applied", Removed: "the data have it no longer",
		Cleared: "the data say null", Adopt: "it was never applied", Variant: "only the former variant has it",
		Secret: "it cannot be read back, and is new or changed", Failed: "its last operation failed",
	}[c.Reason]
	return fmt.Sprintf("%s: %s%s", c.Reason, words, because(c.Ground, c.Place))
}

func because(ground, place string) string {
	switch {
	case ground == "":
		return ""
	case place == "":
		return " [" + ground + "]"
	}
	return " [" + ground + ", " + place + "]"
}
