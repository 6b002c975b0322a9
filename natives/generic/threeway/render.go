package threeway

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/generic/body"
)

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
