package queue_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/queue"
)

// A countsCase is a remembered result, and whether it counts.
type countsCase struct {
	Input struct {
		Result struct {
			Attempt           int
			Age, Reuse        string
			Passed, Signed    bool
			Command           string
			Inputs            string
			Image             string
			FailedSince       bool `json:"failed_since"`
			Edited            bool
			Baseline          bool
			OtherMergeRequest bool `json:"other_merge_request"`
			Effects           string
			AlwaysRun         bool `json:"always_run"`
			Native            bool
			Flaky             bool
		}
	}
	Expected struct {
		Counts bool
		Why    string
	}
}

// prose are reasons that the cases write as sentences.
var prose = map[string]queue.Verdict{
	"a failure that base has as well is no pass: it is run again on the new base":        queue.FailedOnBase,
	"no pass comes from the future":                                                      queue.FromFuture,
	"as today: known by its name; a digest is asked for before anything is merged by it": queue.CountsByTag,
}

// Remembered results count as the cases say. A reason of one word is our code.
func TestCountsCases(t *testing.T) {
	shared.Each(t, "merge_counts", func(t *testing.T, c countsCase) {
		in := c.Input.Result
		r := queue.Result{HasPassed: in.Passed, OnBase: in.Baseline, Attempt: in.Attempt, Age: duration(t, in.Age),
			Lasts: duration(t, in.Reuse), IsTrusted: in.Signed, FailedSince: in.FailedSince, IsEdited: in.Edited,
			LacksEffects: in.Effects == "missing", IsAlways: in.AlwaysRun, IsNative: in.Native, IsFlaky: in.Flaky,
			Command: sameness(t, in.Command), Inputs: sameness(t, in.Inputs), Image: sameness(t, in.Image)}
		if !slices.Contains([]string{"", "missing"}, in.Effects) {
			t.Fatalf("effects %q are not understood", in.Effects)
		}
		got := r.Verdict()
		if got.IsPass() != c.Expected.Counts {
			t.Errorf("counts: %v (%s), want %v: %s", got.IsPass(), got, c.Expected.Counts, c.Expected.Why)
		}
		want, isProse := prose[c.Expected.Why]
		if !isProse {
			want = queue.Verdict(c.Expected.Why)
		}
		if want == queue.Flaky && in.Attempt > 1 {
			want = queue.SecondAttempt
		}
		if isCode := !strings.Contains(string(want), " ") && want != ""; isCode && got != want {
			t.Errorf("why %q, want %q", got, want)
		}
	})
}

