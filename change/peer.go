package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/source"
)

// Peer returns the running qontract-server at an address, which is asked beside the embedded
// engine; nil for "". Nothing is sent yet.
func (in Inputs) Peer(env cli.Env, address string) (*live.Server, error) {
	switch {
	case address == "":
		return nil, nil
	case live.IsRef(in.Base) || live.IsRef(in.Head):
		return nil,
			cli.Usage(errors.New("--server holds prcheck's own answers to those of a server, and a live server gives them " +
				"already: name both sides by their bundle files"))
	}
	at, err := live.ParseHost(address, live.Access{Authorization: source.In(env).Authorization})
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--server: %w", err))
	}
	return at, nil
}

// AskPeer asks a server what the report of a proof rests on. It returns the report as the answers
// leave it.
func (c *Change) AskPeer(ctx context.Context, at *live.Server, r proof.Report,
	progress func(asked int)) (*peer.Answers, proof.Report, error) {
	answers, err := peer.Ask(ctx, peer.Input{Server: at, Base: c.Base, Head: c.Head, Questions: r.Questions,
		Progress: progress})
	if err != nil {
		return nil, r, invalid(ctx, err)
	}
	return answers, answers.Judge(r), nil
}
