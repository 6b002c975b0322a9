package rounds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/retry"
	"github.com/app-sre/prcheck/natives/receiver"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
)

// A round is one run of the integration.
type round struct {
	*Runner
	*collector
	report *Report
	data   *Data // nil until it is open
	called bool  // the integration was called
}

// Round makes one round. The report tells of every failure.
func (r *Runner) Round(ctx context.Context) *Report {
	began := time.Now()
	r.in.Monitor.begin()
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if limit := r.opts.Timeout; limit > 0 {
		var cancel context.CancelFunc
		work, cancel = context.WithTimeoutCause(work, limit, timeoutError{limit})
		defer cancel()
	}
	w := &round{Runner: r, report: &Report{
		Version: plan.Version, Integration: r.in.Integration, DryRun: !r.opts.Writes, Adopt: r.opts.Approve.Adopt,
		TakeOver: r.opts.Approve.TakeOver,
		Shard:    r.opts.Shard, Static: r.opts.Static.String(),
	}}
	w.collector = newCollector(r.in.Masker, func(d integration.Deed) {
		if err := r.in.Journal.add(d); err != nil {
			stop(err)
		}
	})
	err := w.run(work)
	w.finish(ctx, work, err)
	w.noteLoop(ctx)
	for _, line := range w.report.Errors {
		r.say(line)
	}
	w.report.took = time.Since(began)
	r.in.Monitor.end(w.report)
	return w.report
}

// run makes the round, under a lease if it writes.
func (w *round) run(ctx context.Context) error {
	settings, err := w.in.Settings(ctx)
	if err != nil {
		return err
	}
	if err := integration.CheckNatives(settings, integration.DryRunners(w.in.Natives)); err != nil {
		w.report.Misused = true
		return err
	}
	n, ok := integration.FindNative(w.in.Natives, settings.For(w.in.Integration))
	if !ok {
		w.report.Misused = true
		return fmt.Errorf("this program has no native integration %q%s", w.in.Integration, w.knownNatives())
	}
	if _, obeys := n.(integration.Obeyer); w.opts.Approve.Word != nil && !obeys {
		w.report.Misused = true
		return fmt.Errorf("the integration %q listens to nobody", w.in.Integration)
	}
	if settings != w.settings {
		w.settings, w.systems = settings, w.in.Connect(settings, func(secret string) { w.in.Masker.Add(secret) })
	}
	switch {
	case w.in.State == nil:
		w.tell("nothing is remembered without --state: an older bundle is not noticed after the end of this process, and " +
			"two runs may act at once")
		return w.open(ctx, n)
	case !w.opts.Writes:
		return w.open(ctx, n)
	default:
		return w.underLease(ctx, n)
	}
}

