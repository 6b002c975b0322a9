package queue

import (
	"slices"
	"strconv"
	"strings"
)

// A Pair is what a decision is about: a head on a base, both commits.
type Pair struct {
	Head string `json:"head"`
	Base string `json:"base"`
}

// A State says how a request stands. The zero value is none.
type State string

// The states of a request.
const (
	Waiting     State = "waiting"  // for a person, or for the forge
	Unknown     State = "unknown"  // nobody proved anything about the pair
	Behind      State = "behind"   // it waits for a request ahead of it, whose delta is not decided
	Conflict    State = "conflict" // git cannot rebase it on the base
	NothingLeft State = "nothing_left"
	Invalid     State = "invalid" // the rebased head does not validate
	Delta       State = "delta"   // tasks have to run
	Running     State = "running" // they run
	Red         State = "red"     // a task failed
	Holds       State = "holds"   // it can be merged on the base
	Merging     State = "merging"
	Merged      State = "merged"
)

// MayMerge reports whether a request in this state may be merged. Only one state says so.
func (s State) MayMerge() bool { return s == Holds }

// isOpen reports whether a request in this state may be merged once its tasks passed.
func (s State) isOpen() bool { return s == Holds || s == Delta || s == Running }

// A Why names a reason.
type Why string

// The codes of reasons. They are only added, never renamed.
const (
	NotApproved   Why = "not_approved"
	HeldByLabel   Why = "held"             // Names: the labels
	LabelNeeded   Why = "label_needed"     // Names: the labels that it lacks
	ErrorLabel    Why = "error_label"      // Names: the labels
	IsDraft       Why = "draft"            // it is a draft
	ForgeHolds    Why = "forge_holds"      // Names: the word of the forge
	NotProven     Why = "not_proven"       // Names: why, if it is known
	Moved         Why = "moved"            // it was pushed to while it was looked at
	BehindOthers  Why = "behind"           // Names: the requests ahead
	TextConflict  Why = "text_conflict"    // Names: the requests, or the files
	AlreadyThere  Why = "already_there"    // the base has all of it
	NotValid      Why = "not_valid"        // Names: mistakes
	TasksToRun    Why = "tasks_to_run"     // Names: the tasks
	TasksRunning  Why = "tasks_running"    // Names: the tasks
	OwnFailed     Why = "own_failed"       // Names: the tasks that fail on its own base
	DeltaFailed   Why = "delta_failed"     // Names: the tasks that fail with others
	ImageByTag    Why = "image_by_tag"     // Names: the tasks whose image may be another one by now
	AllHold       Why = "all_hold"         // every task holds
	NothingToRun  Why = "nothing_to_run"   // the plan has no task
	NoGuess       Why = "no_guess"         // it could be looked at on a guess, and the budget is used up
	MergedByQueue Why = "merged_by_queue"  // this loop merged it
	MergedByHand  Why = "merged_by_others" // somebody else merged it
)

// A Reason says why a request is in its state.
type Reason struct {
	Why   Why      `json:"code"`
	Names []string `json:"names,omitempty"`
}

// sentences are what people read of a reason. %s stands for its names.
var sentences = map[Why]string{
	NotApproved:   "nobody who may approved it",
	HeldByLabel:   "held by %s",
	LabelNeeded:   "needs the label %s for what its tasks would do",
	ErrorLabel:    "has the label %s, which says that something went wrong",
	IsDraft:       "is a draft",
	ForgeHolds:    "GitLab says %s",
	NotProven:     "not proven: %s",
	Moved:         "moved while it was looked at",
	BehindOthers:  "waits for %s",
	TextConflict:  "conflicts with %s",
	AlreadyThere:  "the target branch has all of it: close it",
	NotValid:      "does not validate on the target branch: %s",
	TasksToRun:    "has to run %s",
	TasksRunning:  "runs %s",
	OwnFailed:     "its own pipeline fails: %s",
	DeltaFailed:   "passes alone, and fails with what was merged since: %s",
	ImageByTag:    "the images of %s are known by a tag, which may move: a digest is needed",
	AllHold:       "all results hold",
	NothingToRun:  "nothing reads what it changes",
	NoGuess:       "waits for those ahead; no more is tried on a guess",
	MergedByQueue: "merged",
	MergedByHand:  "merged by somebody else",
}

// Codes returns all codes of reasons, sorted.
func Codes() []Why {
	var out []Why
	for code := range sentences {
		out = append(out, code)
	}
	slices.Sort(out)
	return out
}

// maxNames bounds how many names the sentence of a reason has.
const maxNames = 8

// String returns the sentence of a reason.
func (r Reason) String() string {
	text, isKnown := sentences[r.Why]
	if !isKnown {
		return string(r.Why)
	}
	names := r.Names[:min(len(r.Names), maxNames)]
	list := strings.Join(names, ", ")
	if more := len(r.Names) - len(names); more > 0 {
		list += " and " + strconv.Itoa(more) + " more"
	}
	if list == "" {
		list = "nobody looked"
	}
	return strings.ReplaceAll(text, "%s", list)
}

func because(code Why, names ...string) Reason { return Reason{code, names} }
