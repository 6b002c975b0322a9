package queue

import (
	"slices"
	"time"
)

// A Proven is what may be merged: a head whose tree was proven on a base.
type Proven struct {
	Pair
	Tree string `json:"tree"`
}

// A Step is one thing that the queue does.
type Step string

// The steps.
const (
	Record         Step = "record"           // that it was merged
	Next           Step = "next"             // go on with the next request
	ForgetProof    Step = "forget_proof"     // what was proven about this request
	LookAgain      Step = "look_again"       // at this request, in the next walk
	PublishProof   Step = "publish_proof"    // as a status of the head
	MergeOnce      Step = "merge_once"       // once more
	AskAgain       Step = "ask_again"        // at most a minute
	MergeAgain     Step = "merge_again"      // at most three times
	ReadRequest    Step = "read_request"     // to find out what happened
	Stop           Step = "stop"             // the loop ends
	Hold           Step = "hold"             // the request waits for a person
	Poll           Step = "poll"             // until the rebase ended
	Merge          Step = "merge"            // Of: the head
	PlanOn         Step = "plan_on"          // Of: the base
	MergeIfHolds   Step = "merge_if_holds"   // merge only what holds there
	DropProofs     Step = "drop_proofs"      // all that was proven
	Tell           Step = "tell"             // in the log and the metrics
	BeginAgain     Step = "begin_again"      // with an empty record
	DistrustTask   Step = "distrust_task"    // Of: the task; its results are no proof until somebody confirms
	TellFalseHold  Step = "tell_false_hold"  // a result held that should not have
	AlwaysRunTask  Step = "always_run_task"  // Of: the task
	GoOn           Step = "go_on"            // as if nothing was
	WaitForTheTurn Step = "wait_for_turn"    // another loop owns the branch
	MergeNothing   Step = "merge_nothing"    // in this loop
	TakeTheBranch  Step = "take_the_branch"  // with a greater fencing number
	LeaveAsItIs    Step = "leave_as_it_is"   // somebody else decided
	OnlyShow       Step = "only_show_states" // the table, nothing is merged
)

// A Move is a step and what it is about.
type Move struct {
	Step Step   `json:"step"`
	Of   string `json:"of,omitempty"` // a head, a base or a task
}

// A Reaction is what the queue does after something happened, what people are told about the request, and whether the
// loop ends.
type Reaction struct {
	Does   []Move `json:"does"`
	Told   string `json:"told,omitempty"`
	IsEnd  bool   `json:"is_end,omitempty"` // of this run of the loop
	Status int    `json:"status,omitempty"` // with which it ends
}

func does(steps ...Step) Reaction {
	var a Reaction
	for _, s := range steps {
		a.Does = append(a.Does, Move{Step: s})
	}
	return a
}

func (a Reaction) of(i int, what string) Reaction {
	a.Does[i].Of = what
	return a
}

func (a Reaction) telling(text string) Reaction {
	a.Told = text
	return a
}

func (a Reaction) ending(status int) Reaction {
	a.IsEnd, a.Status = true, status
	return a
}

// exitTrouble is the exit code of a loop that could not do its work.
const exitTrouble = 3

// A wordKind is what a detailed merge status of GitLab means for the queue.
type wordKind int

const (
	ready405   wordKind = iota // nothing is in the way
	later405                   // GitLab is still finding out
	rebase405                  // the target moved
	proof405                   // it wants a status of the head
	busy405                    // a pipeline of the head runs, though none was asked for
	holding405                 // a person or a rule is in the way; also all words that nobody knows
)

// words are the words of GitLab's detailed_merge_status that do not hold a request. All others do.
var words = map[string]wordKind{"": ready405, "mergeable": ready405, "checking": later405, "unchecked": later405,
	"preparing": later405, "approvals_syncing": later405, "need_rebase": rebase405, "ci_must_pass": proof405,
	"ci_still_running": busy405}

func wordOf(word string) wordKind {
	kind, isKnown := words[word]
	if !isKnown {
		return holding405
	}
	return kind
}

// A MergeCall is what is sent to merge a proven head.
type MergeCall struct {
	SHA    string
	Squash bool
}

// Call returns how a proven head is merged. squashOption is that of the project.
func (p Proven) Call(squashOption string) MergeCall {
	return MergeCall{SHA: p.Head, Squash: squashOption == "always"}
}