// knownNatives names the natives of this program in a message.
func (w *round) knownNatives() string {
	var names []string
	for _, n := range w.in.Natives {
		names = append(names, n.Name())
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; it has " + strings.Join(names, ", ") + ", to which integrations." + w.in.Integration +
		".native of the settings can bind it"
}

// leaseTTL is how long the lease of a dead run is kept. A step that runs when the lease is lost
// has half of it to end.
const leaseTTL = time.Minute

// underLease makes the round while it holds the lease.
func (w *round) underLease(ctx context.Context, n integration.Native) error {
	name := w.in.Integration
	key := "reconcile/" + strings.ToValidUTF8(name[:min(len(name), 100)], "") + "/" +
		state.Name(name, w.opts.Shard, w.opts.Static.String())
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	patience := time.AfterFunc(w.opts.Wait, func() { giveUp(errBusy) })
	defer patience.Stop()
	return lease.Hold(waiting, w.in.State, []lease.Limit{{Key: key, Max: 1, TTL: leaseTTL}},
		func(ctx context.Context) error {
			if !patience.Stop() {
				return errBusy
			}
			err := w.open(ctx, n)
			if cause := context.Cause(ctx); errors.Is(cause, lease.ErrLost) {
				err = errors.Join(err, cause)
			}
			return err
		})
}

// open opens the data and calls the integration.
func (w *round) open(ctx context.Context, n integration.Native) error {
	data, err := w.in.Data.Open(ctx, w.settings)
	if err != nil {
		return err
	}
	w.data, w.report.Bundle = data, &data.Bundle
	if _, known := data.Bundle.time(); !known {
		w.tell(fmt.Sprintf("the bundle %v has no git_commit_timestamp, so nobody can tell whether it is older than the "+
			"last one", data.Bundle))
	}
	var own state.Store
	if w.in.State != nil {
		own = state.ForNative(w.in.State, w.in.Integration)
	}
	warning, err := w.calendar.check(ctx, data.Bundle, own, w.opts.Writes)
	if warning != nil {
		w.say("warning: " + w.clean(warning.Error()))
	}
	if err != nil {
		return err
	}
	query, end, err := data.Query(ctx, w.in.Integration)
	if err != nil {
		var unknown *unknownError
		w.report.Misused = errors.As(err, &unknown)
		return err
	}
	w.watch(ctx, n, query)
	err = w.call(ctx, n, query, own)
	if !errors.Is(err, integration.ErrNothingDone) {
		w.noteWaits(ctx, own)
	}
	return errors.Join(err, end())
}

// call calls the integration. A panic is its error.
func (w *round) call(ctx context.Context, n integration.Native, query integration.QueryFunc,
	own state.Store) (err error) {
	log := &lineWriter{out: w.in.Log, clean: w.masker.Text}
	defer log.flush()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s", integration.ErrNothingDone, crash.Text(p))
		}
	}()
	w.called = true
	env := integration.Environment{
		Integration: w.in.Integration, Settings: w.settings.For(w.in.Integration), Query: query,
		Shard: w.opts.Shard, Static: w.opts.Static,
		Secret: w.systems.Secret, Cluster: w.systems.Reader, Bucket: w.systems.BucketReader, Variable: w.systems.Variable,
		Endpoint: w.systems.EndpointReader, Mask: w.masker.Text,
		Now: time.Now, Log: log, Report: w.collector.report, Stand: w.stand, Pass: w.pass, Commit: w.data.Bundle.Commit,
		Workers: w.opts.Workers, Approve: w.opts.Approve, Wait: w.opts.Wait,
	}
	if own != nil {
		env.State = state.ReadOnly(own)
	}
	if !w.opts.Writes && env.Settings.ServerDryRun {
		env.Trial, env.EndpointTrial = w.systems.Trial, w.systems.EndpointTrial
	}
	if w.opts.Status {
		return w.ask(ctx, n, env)
	}
	if !w.opts.Writes {
		return n.DryRun(ctx, env)
	}
	return n.Run(ctx, env, integration.Actors{State: own, Cluster: w.systems.Writer, Bucket: w.systems.BucketWriter,
		Endpoint: w.systems.EndpointWriter, PutSecret: w.systems.PutSecret, Did: w.did})
}

// finish fills in the report. The context of all rounds is ctx, that of this round is work.
func (w *round) finish(ctx, work context.Context, err error) {
	var where func(ctx context.Context, file, pointer string) string
	if w.data != nil {
		where = w.data.Where
	}
	w.fill(context.WithoutCancel(ctx), w.report, where)
	if w.opts.Status && w.report.Things == nil {
		w.report.Things = things(w.report.Units)
	}
	cause := context.Cause(work)
	var timeout timeoutError
	if errors.As(cause, &timeout) || errors.Is(cause, errJournal) {
		err = errors.Join(err, cause)
	}
	w.report.Errors = w.lines(err)
	w.report.wasSignaled = ctx.Err() != nil
	switch {
	case err != nil && ctx.Err() != nil:
		w.report.Outcome = Interrupted
	case errors.Is(err, errBusy):
		w.report.Outcome = Skipped
	case err == nil && !w.fails:
		w.report.Outcome = Done
	case w.called && !errors.Is(err, integration.ErrNothingDone), w.didSomething():
		w.report.Outcome = Failed
	default:
		w.report.Outcome = NothingDone
	}
}

// An Input is what rounds work with.
type Input struct {
	Integration string // name of its definition
	Natives     []integration.Native
	// Settings returns the settings as they are now. If they did not change, it may return the
	// same ones again.
	Settings func(ctx context.Context) (*settings.Settings, error)
	Data     Source
	State    state.Store // nil if nothing is remembered
	// Connect returns what reaches live systems. Each secret that is read is learned before
	// anybody gets it.
	Connect func(rules *settings.Settings, learn func(secret string)) Systems
	Masker  *mask.Masker // hides secrets in everything that is written
	Log     io.Writer    // takes the log of the integration, and lines about rounds
	Journal *Journal     // takes each step as it ends; nil for none
	Monitor *Monitor     // counts rounds; nil for none
	// Events wake a runner that waits for its next round; nil for none.
	Events *receiver.Receiver
}

