package doctor

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// An Input is the installation that is examined.
type Input struct {
	Dir    string // a folder of the checkout
	Config string // as for planner plan; "" for the default
	Base   string // reference to base; "" if it is to be found
	Open   source.Opener

	State   State
	Getenv  func(string) string
	Secrets []string // values that no finding may show
	InJob   bool     // whether this is a job of GitLab, whose variables name base
	// FindProgram returns an error unless a program is in the PATH.
	FindProgram func(name string) error
	Now         func() time.Time
	Natives     []integration.DryRunner
}

// A State is how the state is reached.
type State struct {
	Place string // "" if there is none
	// Check returns an error if the place cannot be used as a state with these settings, and
	// otherwise a note about which documents count, or "".
	Check func(ctx context.Context, settings source.OpenedSettings, base string) (note string, err error)
	// Open opens the state for writing, without regard to signatures.
	Open func(ctx context.Context) (state.Store, error)
	// SigningKey returns the public key that belongs to the private key of the environment, as
	// settings have it; "" if there is no private key.
	SigningKey func() (string, error)
}

// An examination is the work of Examine.
type examination struct {
	Input
	mask     func(string) string
	found    []Finding
	repo     *git.Repository        // nil if there is no checkout
	settings *source.OpenedSettings // nil if they cannot be read
	ofBase   *source.OpenedSettings // the settings of base; nil if they are not known
	head     *bundle.Bundle         // nil if it cannot be made
	list     []integration.Definition
}

// Examine checks an installation. An error says that the examination was interrupted.
func Examine(ctx context.Context, in Input) (Report, error) {
	e := &examination{Input: in, mask: mask.New(in.Secrets).Text}
	for _, check := range []func(context.Context){
		e.checkGit, e.checkBase, e.checkSettings, e.checkBundle, e.checkDefinitions, e.checkHosts,
		e.checkSchemas, e.checkPrograms, e.checkEnvironment, e.checkVariables, e.checkSkips,
		e.checkState, e.checkKey, e.checkDisk, e.checkGitLab,
	} {
		if check(ctx); ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
	}
	for i, f := range e.found {
		e.found[i].What, e.found[i].Remedy = harmless(f.What, e.mask), harmless(f.Remedy, e.mask)
	}
	return Report{Version: "prcheck/v1", Findings: e.found}, nil
}

func (e *examination) ok(check, what string) {
	e.found = append(e.found, Finding{Check: check, Level: OK, What: what})
}

func (e *examination) warn(check, what, remedy string) {
	e.found = append(e.found, Finding{Check: check, Level: Warn, What: what, Remedy: remedy})
}

func (e *examination) fail(check, what, remedy string) {
	e.found = append(e.found, Finding{Check: check, Level: Fail, What: what, Remedy: remedy})
}

// unreachable notes that something outside did not answer.
func (e *examination) unreachable(check, what, remedy string) {
	e.found = append(e.found, Finding{Check: check, Level: Fail, What: what, Remedy: remedy, Unreachable: true})
}