// A MergeReply is what GitLab answered to a merge, and what was found out since.
type MergeReply struct {
	Code      int    // of HTTP; 0 is no answer
	Word      string // detailed_merge_status, read after a refusal
	Tries     int    // how often it was sent before
	Published bool   // the proof is a status of the head
	Then      *After // nil if nobody read the merge request since
}

// An After is a merge request and its target after a merge.
type After struct {
	State      string // opened, merged, closed
	IsOther    bool   // another head was merged, which the queue never named
	TargetTree string // of the head of the target branch
}

// maxMerges is how often a merge is sent whose answer was lost.
const maxMerges = 3

// wrongTree is told when the target has another content after a merge than was proven.
const wrongTree = "the merged content is not what was proven"

// AfterMerge says what is done after an answer to a merge.
func (p Proven) AfterMerge(a MergeReply) Reaction {
	switch {
	case a.Then != nil:
		return p.afterReading(a)
	case a.Code >= 200 && a.Code < 300:
		return does(Record, Next)
	case a.Code == 0 || a.Code >= 500 || a.Code == 408:
		return does(ReadRequest)
	}
	switch a.Code {
	case 401, 403:
		return does(Stop).telling("the token may not merge into the branch").ending(exitTrouble)
	case 404:
		return does(Hold).telling("the merge request is gone")
	case 405:
		return a.afterRefusal()
	case 409:
		return does(ForgetProof, LookAgain).telling("it was pushed to while it was merged")
	case 425, 429:
		return does(AskAgain)
	case 406, 422:
		return does(Hold).telling("it cannot be merged")
	}
	return does(Hold).telling("GitLab refuses to merge it")
}

// afterReading says what is done when a merge request was read since the merge was sent.
func (p Proven) afterReading(a MergeReply) Reaction {
	isLost := a.Code == 0 || a.Code >= 500 || a.Code == 408
	switch {
	case a.Then.State == "merged" && a.Then.IsOther:
		return does(ReadRequest, LeaveAsItIs).telling("somebody else merged it")
	case a.Then.State == "merged" && a.Then.TargetTree == p.Tree && isLost:
		return does(ReadRequest, Record, Next)
	case a.Then.State == "merged" && a.Then.TargetTree == p.Tree:
		return does(Record, Next)
	case a.Then.State == "merged":
		return does(ReadRequest, Record, DropProofs, Stop).telling(wrongTree).ending(exitTrouble)
	case a.Then.State == "opened" && a.Tries+1 < maxMerges && isLost:
		return does(ReadRequest, MergeAgain)
	case a.Then.State == "opened":
		return does(ReadRequest, Hold).telling("GitLab does not merge it and does not say why")
	}
	return does(ReadRequest, LeaveAsItIs).telling("it was closed")
}

// afterRefusal says what is done when GitLab says that a merge request is not mergeable.
func (a MergeReply) afterRefusal() Reaction {
	switch wordOf(a.Word) {
	case later405:
		return does(AskAgain)
	case rebase405:
		return does(LookAgain)
	case proof405:
		if a.Published {
			return does(Hold).telling(a.Word)
		}
		return does(PublishProof, MergeOnce).telling(a.Word)
	case busy405:
		return does(LookAgain).telling(a.Word)
	case ready405:
		if a.Tries+1 < maxMerges {
			return does(AskAgain)
		}
		return does(Hold).telling("GitLab does not merge it and does not say why")
	}
	return does(Hold).telling(a.Word)
}

// A RebaseReply is what GitLab answered to a rebase, and what its polls found.
type RebaseReply struct {
	Code  int // of HTTP; 0 is no answer
	Polls []RebasePoll
}

// A RebasePoll is a merge request while it is rebased.
type RebasePoll struct {
	IsUnderWay bool
	Head, Tree string
	Error      string // merge_error
}

// maxPolls is how often a rebase is polled, a second or more apart.
const maxPolls = 120

