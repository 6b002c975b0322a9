package promotions

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// showFiles prints, in a dry run, how the files of each merge request would differ from main. It reads files of the
// forge, and nothing else. Without a forge it says so: what would be promoted is known all the same.
func (w *work) showFiles(ctx context.Context) {
	for _, c := range w.components {
		k := &keeper{settings: w.settings, forge: w.forge, now: w.now, branch: c.branch, memory: w.remembered[c.branch]}
		k.wants, _ = w.wants(c, nil, k.memory)
		entries := k.choose()
		if k.halves != nil {
			entries = k.wants
		}
		r, err := k.render(ctx, entries)
		if err != nil {
			w.say(fmt.Sprintf("how %s would change is not known: %v", strings.Join(c.files, ", "), err))
			continue
		}
		for _, err := range r.dropped {
			w.say(err.Error())
		}
		for i, change := range r.changes {
			w.say("--- " + change.Path)
			for _, line := range diff(string(r.before[i]), string(change.Content)) {
				_, _ = fmt.Fprintln(w.env.Log, sanitize.Text(line)) // the log takes everything
			}
		}
	}
}

// diff returns how a text differs from another one: each group of lines that differ, under its line in the old text.
// Edits of saas files replace and add lines, so the next line that both have ends a group.
func diff(before, after string) []string {
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	var out []string
	for i, j := 0, 0; i < len(old) || j < len(now); {
		if i < len(old) && j < len(now) && old[i] == now[j] {
			i, j = i+1, j+1
			continue
		}
		n, m := apart(old[i:], now[j:])
		out = append(out, fmt.Sprintf("@@ line %d", i+1))
		for _, line := range old[i : i+n] {
			out = append(out, "-"+strings.TrimRight(line, "\r\n"))
		}
		for _, line := range now[j : j+m] {
			out = append(out, "+"+strings.TrimRight(line, "\r\n"))
		}
		i, j = i+n, j+m
	}
	return out
}

// apart returns how many lines of two texts come before the next lines that are the same, as few as possible.
func apart(old, now []string) (n, m int) {
	for sum := 1; sum <= len(old)+len(now); sum++ {
		for n := max(0, sum-len(now)); n <= min(sum, len(old)); n++ {
			m := sum - n
			isEnd := n == len(old) && m == len(now)
			if isEnd || n < len(old) && m < len(now) && old[n] == now[m] {
				return n, m
			}
		}
	}
	return len(old), len(now)
}
