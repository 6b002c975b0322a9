package comparison

import (
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// WriteText writes a comparison for people.
func WriteText(w io.Writer, c Comparison) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s alike, %d not.\n", phrase.Count(c.Alike, "place"), len(c.Disagreements))
	for _, d := range c.Disagreements {
		fmt.Fprintf(&out, "\n%s %s (%s)\n", sanitize.Line(d.File), sanitize.Line(d.Place), d.Code)
		fmt.Fprintf(&out, "  prcheck        %s\n", d.Ours)
		fmt.Fprintf(&out, "  change-owners  %s\n", d.Theirs)
		fmt.Fprintf(&out, "  our rule       %s\n", d.Rule)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// String says what a side says, for people.
func (s *Side) String() string {
	if s == nil {
		return "does not ask"
	}
	text := "nobody may approve it"
	if len(s.People) > 0 {
		text = strings.Join(s.People, ", ")
	}
	if s.Status != "" {
		text += " (" + s.Status + ")"
	}
	return sanitize.Line(text + " at " + s.Place)
}
