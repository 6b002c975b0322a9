package decision_test

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/decision"
)

// A word may name the commit that was read.
func TestApprovalOfACommit(t *testing.T) {
	for body, want := range map[string]string{"/lgtm 1a2b3c4": "1a2b3c4", "/lgtm now": "none", "/lgtm 1a2b3c": "none",
		"/lgtm 1A2B3C4": "none", "/lgtm": ""} {
		got := "none"
		for _, w := range decision.Words([]decision.Comment{{By: "ann", Body: body}}) {
			got = w.Commit
		}
		if got != want {
			t.Errorf("%q names %q, want %q", body, got, want)
		}
	}
}

// A huge comment has a bounded number of words, and takes little time.
func TestHugeComment(t *testing.T) {
	start := time.Now()
	words := decision.Words([]decision.Comment{{By: "ann", Body: strings.Repeat("/lgtm\n", 200_000)}})
	if len(words) > 1000 || time.Since(start) > time.Second {
		t.Errorf("%d words in %s", len(words), time.Since(start))
	}
}

// FuzzWords holds that a word is a line of its own.
func FuzzWords(f *testing.F) {
	f.Add("/lgtm\r\n> /hold\n /hold cancel \n```\n/lgtm 1a2b3c4\n```")
	f.Fuzz(func(t *testing.T, body string) {
		for _, w := range decision.Words([]decision.Comment{{By: "ann", Body: body}}) {
			text := strings.TrimSpace(string(w.Command) + " " + w.Commit)
			isLine := false
			for line := range strings.SplitSeq(body, "\n") {
				isLine = isLine || strings.TrimSpace(line) == text
			}
			if !isLine {
				t.Errorf("%q has no line %q", body, text)
			}
		}
	})
}
