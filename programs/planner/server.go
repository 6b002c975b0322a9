package planner

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/report"
)

// addServerFlag adds the flag that names a server to be asked beside the embedded engine.
func addServerFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "server", "", "http://HOST:PORT of a running qontract-server that has loaded both "+
		"bundle files: it is asked each query on which a skip rests, and its answers are compared (default: none is asked)")
}

// maxTold is how many differences and reasons for silence the text shows.
const maxTold = 5

// writeAnswers writes how a server answered: the numbers, the first differences with what was
// asked, and why questions were not answered.
func writeAnswers(w io.Writer, a *peer.Answers) error {
	if _, err := fmt.Fprintf(w, "server %s: %s\n", a.Server, a.Numbers()); err != nil {
		return err
	}
	for _, d := range a.Differences[:min(len(a.Differences), maxTold)] {
		if _, err := fmt.Fprintf(w, "different: %s\n  asked: %s\n", report.Printable(d.Sentence()),
			report.Printable(d.Text)); err != nil {
			return err
		}
	}
	if more := a.Different - maxTold; more > 0 {
		if _, err := fmt.Fprintf(w, "different: %d more\n", more); err != nil {
			return err
		}
	}
	for _, s := range a.Silences[:min(len(a.Silences), maxTold)] {
		if _, err := fmt.Fprintf(w, "not asked: %d on %s: %s\n", s.Questions, s.Side, report.Printable(s.Why)); err != nil {
			return err
		}
	}
	return nil
}

// unasked returns the error for questions that a server did not answer; nil when there are none.
func unasked(a *peer.Answers) error {
	if a == nil || a.NotAsked == 0 {
		return nil
	}
	return fmt.Errorf("%s did not answer %d of %d questions, so what rests on them is not proven: %s", a.Server,
		a.NotAsked, a.NotAsked+a.Asked, a.Silences[0].Why)
}

// progressEvery is how often it is told how many questions were sent.
const progressEvery = 5 * time.Second

// tellProgress returns a function that tells from time to time, by a clock, how many questions were
// sent. The time begins with the first one.
func tellProgress(w io.Writer, clock func() time.Time) func(asked int) {
	var last time.Time
	return func(asked int) {
		switch now := clock(); {
		case last.IsZero():
			last = now
		case now.Sub(last) >= progressEvery:
			last = now
			_, _ = fmt.Fprintf(w, "planner: questions to the server so far: %d\n", asked) // only progress
		}
	}
}