func sameness(t *testing.T, word string) queue.Sameness {
	t.Helper()
	switch {
	case word == "same", word == "same digest":
		return queue.Same
	case strings.HasPrefix(word, "other"):
		return queue.Other
	case word == "latest":
		return queue.SameName
	case word == "", strings.HasPrefix(word, "with {env."):
		return queue.NotKnown
	}
	t.Fatalf("%q is not understood", word)
	return queue.NotKnown
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A batchCase is a line with what changes write and tasks read, and what is merged.
type batchCase struct {
	Input struct {
		Queue []batchChange
		Red   [][]any // a task, and the changes that make it fail together
	}
	Expected struct {
		Merged  []string
		Dropped map[string]string
		Runs    [][]any // a change, and the tasks of its delta
		Saved   int
	}
}

type batchChange struct {
	ID     string
	Writes []string
	Tasks  map[string][]string
}

// Lines are walked as the cases say: in order, each delta awaited.
func TestBatchCases(t *testing.T) {
	shared.Each(t, "merge_batch", func(t *testing.T, c batchCase) {
		w := newBatch(t, c)
		got := w.merge(t)
		want := batchOutcome{c.Expected.Merged, c.Expected.Dropped, nil, c.Expected.Saved}
		for _, run := range c.Expected.Runs {
			want.runs = append(want.runs, fmt.Sprint(run[0], run[1]))
		}
		if len(got.dropped) == 0 && len(want.dropped) == 0 {
			got.dropped = want.dropped
		}
		if !slices.Equal(got.merged, want.merged) || !reflect.DeepEqual(got.dropped, want.dropped) ||
			!slices.Equal(got.runs, want.runs) || got.saved != want.saved {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

type batchOutcome struct {
	merged  []string
	dropped map[string]string
	runs    []string
	saved   int
}

// A protocolCase is what GitLab, the lease or the state answered, and what is done.
type protocolCase struct {
	Input struct {
		Proven *struct{ Base, Head, Tree string }
		Merge  int
		Word   string `json:"detailed_merge_status"`
		Then   *struct {
			State string
			Tree  string `json:"target_head_tree"`
		}
		Rebase         []any
		Target         string
		TargetPipeline string `json:"target_pipeline"`
		FailedTask     string `json:"failed_task"`
		InputWasProven bool   `json:"input_was_proven"`
		Approvals      string
		Lease          string
		State          string
		SquashOption   string `json:"squash_option"`
	}
	Expected struct {
		Does  []string
		Told  string
		Exit  *int
		Sends map[string]any
	}
}

// Answers of GitLab, the lease and the state are followed by what the cases say.
func TestProtocolCases(t *testing.T) {
	shared.Each(t, "merge_protocol", func(t *testing.T, c protocolCase) {
		if sends := c.Expected.Sends; sends != nil {
			call := proven(c).Call(c.Input.SquashOption)
			got := map[string]any{"sha": call.SHA}
			if call.Squash {
				got["squash"] = true
			}
			if !reflect.DeepEqual(got, sends) {
				t.Errorf("sends %v, want %v", got, sends)
			}
		}
		if c.Expected.Does == nil && c.Expected.Exit == nil {
			return
		}
		a := answered(t, c)
		var got []string
		for _, m := range a.Does {
			got = append(got, spoken(t, m))
		}
		if !slices.Equal(got, c.Expected.Does) {
			t.Errorf("does %q, want %q", got, c.Expected.Does)
		}
		if c.Expected.Told != "" && a.Told != c.Expected.Told {
			t.Errorf("told %q, want %q", a.Told, c.Expected.Told)
		}
		if exit := c.Expected.Exit; (exit != nil) != a.IsEnd || exit != nil && *exit != a.Status {
			t.Errorf("ends: %v with %d, want %v", a.IsEnd, a.Status, exit)
		}
	})
}

func proven(c protocolCase) queue.Proven {
	p := c.Input.Proven
	return queue.Proven{Pair: queue.Pair{Head: p.Head, Base: p.Base}, Tree: p.Tree}
}

// answered returns the row of the protocol that a case is about.
func answered(t *testing.T, c protocolCase) queue.Reaction {
	t.Helper()
	in := c.Input
	switch {
	case in.State != "":
		if !slices.Contains([]string{"error", "damaged", "newer"}, in.State) {
			t.Fatalf("the state %q is not understood", in.State)
		}
		return queue.WithoutState()
	case in.Lease != "":
		var silent int
		who, rest, _ := strings.Cut(in.Lease, ", ")
		if _, err := fmt.Sscanf(rest, "%d s old", &silent); err != nil || who != "other" {
			t.Fatalf("the lease %q is not understood", in.Lease)
		}
		return queue.Begin(queue.Claim{IsHeld: true, Silent: time.Duration(silent) * time.Second})
	case in.TargetPipeline != "":
		return queue.AfterTarget(queue.TargetRun{Task: in.FailedTask, HasFailed: in.TargetPipeline == "failed",
			WasProven: in.InputWasProven})
	case in.Rebase != nil:
		return proven(c).AfterRebase(rebased(t, in.Rebase))
	case in.Target != "" || in.Approvals != "":
		return proven(c).Before(moment(t, c))
	}
	a := queue.MergeReply{Code: in.Merge, Word: in.Word}
	if in.Then != nil {
		a.Then = &queue.After{State: in.Then.State, TargetTree: in.Then.Tree}
	}
	return proven(c).AfterMerge(a)
}

// moment returns what is read right before a merge.
func moment(t *testing.T, c protocolCase) queue.Moment {
	t.Helper()
	p := c.Input.Proven
	m := queue.Moment{Target: p.Base, Head: p.Head, IsApproved: true}
	switch target := c.Input.Target; {
	case strings.HasPrefix(target, "not a descendant of "):
		m.Target = "another"
	case target != "":
		m.Target, m.IsDescendant = target, true
	}
	switch c.Input.Approvals {
	case "":
	case "changed":
		m.IsApproved = false
	default:
		t.Fatalf("the approvals %q are not understood", c.Input.Approvals)
	}
	return m
}

// rebased returns what GitLab answered to a rebase.
func rebased(t *testing.T, all []any) queue.RebaseReply {
	t.Helper()
	code, _ := all[0].(float64)
	out := queue.RebaseReply{Code: int(code)}
	for _, one := range all[1:] {
		poll := queue.RebasePoll{IsUnderWay: one == "in progress"}
		if of, isObject := one.(map[string]any); isObject {
			for word, value := range of {
				text, _ := value.(string)
				switch word {
				case "head":
					poll.Head = text
				case "tree":
					poll.Tree = text
				case "merge_error":
					poll.Error = text
				default:
					t.Fatalf("%q of a rebase is not understood", word)
				}
			}
		} else if !poll.IsUnderWay {
			t.Fatalf("%v of a rebase is not understood", one)
		}
		out.Polls = append(out.Polls, poll)
	}
	return out
}

// said are the steps as the cases write them.
var said = map[queue.Step]string{queue.Record: "record", queue.Next: "next",
	queue.ForgetProof: "forget what was proven",
	queue.LookAgain:   "look again", queue.PublishProof: "publish the proof as the status of the head",
	queue.MergeOnce: "merge again once", queue.AskAgain: "ask again, at most a minute",
	queue.MergeAgain: "merge again, at most 3 times", queue.ReadRequest: "read the merge request", queue.Stop: "stop",
	queue.Hold: "hold", queue.Poll: "poll", queue.Merge: "merge", queue.PlanOn: "plan on",
	queue.MergeIfHolds: "merge only what holds there", queue.DropProofs: "drop all that was proven", queue.Tell: "tell",
	queue.BeginAgain: "begin again", queue.TellFalseHold: "tell as a false hold", queue.GoOn: "go on",
	queue.WaitForTheTurn: "wait", queue.MergeNothing: "merge nothing", queue.TakeTheBranch: "take the branch",
	queue.LeaveAsItIs: "leave as it is"}

func spoken(t *testing.T, m queue.Move) string {
	t.Helper()
	switch m.Step {
	case queue.DistrustTask:
		return "pause tasks of " + m.Of + " as proof"
	case queue.AlwaysRunTask:
		return "go on with " + m.Of + " always run"
	}
	text := said[m.Step]
	if text == "" {
		t.Fatalf("nobody wrote down how the cases say %q", m.Step)
	}
	if m.Of != "" {
		text += " " + m.Of
	}
	return text
}
