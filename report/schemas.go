package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

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
