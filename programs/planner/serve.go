package planner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/qontract/server/metrics"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/source/served"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	bundles []string
	listen  string
	limits  server.Limits
	largest int64 // MiB of a bundle
	answers int64 // MiB that are remembered

	record, integration string
}

func serveCommand(env cli.Env) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--bundle REF ...] [flags]",
		Short: "Serve bundles as qontract-server does",
		Long: `serve is a qontract-server: it answers GraphQL and everything else that clients
of qontract-server ask, over one or more bundles. The last bundle is the latest.

Without --bundle the bundles come from where the environment says, with the
variables of qontract-server: INIT_BUNDLES, or LOAD_METHOD with DATAFILES_FILE
or AWS_S3_BUCKET and AWS_S3_KEY. POST /reload loads what LOAD_METHOD names, or
else the last --bundle again. BUNDLE_SHA_TTL is how many milliseconds a bundle
is kept that is not the latest and that nobody asks.

With --record and --integration, what is read is noted when the server ends:
planner suggest uses it. It proves nothing about any task.

There is no authentication: whoever can connect can read everything and reload.
See docs/serve.md.`,
		Example: `  planner serve --bundle base.json --bundle head.json
  INIT_BUNDLES=fs://base.json,s3://head.json AWS_S3_BUCKET=b planner serve --listen 0.0.0.0:4000`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.bundles, "bundle", nil, "bundle to serve, a file or s3://BUCKET/KEY; the last one is the "+
		"latest (repeatable)")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:4000", "address to listen at, HOST:PORT; port 0 takes a free one")
	flags.Int64Var(&f.largest, "max-bundle-mib", 1024, "largest bundle that is loaded, in MiB")
	flags.IntVar(&f.limits.Bundles, "max-bundles", 100, "bundles that are kept")
	flags.Int64Var(&f.answers, "answer-cache-mib", 256, "memory for answers that were given, in MiB; 0 for none")
	flags.IntVar(&f.limits.Connections, "max-connections", 1000, "connections that are open at once")
	flags.IntVar(&f.limits.Evaluations, "max-evaluations", 0,
		"queries that are evaluated at once (default 2 for each CPU)")
	flags.StringVar(&f.record, "record", "", "folder, or s3://BUCKET/PREFIX, to note in what is read, see --integration")
	flags.StringVar(&f.integration, "integration", "", "integration that asks this server, with --record")
	flags.DurationVar(&f.limits.Evaluation, "query-timeout", time.Minute, "time for one query, with waiting")
	return cmd
}

// gcPercent is how much garbage may stand beside the memory in use. The default of Go is
// 100, with which a server needs more memory than qontract-server.
const gcPercent = 50

func serve(ctx context.Context, env cli.Env, f serveFlags) error {
	if env.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	if (f.record == "") != (f.integration == "") {
		return cli.Usage(errors.New("--record and --integration go together: a folder, and whose requests these are"))
	}
	if f.largest <= 0 || f.limits.Bundles <= 0 || f.limits.Evaluation <= 0 || f.limits.Connections <= 0 ||
		f.limits.Evaluations < 0 || f.answers < 0 {
		return cli.Usage(errors.New("--max-bundle-mib, --max-bundles, --max-connections and --query-timeout need a number " +
			"above 0"))
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return cli.Usage(fmt.Errorf("--listen: %w; give HOST:PORT, such as 127.0.0.1:4000", err))
	}
	f.limits.Answers = f.answers << 20
	if f.answers == 0 {
		f.limits.Answers = -1
	}
	from, err := sources.Read(env.Getenv, f.bundles, f.largest<<20)
	if err != nil {
		return cli.Usage(err)
	}
	var lines sync.Mutex
	say := func(line string) {
		lines.Lock()
		defer lines.Unlock()
		_, _ = fmt.Fprintf(env.Stderr, "planner: %s\n", sanitize.Line(line))
	}
	noted, err := newNotes(ctx, f.record, f.integration)
	if err != nil {
		return err
	}
	hub := server.NewHub(server.HubOptions{Load: from.Reload, TTL: from.TTL, Limits: f.limits, Log: say,
		Observe: noted.observe(),
		Metrics: metrics.New()})
	if err := from.Fill(ctx, hub); err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listening: %w; choose another address with --listen", err)
	}
	say("serving at http://" + listener.Addr().String() + "/graphql")
	return errors.Join(hub.Serve(ctx, listener), noted.keep(ctx, say))
}

// servedCommand is the command in the traces of a server. No task of a plan has this command,
// so these traces prove nothing about tasks.
const servedCommand = "served"

// notes record what an integration reads from a server. Nil notes record nothing.
type notes struct {
	store    trace.Store
	of       trace.TaskKey
	recorder *trace.Recorder
}

func newNotes(ctx context.Context, folder, name string) (*notes, error) {
	remembered, err := change.WriteNotes(ctx, folder)
	if remembered == nil || err != nil {
		return nil, err
	}
	return &notes{trace.NewStore(remembered), trace.TaskKey{Integration: name, Command: servedCommand},
		trace.NewRecorder("", "")}, nil
}

func (n *notes) observe() func(server.Exchange) {
	if n == nil {
		return nil
	}
	return recording.Observer(n.recorder)
}

// keep remembers what was read, also when the server was stopped by a signal.
func (n *notes) keep(ctx context.Context, say func(string)) error {
	if n == nil {
		return nil
	}
	t := n.recorder.Trace(n.of, time.Now())
	if len(t.Schemas) == 0 {
		say(fmt.Sprintf("nothing was read, so nothing is noted of %q", n.of.Integration))
		return nil
	}
	say(fmt.Sprintf("noted of %q: schemas %d, datafiles %d, resources %d", n.of.Integration, len(t.Schemas),
		len(t.Datafiles), len(t.Resources)))
	ctx, cancel := state.WithGrace(ctx)
	defer cancel()
	return n.store.Save(ctx, t)
}
