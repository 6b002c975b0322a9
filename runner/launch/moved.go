package launch

import (
	"strings"

	"github.com/app-sre/prcheck/runner/place"
)

// pathEnds are the bytes that may follow a path in a word or in the value of a variable.
const pathEnds = "/:;,= \t\n\"'"

// moved returns a text in which the root of the checkout is replaced by the folder that stands
// for it, where it is a whole path or the beginning of one.
func moved(text string, at place.Place) string {
	if at.From == at.Root || len(at.From) < 2 || !strings.Contains(text, at.From) {
		return text
	}
	var out strings.Builder
	for {
		i := strings.Index(text, at.From)
		if i < 0 {
			return out.String() + text
		}
		rest := text[i+len(at.From):]
		begins := i == 0 || strings.IndexByte(pathEnds[1:]+"@", text[i-1]) >= 0
		ends := rest == "" || strings.IndexByte(pathEnds, rest[0]) >= 0
		out.WriteString(text[:i])
		if begins && ends {
			out.WriteString(at.Root)
		} else {
			out.WriteString(at.From)
		}
		text = rest
	}
}

// movedAll returns texts with the root of the checkout replaced.
func movedAll(texts []string, at place.Place) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = moved(t, at)
	}
	return out
}
