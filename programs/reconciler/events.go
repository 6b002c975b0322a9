package reconciler

import (
	"context"
	"fmt"
	"net"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/receiver"
	"github.com/app-sre/prcheck/natives/rounds"
	"github.com/app-sre/prcheck/natives/webhook"
)

// listen makes the rounds, and takes events meanwhile.
func (f *runFlags) listen(ctx context.Context, env cli.Env, in rounds.Input) error {
	if f.events == "" {
		return f.rounds(ctx, env, in)
	}
	token, err := webhook.ReadFile(f.eventsToken)
	if err != nil {
		return fmt.Errorf("reading the token of events: %w", err)
	}
	if in.Events, err = receiver.New(string(token)); err != nil {
		return cli.Usage(fmt.Errorf("--events-token: %w", err))
	}
	in.Masker.Add(string(token))
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", f.events)
	if err != nil {
		return fmt.Errorf("taking events: %w; choose another address with --events", err)
	}
	_, _ = fmt.Fprintf(env.Stderr, "reconciler: events at http://%s/\n", listener.Addr()) // only a note
	return in.Events.Serve(ctx, listener, func() error { return f.rounds(ctx, env, in) })
}
