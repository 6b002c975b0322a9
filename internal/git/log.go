package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Step is a commit of a branch and the one before it, which for a merge is what the branch was.
type Step struct {
	Hash, Parent string
	Made         time.Time // in the zone of whoever made the commit
	Message      string
}

// Steps returns the commits after one commit and up to this one on the way of first parents, newest first. Its error
// says that there are more than limit, or that the clone lacks some of them.
func (c *Commit) Steps(ctx context.Context, after string, limit int) ([]Step, error) {
	out, err := runLong(ctx, c.dir, "log", "-z", "--first-parent", "--format=%H%n%P%n%cI%n%B",
		"--max-count="+strconv.Itoa(limit+1), "--end-of-options", c.hash, "^"+after)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for text := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		parts := strings.SplitN(text, "\n", 4)
		if len(parts) < 4 {
			continue
		}
		s := Step{Hash: parts[0], Message: parts[3]}
		s.Parent, _, _ = strings.Cut(parts[1], " ")
		if s.Made, err = time.Parse(time.RFC3339, parts[2]); err != nil {
			return nil, fmt.Errorf("commit %s: its date %q cannot be read", Short(s.Hash), parts[2])
		}
		if s.Parent == "" {
			return nil, fmt.Errorf("commit %s has nothing before it: the clone lacks the history after %s; fetch more of it",
				Short(s.Hash), Short(after))
		}
		steps = append(steps, s)
	}
	if len(steps) > limit {
		return nil, fmt.Errorf("there are more than %d commits after %s: begin later", limit, Short(after))
	}
	return steps, nil
}
