package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/trace"
)

// Limits of what is waited for.
const (
	patience     = 2 * time.Minute // for one answer, with all tries
	maxInARow    = 3               // questions without an answer after which a side is asked no more
	spareAnswer  = 4 << 20         // bytes by which an answer may be larger than four of ours
	spareAnError = 16 << 10        // bytes for the stack trace of an error
	tooLarge     = 413             // the HTTP status for a query that is too long for the server
)

// An Input says what is asked whom.
type Input struct {
	Server     *live.Server
	Base, Head *bundle.Bundle
	Questions  []proof.Question
	// Progress is called with the number of questions that were sent so far, with and without an
	// answer. It is not called at once by several goroutines. It may be nil.
	Progress func(asked int)
}

// Ask asks the server all questions. An error means that it was interrupted, or that the types of
// a bundle cannot be used; a server that does not answer is no error.
func Ask(ctx context.Context, in Input) (*Answers, error) {
	var results [2]*Answers
	var errs [2]error
	var lock sync.Mutex
	asked := 0
	progress := func() {
		lock.Lock()
		defer lock.Unlock()
		if asked++; in.Progress != nil {
			in.Progress(asked)
		}
	}
	var both sync.WaitGroup
	for i, s := range []asker{{of: trace.Base, bundle: in.Base}, {of: trace.Head, bundle: in.Head}} {
		both.Go(func() {
			s.side, s.progress = in.Server.Bundle(s.bundle.SHA256()), progress
			results[i], errs[i] = s.askAll(ctx, in.Questions)
		})
	}
	both.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := errors.Join(errs[0], errs[1]); err != nil {
		return nil, err
	}
	return merge(in.Server.String(), results[0], results[1]), nil
}

// An asker asks about one side.
type asker struct {
	of       trace.Side
	bundle   *bundle.Bundle
	side     *live.BundleClient
	progress func()

	schema *gql.Schema
	engine *gql.Engine
	out    *Answers
	inARow int    // questions without an answer
	over   string // why nothing more is asked; "" while it is
}

// askAll asks the questions about the side.
func (a *asker) askAll(ctx context.Context, questions []proof.Question) (*Answers, error) {
	a.out = &Answers{}
	for _, q := range questions {
		if q.Side != a.of {
			continue
		}
		if a.engine == nil {
			var err error
			if a.schema, err = gql.NewSchema(a.bundle.GraphQL()); err != nil {
				return nil, fmt.Errorf("%s: %w", a.of, err)
			}
			a.engine = gql.New(a.bundle, a.schema)
		}
		a.ask(ctx, q, "", q.Request)
		if q.Elements {
			a.askElements(ctx, q)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return a.out, nil
}

// askElements asks for each file of the root fields of a question alone.
func (a *asker) askElements(ctx context.Context, q proof.Question) {
	compiled, err := a.schema.Compile(q.Request)
	if err != nil {
		a.out.silent(q, a.of, "its elements cannot be asked for: "+err.Error())
		return
	}
	for _, root := range compiled.Roots() {
		if root.Kind == gql.RootConstant {
			continue
		}
		files := a.bundle.BySchema(root.Schema)
		if root.Resources() {
			files = a.bundle.Resources()
		}
		for _, f := range files {
			single, ok := gql.RestrictToFile(q.Request, root, f)
			switch {
			case ctx.Err() != nil:
				return
			case !ok:
				a.out.silent(q, a.of, "its query cannot be asked for one element alone")
			case single != nil:
				a.ask(ctx, q, string(f.Path), *single)
			}
		}
	}
}

// ask asks a request of a question, for one file or for all ("").
func (a *asker) ask(ctx context.Context, q proof.Question, file string, req gql.Request) {
	if a.over != "" {
		a.out.silent(q, a.of, a.over)
		return
	}
	res := a.engine.Answer(ctx, req)
	ours := live.Reply{Status: res.Status, Body: res.JSON()}
	limit := int64(4*len(ours.Body) + spareAnswer + len(res.Errors)*spareAnError)
	within, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("there was no answer within %s", patience))
	theirs, err := a.side.Ask(within, req, limit)
	cancel()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.giveUp(err)
		a.out.silent(q, a.of, err.Error())
	case theirs.Status == ours.Status && bytes.Equal(theirs.Body, ours.Body):
		a.inARow = 0
		a.out.Asked++
		a.out.Same++
	default:
		a.inARow = 0
		a.out.differ(newDifference(q, file, req, ours, theirs))
	}
	a.progress()
}

// giveUp decides whether the rest is asked after a question without an answer.
func (a *asker) giveUp(err error) {
	var unknown *live.UnknownBundleError
	var refused *live.StatusError
	switch {
	case errors.As(err, &unknown):
		a.over = err.Error()
	case errors.As(err, &refused) && refused.Status == tooLarge: // the next query may be smaller
	default:
		if a.inARow++; a.inARow >= maxInARow {
			a.over = fmt.Sprintf("the server gave no answer %d times in a row", a.inARow)
		}
	}
}
