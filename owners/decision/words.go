package decision

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Command is what a person may write.
type Command string

// The commands. OKToTest must be the whole comment.
const (
	Approve       Command = "/lgtm"
	CancelApprove Command = "/lgtm cancel"
	Hold          Command = "/hold"
	CancelHold    Command = "/hold cancel"
	OKToTest      Command = "/ok-to-test"
)

// A Comment is a text that somebody wrote at a time.
type Comment struct {
	By   string
	Body string
	At   time.Time
}

// A Word is a command in a comment.
type Word struct {
	By      string
	Command Command
	Commit  string // that /lgtm names, as it was written; or ""
	At      time.Time
}

// approveCommit matches an approval of a commit.
var approveCommit = regexp.MustCompile(`^/lgtm ([0-9a-f]{7,64})$`)

// maxWords bounds the words of one comment.
const maxWords = 1000

// Words returns the words of comments in the order of time. Comments of one time stay in their order.
func Words(comments []Comment) []Word {
	comments = slices.Clone(comments)
	slices.SortStableFunc(comments, func(a, b Comment) int { return a.At.Compare(b.At) })
	var out []Word
	for _, c := range comments {
		n := 0
		for line := range strings.SplitSeq(c.Body, "\n") {
			command, commit := read(strings.TrimSpace(line))
			if command != "" && n < maxWords {
				out = append(out, Word{c.By, command, commit, c.At})
				n++
			}
		}
		if strings.TrimSpace(c.Body) == string(OKToTest) {
			out = append(out, Word{c.By, OKToTest, "", c.At})
		}
	}
	return out
}

// read returns the command of a line, "" if it has none.
func read(line string) (command Command, commit string) {
	if m := approveCommit.FindStringSubmatch(line); m != nil {
		return Approve, m[1]
	}
	switch c := Command(line); c {
	case Approve, CancelApprove, Hold, CancelHold:
		return c, ""
	}
	return "", ""
}
