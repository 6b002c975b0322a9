package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

const beyondNote = "the answers depend on these schemas, so changes of their files select the integration from now on; allow the schemas, or say schemas: strict"

// reachingBeyond returns the integrations whose answers depend on schemas that their
// definitions do not allow.
func reachingBeyond(all []plan.Observed) []plan.Observed {
	var out []plan.Observed
	for _, o := range all {
		if len(o.Beyond) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// writeBeyond shows which integrations depend on schemas that they may not read.
func (t *text) writeBeyond(all []plan.Observed) {
	list := reachingBeyond(all)
	if len(list) == 0 {
		return
	}
	t.printHeading("Not allowed, but depended on (%d)", len(list))
	var rows table
	for _, o := range list[:min(len(list), maxUnread)] {
		rows = append(rows, []cell{{text: cleanLine(o.Integration)}, numberCell(fmt.Sprint(len(o.Beyond))), {text: cleanLine(listSchemas(o.Beyond))}})
	}
	rows.writeTo(&t.out, t.style, "  ")
	if len(list) > maxUnread {
		t.printLine("  and %d more integrations", len(list)-maxUnread)
	}
	t.printLine("  (%s)", beyondNote)
}

// writeBeyond is the same, folded.
func (m *markdown) writeBeyond(all []plan.Observed) {
	list := reachingBeyond(all)
	if len(list) == 0 {
		return
	}
	end := m.startFold("Not allowed, but depended on (%d)", len(list))
	for _, o := range list[:min(len(list), maxUnread)] {
		m.printLine("- %s: %s", codeSpan(o.Integration), escapeMarkdown(listSchemas(o.Beyond)))
	}
	if len(list) > maxUnread {
		m.printLine("- and %d more integrations", len(list)-maxUnread)
	}
	m.printLine("\n%s.", strings.ToUpper(beyondNote[:1])+beyondNote[1:])
	end()
}