// AfterRebase says what is done after a rebase was asked for.
func (p Proven) AfterRebase(a RebaseReply) Reaction {
	switch {
	case a.Code == 403:
		return does(Hold).telling("the fork does not allow pushes: its author must rebase")
	case a.Code == 401:
		return does(Stop).telling("the token may not rebase").ending(exitTrouble)
	case a.Code == 404:
		return does(Hold).telling("the merge request is gone")
	case a.Code == 409 || a.Code == 405:
		return does(LookAgain).telling("GitLab cannot rebase it now")
	case a.Code == 425 || a.Code == 429:
		return does(AskAgain)
	case a.Code >= 400 && a.Code < 500 && a.Code != 408:
		return does(Hold).telling("GitLab refuses to rebase it")
	}
	var polled []Move
	for i, poll := range a.Polls {
		switch {
		case poll.IsUnderWay && i+1 >= maxPolls:
			return does(Hold).telling("the rebase does not end")
		case poll.IsUnderWay:
			polled = does(Poll).Does
			continue
		case poll.Error != "":
			return does(Hold).telling("conflict with the target branch")
		case poll.Head == "" || poll.Tree == "":
			return does(ForgetProof, LookAgain).telling("it is not known what GitLab made of it")
		case poll.Tree != p.Tree:
			return does(ForgetProof, LookAgain).telling("the rebased content is not what was proven")
		}
		return Reaction{Does: append(polled, Move{Merge, poll.Head})}
	}
	return does(Poll)
}

// A Moment is what is read right before a merge.
type Moment struct {
	Target         string // commit of the target branch
	IsDescendant   bool   // of the proven base, if it is another commit
	IsOnTop        bool   // the head is on top of the target, so that it need not be rebased
	Head           string // of the merge request
	IsDraft        bool
	IsHeld         bool   // a label holds it
	Word           string // of the forge about whether it can be merged
	IsApproved     bool
	OtherTarget    bool // the request is for another branch by now
	TrainsOn       bool // GitLab merges the branch by trains
	CannotCompare  bool // merges make merge commits: nothing fixes the target
	AcceptsTheRace bool // base says that this is accepted
}

// Before says what is done right before a merge. Only if it is a merge, the merge is sent.
func (p Proven) Before(m Moment) Reaction {
	switch {
	case m.TrainsOn:
		return does(Stop).telling("merge trains are on for the branch").ending(exitTrouble)
	case m.Target == "":
		return does(MergeNothing).ending(exitTrouble)
	case m.Target != p.Base && !m.IsDescendant:
		return does(DropProofs, Tell, BeginAgain)
	case m.Target != p.Base:
		return does(PlanOn, MergeIfHolds).of(0, m.Target)
	case m.Head != p.Head:
		return does(ForgetProof, LookAgain).telling("it was pushed to while it was merged")
	case m.OtherTarget:
		return does(LeaveAsItIs).telling("it is for another branch now")
	case !m.IsApproved:
		return does(Hold).telling("approval withdrawn")
	case m.IsDraft:
		return does(Hold).telling("it is a draft")
	case m.IsHeld:
		return does(Hold).telling("held by a label")
	case wordOf(m.Word) == holding405:
		return does(Hold).telling(m.Word)
	case m.CannotCompare && !m.AcceptsTheRace:
		return does(OnlyShow).telling("merge commits let others merge in between: use fast-forward or semi-linear merges")
	}
	return does(Merge).of(0, p.Head)
}

// A TargetRun is how a task ended in the pipeline of the target branch.
type TargetRun struct {
	Task      string
	HasFailed bool
	WasProven bool // a merge of the queue rests on a result with the same inputs
}

// AfterTarget says what is done when a task ended on the target branch.
func AfterTarget(r TargetRun) Reaction {
	switch {
	case !r.HasFailed:
		return does(GoOn)
	case r.WasProven:
		return does(DistrustTask, TellFalseHold, AlwaysRunTask).of(0, r.Task).of(2, r.Task)
	}
	return does(Tell, GoOn)
}

// A Claim is who owns the branch, as the state has it.
type Claim struct {
	IsOurs bool
	IsHeld bool          // by another loop
	Silent time.Duration // since its last sign of life was seen
}

// ClaimTime is after how much silence another loop may take the branch.
const ClaimTime = time.Minute

// Begin says whether this loop may act.
func Begin(c Claim) Reaction {
	switch {
	case c.IsOurs:
		return does(GoOn)
	case c.IsHeld && c.Silent < ClaimTime:
		return does(WaitForTheTurn).ending(0)
	}
	return does(TakeTheBranch, GoOn)
}

// WithoutState says what is done when the state cannot be read or written.
func WithoutState() Reaction { return does(MergeNothing).ending(exitTrouble) }

// Has reports whether an answer has a step.
func (a Reaction) Has(step Step) bool {
	return slices.ContainsFunc(a.Does, func(m Move) bool { return m.Step == step })
}
