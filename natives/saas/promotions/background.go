package promotions

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
)

// maxLinks is how many commits of a promotion a merge request lists.
const maxLinks = 10

// linkable matches the address of a repository that can stand in a link of Markdown.
var linkable = lazyregexp.New(`^https://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~-]+)+$`)

// background returns what a promotion brings, for its merge request: where its changes can be read, its commits, and
// for how long it ran at the publishers.
func (w *work) background(e entry) []string {
	s := w.subscriberOf(e)
	if s == nil || w.isNotes(s, e) {
		return nil
	}
	url := strings.TrimSuffix(strings.TrimSuffix(s.target().Template.URL, "/"), ".git")
	hasLinks := linkable.MatchString(url)
	var out []string
	if hasLinks {
		out = append(out, fmt.Sprintf("[compare %.12s...%.12s](%s/compare/%s...%s)", s.q.Ref, e.Ref, url, s.q.Ref, e.Ref))
	}
	if all := s.q.Commits(e.Ref); len(all) > 0 {
		var names []string
		for _, c := range all[:min(len(all), maxLinks)] {
			name := code(fmt.Sprintf("%.12s", c))
			if hasLinks {
				name = fmt.Sprintf("[%s](%s/commit/%s)", name, url, c)
			}
			names = append(names, name)
		}
		if more := len(all) - maxLinks; more > 0 {
			names = append(names, fmt.Sprintf("and %d older", more))
		}
		out = append(out, phrase.Count(len(all), "commit")+": "+strings.Join(names, ", "))
	}
	if ran := s.q.Soaked(e.Ref); len(ran) > 0 {
		out = append(out, "it ran "+code(strings.Join(ran, ", ")))
	}
	return out
}
