package forge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/ci"
)

// A note is the note of a merge request: its marker with a number that grows, and a text.
type note struct {
	tool       string
	generation int64
	text       string
}

var _ ci.Note = note{}

// Marker implements [ci.Note].
func (n note) Marker() string { return "<!-- prcheck-owners:" + n.tool + " " }

// Generation implements [ci.Note].
func (n note) Generation(body string) (int64, bool) {
	generation, _, ok := n.read(body)
	return generation, ok
}

// Body implements [ci.Note].
func (n note) Body(string) (string, error) {
	return fmt.Sprintf("%s%d -->\n%s", n.Marker(), n.generation, n.text), nil
}

// read returns the number and the text of a body.
func (n note) read(body string) (generation int64, text string, ok bool) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(body, "\r\n", "\n"), n.Marker())
	word, text, isClosed := strings.Cut(rest, " -->\n")
	generation, err := strconv.ParseInt(word, 10, 64)
	if !ok || !isClosed || err != nil || generation < 0 {
		return 0, "", false
	}
	return generation, strings.TrimSpace(text) + "\n", true
}

// readNote returns the text of the note, "" if there is none. Of several it is one that no decision has, so that one of
// them is kept.
func (f *Forge) readNote(notes []ci.DiscussionNote) string {
	text, found := "", 0
	f.generation = 0
	for _, n := range notes {
		if n.IsSystem || !n.IsOwn || !strings.HasPrefix(n.Body, note{tool: f.Tool}.Marker()) {
			continue
		}
		generation, shown, _ := note{tool: f.Tool}.read(n.Body)
		f.generation, text = max(f.generation, generation), shown
		found++
	}
	if found > 1 {
		return ""
	}
	return text
}
