package planner_test

import (
	"errors"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

// headFiles are head's files for a replay, and what the run "read:then" read.
type headFiles struct {
	files map[string]string
	reads []proof.FileRead
}

func (h headFiles) Head() (map[string]string, string, error) { return h.files, "c0ffee", nil }
func (h headFiles) Beside(string, bool) (string, bool)       { return "", false }
func (h headFiles) BesideIn(string) []string                 { return nil }
func (h headFiles) All(string) ([]proof.FileRead, error)     { return nil, errors.New("not known") }
func (h headFiles) Reads(_, id string) ([]proof.FileRead, error) {
	if id != "read:then" {
		return nil, errors.New("not found")
	}
	return h.reads, nil
}

// filesOfRuns tells whether the files of all runs are the same: "" when they are.
type filesOfRuns string

func (f filesOfRuns) Changed(string, string) string { return string(f) }

const (
	theSame = filesOfRuns("")
	another = filesOfRuns("it read \"tool.py\", which is another one now")
)

// toolOnHead gives head a file, which a run has read with the id 1. The planner is told whether a
// run counts.
func toolOnHead(id string, counts filesOfRuns) func(*planner.Input) {
	return func(in *planner.Input) {
		in.ProofFiles = headFiles{map[string]string{"tool.py": "100644 " + id},
			[]proof.FileRead{{Path: "tool.py", Found: "100644 1"}}}
		in.Files = counts
	}
}

// inOrder does one thing to an input after the other.
func inOrder(all ...func(*planner.Input)) func(*planner.Input) {
	return func(in *planner.Input) {
		for _, f := range all {
			f(in)
		}
	}
}

// fileEdits are edits of head to files that the command of "it" may use.
func fileEdits(in *planner.Input) {
	in.Edits = edits("tool.py")
	in.Edits.Files = in.Edits.Of
}

// fileMutants break the rules of the files that runs read.
func fileMutants() []mutant {
	read := func(id files.ID) func(*planner.Input) {
		t := traced("", world(), asked(names, trace.Head)...)
		t.Files = id
		return remembers("", t)
	}
	believes := func(in *planner.Input) { in.Files = theSame }
	unread := func(in *planner.Input) { in.Edits.Unread = func(name string) bool { return name == "it" } }
	const mayRead, edited = inFull + "it may read", "head edits a rule or a file"
	const rule = "paths: {select: [{when: ['data/users/**'], run: [it]}]}\n"
	same, differs, lost := toolOnHead("1", theSame), toolOnHead("2", another), toolOnHead("1", another)
	proves := inOrder(read("read:then"), same)
	alwaysRun := always(checkSays("always_run", true))
	rob := always(set("/users/bob.yml", "name", "rob"))
	return []mutant{
		{name: "files: a trace that read another one", settings: whole, change: email,
			given: inOrder(read("read:then"), differs), forget: believes, words: mayRead},
		{name: "files: a trace without files", settings: whole, change: email, given: inOrder(read(""), lost),
			forget: believes, words: mayRead},
		{name: "files: a trace whose list is gone", settings: whole, change: email, given: inOrder(read("read:gone"), lost),
			forget: believes, words: mayRead},
		{name: "files: a trace of another promise", settings: whole, change: email, given: inOrder(read("declared"), lost),
			forget: believes, words: mayRead},
		{name: "files: edits, and a trace that read them", settings: whole, change: email,
			given: inOrder(read("read:then"), differs, fileEdits), forget: believes, words: edited},
		{name: "files: edits, and a trace that nobody recorded", settings: whole + "programs: none\n", change: email,
			given: inOrder(read("declared"), lost, fileEdits), forget: believes, words: edited},
		{name: "files: edits of more than files", settings: whole, change: email,
			given: inOrder(proves, func(in *planner.Input) { in.Edits = edits("x") }), forget: fileEdits, words: edited},
		{name: "files: edits, and always_run", settings: whole, change: then(alwaysRun, email),
			given: inOrder(proves, fileEdits),
			hide:  always(checkSays("always_run", false)), words: edited},
		{name: "files: edits, and a paths rule", settings: whole + rule, change: email, given: inOrder(proves, fileEdits),
			rules: whole, words: edited},
		{name: "files: edits, and queries that are declared", settings: asks("", "emails.graphql"), change: email,
			given: inOrder(proves, fileEdits), rules: whole, words: edited},
		{name: "files: edits, and both sides answer alike", settings: static, change: then(rob, email),
			given:  inOrder(proves, fileEdits),
			forget: func(in *planner.Input) { in.Edits = rules.Edits{} }, words: edited},
		{name: "files: unread, marked as proven", settings: asks("", "names.graphql"), change: email, given: unread,
			edit: func(p *plan.Plan) { decision(p).Believed = false }, words: "only believed"},
		{name: "files: read, marked as believed", settings: asks("", "names.graphql"), change: email,
			edit: func(p *plan.Plan) { decision(p).Believed = true }, words: "where nothing is believed"},
	}
}
