package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// Bounds of the list of schemas that were not read.
const (
	maxUnread  = 20 // integrations
	maxSchemas = 3  // schemas of each integration
)

// selectUnread returns the integrations that ran in full and did not read all the
// schemas that they may read.
func selectUnread(all []plan.Observed) []plan.Observed {
	var out []plan.Observed
	for _, o := range all {
		if len(o.Unread) > 0 && !o.Partial {
			out = append(out, o)
		}
	}
	return out
}

// listSchemas returns the names of the first few schemas of a list.
func listSchemas(list []string) string {
	if len(list) <= maxSchemas {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxSchemas], ", "), len(list)-maxSchemas)
}

// unreadNote explains why unread schemas matter.
const unreadNote = "narrower schemas make an integration run less often; planner suggest writes them down"

// writeUnread writes which integrations may read schemas that they did not read.
func (t *text) writeUnread(all []plan.Observed) {
	list := selectUnread(all)
	if len(list) == 0 {
		return
	}
	t.printHeading("Allowed, but not read (%d)", len(list))
	var rows table
	for i, o := range list {
		if i == maxUnread {
			break
		}
		rows = append(rows, []cell{{text: cleanLine(o.Integration)}, numberCell(fmt.Sprint(len(o.Unread))), {text: cleanLine(listSchemas(o.Unread))}})
	}
	rows.writeTo(&t.out, t.style, "  ")
	if len(list) > maxUnread {
		t.printLine("  and %d more integrations", len(list)-maxUnread)
	}
	t.printLine("  (%s)", unreadNote)
}

// writeUnread writes which integrations may read schemas that they did not read,
// folded.
func (m *markdown) writeUnread(all []plan.Observed) {
	list := selectUnread(all)
	if len(list) == 0 {
		return
	}
	end := m.startFold("Allowed, but not read (%d)", len(list))
	for i, o := range list {
		if i == maxUnread {
			m.printLine("- and %d more integrations", len(list)-maxUnread)
			break
		}
		m.printLine("- %s: %s", codeSpan(o.Integration), escapeMarkdown(listSchemas(o.Unread)))
	}
	m.printLine("\n%s.", strings.ToUpper(unreadNote[:1])+unreadNote[1:])
	end()
}
