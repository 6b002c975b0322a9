package queue_test

import (
	"testing"
	"time"

	"github.com/app-sre/prcheck/queue"
)

var ours = queue.Proven{Pair: queue.Pair{Head: "h", Base: "b"}, Tree: "t"}

// No answer to a merge but a good one, or what was read since, lets anything be recorded as merged.
func TestAfterMerge(t *testing.T) {
	read := func(state, tree string) *queue.After { return &queue.After{State: state, TargetTree: tree} }
	other := read("merged", "t")
	other.IsOther = true
	for name, c := range map[string]struct {
		answer queue.MergeReply
		want   queue.Step
		ends   bool
	}{
		"200":                       {queue.MergeReply{Code: 200}, queue.Record, false},
		"no answer":                 {queue.MergeReply{}, queue.ReadRequest, false},
		"502":                       {queue.MergeReply{Code: 502}, queue.ReadRequest, false},
		"408":                       {queue.MergeReply{Code: 408}, queue.ReadRequest, false},
		"401":                       {queue.MergeReply{Code: 401}, queue.Stop, true},
		"403":                       {queue.MergeReply{Code: 403}, queue.Stop, true},
		"404":                       {queue.MergeReply{Code: 404}, queue.Hold, false},
		"409":                       {queue.MergeReply{Code: 409}, queue.ForgetProof, false},
		"422":                       {queue.MergeReply{Code: 422}, queue.Hold, false},
		"418":                       {queue.MergeReply{Code: 418}, queue.Hold, false},
		"429":                       {queue.MergeReply{Code: 429}, queue.AskAgain, false},
		"405 conflict":              {queue.MergeReply{Code: 405, Word: "conflict"}, queue.Hold, false},
		"405 of next year":          {queue.MergeReply{Code: 405, Word: "moon_phase"}, queue.Hold, false},
		"405 and mergeable":         {queue.MergeReply{Code: 405, Word: "mergeable"}, queue.AskAgain, false},
		"405 for ever":              {queue.MergeReply{Code: 405, Word: "mergeable", Tries: 2}, queue.Hold, false},
		"no status, published":      {queue.MergeReply{Code: 405, Word: "ci_must_pass", Published: true}, queue.Hold, false},
		"lost, then merged":         {queue.MergeReply{Then: read("merged", "t")}, queue.Record, false},
		"lost, then another tree":   {queue.MergeReply{Then: read("merged", "x")}, queue.Stop, true},
		"lost, then no tree":        {queue.MergeReply{Then: read("merged", "")}, queue.Stop, true},
		"200, then another tree":    {queue.MergeReply{Code: 200, Then: read("merged", "x")}, queue.Stop, true},
		"lost, then by others":      {queue.MergeReply{Then: other}, queue.LeaveAsItIs, false},
		"lost, then closed":         {queue.MergeReply{Then: read("closed", "")}, queue.LeaveAsItIs, false},
		"lost, then open":           {queue.MergeReply{Then: read("opened", "")}, queue.MergeAgain, false},
		"lost for the third time":   {queue.MergeReply{Tries: 2, Then: read("opened", "")}, queue.Hold, false},
		"200, and still it is open": {queue.MergeReply{Code: 200, Then: read("opened", "")}, queue.Hold, false},
	} {
		got := ours.AfterMerge(c.answer)
		mayRecord := c.want == queue.Record || c.want == queue.Stop
		if !got.Has(c.want) || got.IsEnd != c.ends || !mayRecord && got.Has(queue.Record) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// One thing that is not as it was keeps a merge from being sent.
func TestBefore(t *testing.T) {
	good := queue.Moment{Target: "b", Head: "h", IsApproved: true, Word: "need_rebase"}
	for name, c := range map[string]struct {
		change func(*queue.Moment)
		want   queue.Step
	}{
		"all as it was":         {func(*queue.Moment) {}, queue.Merge},
		"no target":             {func(m *queue.Moment) { m.Target = "" }, queue.MergeNothing},
		"the target went on":    {func(m *queue.Moment) { m.Target, m.IsDescendant = "b2", true }, queue.PlanOn},
		"the target was reset":  {func(m *queue.Moment) { m.Target = "b2" }, queue.DropProofs},
		"a push":                {func(m *queue.Moment) { m.Head = "h2" }, queue.ForgetProof},
		"another branch":        {func(m *queue.Moment) { m.OtherTarget = true }, queue.LeaveAsItIs},
		"no approval":           {func(m *queue.Moment) { m.IsApproved = false }, queue.Hold},
		"a draft":               {func(m *queue.Moment) { m.IsDraft = true }, queue.Hold},
		"a hold label":          {func(m *queue.Moment) { m.IsHeld = true }, queue.Hold},
		"a word nobody knows":   {func(m *queue.Moment) { m.Word = "moon_phase" }, queue.Hold},
		"trains":                {func(m *queue.Moment) { m.TrainsOn = true }, queue.Stop},
		"merge commits":         {func(m *queue.Moment) { m.CannotCompare = true }, queue.OnlyShow},
		"merge commits, on own": {func(m *queue.Moment) { m.CannotCompare, m.AcceptsTheRace = true, true }, queue.Merge},
	} {
		m := good
		c.change(&m)
		if got := ours.Before(m); !got.Has(c.want) || c.want != queue.Merge && got.Has(queue.Merge) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	if got := ours.Before(queue.Moment{}); got.Has(queue.Merge) {
		t.Errorf("nothing was read, and it merges: %+v", got)
	}
}

// A rebase is merged only if its end was seen, with the proven tree.
func TestAfterRebase(t *testing.T) {
	under, end := queue.RebasePoll{IsUnderWay: true}, queue.RebasePoll{Head: "h2", Tree: "t"}
	polled := func(polls ...queue.RebasePoll) queue.RebaseReply { return queue.RebaseReply{Code: 202, Polls: polls} }
	long := make([]queue.RebasePoll, 500)
	for i := range long {
		long[i] = under
	}
	for name, c := range map[string]struct {
		answer queue.RebaseReply
		want   queue.Step
	}{
		"good":           {polled(end), queue.Merge},
		"a while":        {polled(under, end), queue.Merge},
		"lost":           {queue.RebaseReply{Polls: []queue.RebasePoll{{Head: "h2", Tree: "t"}}}, queue.Merge},
		"not yet":        {polled(), queue.Poll},
		"under way":      {polled(under), queue.Poll},
		"never":          {polled(long...), queue.Hold},
		"another tree":   {polled(queue.RebasePoll{Head: "h2", Tree: "x"}), queue.ForgetProof},
		"no tree":        {polled(queue.RebasePoll{Head: "h2"}), queue.ForgetProof},
		"no head":        {polled(queue.RebasePoll{Tree: "t"}), queue.ForgetProof},
		"a conflict":     {polled(queue.RebasePoll{Error: "Rebase failed"}), queue.Hold},
		"a fork":         {queue.RebaseReply{Code: 403}, queue.Hold},
		"no rights":      {queue.RebaseReply{Code: 401}, queue.Stop},
		"gone":           {queue.RebaseReply{Code: 404}, queue.Hold},
		"not queued":     {queue.RebaseReply{Code: 409}, queue.LookAgain},
		"too many":       {queue.RebaseReply{Code: 429}, queue.AskAgain},
		"something else": {queue.RebaseReply{Code: 418}, queue.Hold},
	} {
		if got := ours.AfterRebase(c.answer); !got.Has(c.want) || c.want != queue.Merge && got.Has(queue.Merge) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// A loop acts only if it owns the branch, and takes it from nobody who lives.
func TestBegin(t *testing.T) {
	for name, c := range map[string]struct {
		claim queue.Claim
		want  queue.Step
	}{
		"ours":         {queue.Claim{IsOurs: true}, queue.GoOn},
		"nobody's":     {queue.Claim{}, queue.TakeTheBranch},
		"another's":    {queue.Claim{IsHeld: true, Silent: 59 * time.Second}, queue.WaitForTheTurn},
		"a dead one's": {queue.Claim{IsHeld: true, Silent: time.Minute}, queue.TakeTheBranch},
	} {
		if got := queue.Begin(c.claim); !got.Has(c.want) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	if got := queue.WithoutState(); !got.IsEnd || got.Status != 3 || got.Has(queue.Merge) {
		t.Errorf("without the state: %+v", got)
	}
	if got := queue.AfterTarget(queue.TargetRun{Task: "x"}); !got.Has(queue.GoOn) || got.Has(queue.DistrustTask) {
		t.Errorf("a task that passed: %+v", got)
	}
}