// Orders say what rounds do. The zero value is one dry run over all shards.
type Orders struct {
	Writes     bool // it is no dry run
	Status     bool // it only asks how things stand
	Shard      string
	Static     plan.Fraction
	Approve    integration.Approvals
	AllowOlder bool          // an older bundle than that of the last run is allowed
	Workers    int           // how many things are read or written at once
	Timeout    time.Duration // of one round; 0 is none
	Wait       time.Duration // how long a round waits for the lease that another run holds
	Every      time.Duration // pause between two rounds; 0 is one round
}

// A Runner makes rounds, one after the other.
type Runner struct {
	in       Input
	opts     Orders
	calendar calendar
	systems  Systems
	settings *settings.Settings // those that systems was made with
	told     map[string]bool    // notes that were written
}

// New returns a runner.
func New(in Input, opts Orders) *Runner {
	if in.Masker == nil {
		in.Masker = mask.New(nil)
	}
	in.Log = &lockedWriter{out: in.Log}
	return &Runner{in: in, opts: opts, calendar: calendar{isOlder: opts.AllowOlder}, told: map[string]bool{}}
}

// Run makes one round, or rounds until the context ends, and gives each report to emit. An
// error of emit ends it. It returns the report of the last round, nil if the context ended
// between two rounds.
func (r *Runner) Run(ctx context.Context, emit func(*Report) error) (*Report, error) {
	for {
		report := r.Round(ctx)
		if err := emit(report); err != nil {
			return report, err
		}
		if r.opts.Every == 0 || report.wasSignaled {
			return report, nil
		}
		if r.pause(ctx) != nil {
			return nil, nil // to be told to end between two rounds is no failure
		}
	}
}

// minGap is the shortest pause before a round that an event asks for: many events at once are one round.
const minGap = 10 * time.Second

// pause waits for the next round: until its time comes, or until an event asks for it.
func (r *Runner) pause(ctx context.Context) error {
	pause := r.opts.Every + rand.N(r.opts.Every/10+1)
	if r.in.Events == nil {
		return retry.Sleep(ctx, pause)
	}
	began := time.Now()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-r.in.Events.Woken():
		if err := retry.Sleep(ctx, min(minGap, pause)-time.Since(began)); err != nil {
			return err
		}
		r.say("an event asks for this round")
	}
	select {
	case <-r.in.Events.Woken(): // this round sees it as well
	default:
	}
	return nil
}

// watch tells the receiver of events what the integration depends on. If nobody knows that, every event counts.
func (w *round) watch(ctx context.Context, n integration.Native, query integration.QueryFunc) {
	if w.in.Events == nil {
		return
	}
	of, ok := n.(integration.Watcher)
	if !ok {
		return
	}
	names, err := of.Watches(ctx, query, w.settings.For(w.in.Integration))
	if err != nil {
		names = nil
	}
	w.in.Events.Watch(names)
}

// say writes a line for people into the log.
func (r *Runner) say(line string) {
	_, _ = fmt.Fprintf(r.in.Log, "reconciler: %s\n", line) // only a note
}

// tell writes a note once.
func (r *Runner) tell(line string) {
	if !r.told[line] {
		r.told[line] = true
		r.say("note: " + line)
	}
}

// A timeoutError is the cause of a round that took too long.
type timeoutError struct{ after time.Duration }

func (e timeoutError) Error() string { return fmt.Sprintf("the round took longer than %v", e.after) }

// errBusy says that another run holds the lease.
var errBusy = errors.New("another run of this integration and shard is at work")

// Systems are the live systems that a native integration reads and writes, as package
// natives/systems has them.
type Systems interface {
	Secret(ctx context.Context, ref integration.SecretRef) (string, error)
	Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error)
	Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error)
	Writer(ctx context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error)
	BucketReader(ctx context.Context, place string) (integration.BucketReader, error)
	BucketWriter(ctx context.Context, place string) (integration.BucketWriter, error)
	EndpointReader(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	EndpointTrial(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	EndpointWriter(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	PutSecret(ctx context.Context, ref integration.SecretRef, value string) error
	Variable(name string) (string, bool)
}
