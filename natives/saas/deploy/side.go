package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A run is one dry run or one run.
type run struct {
	services   Services
	settings   ownSettings
	env        integration.Environment
	writes     bool        // it is no dry run
	store      state.Store // keeps files of repositories; nil keeps nothing
	head, base *side       // base is nil if there is no change
	records    memo[struct{}, *records]

	repositories memo[repositoryKey, services.Repository]
	heads        memo[repositoryKey, map[string]string]
	files        memo[filesKey, map[string][]byte]
	digests      memo[string, string]

	mu       sync.Mutex
	views    map[string]*view       // by shard and place
	before   map[reconcile.Key]body // objects of base
	failures int                    // errors that were reported
	unknown  int                    // those of them that say that nobody knows something
}

// Records are what a bucket tells of promotions.
type records struct {
	*promotion.Records
	books *ledger.Books
}

// A side is what the data of base or head say about the cells to work on.
type side struct {
	run      *run
	name     string
	model    *saas.Model // nil with err
	cells    []*cell
	findings []plan.Finding
	err      error
}

// A cell is a cell to work on.
type cell struct {
	saas.Cell
	targets   []*target
	closed    string // why nothing is done, "" if something is
	isAltered bool   // it is of head, and the change alters what it deploys
}

// altered is what messages about unknown things say of cells that a change alters: a service that
// does not answer says the same of both sides, and what base says as well fails no change.
const altered = "; the change alters this cell, so it must be known"

// unknown returns the message about something in the cell that nobody knows.
func (c *cell) unknown(message string) string {
	if c.isAltered {
		message += altered
	}
	return message
}

// A target is a target with what services say about it.
type target struct {
	*saas.Target
	commit string
	out    render.Output
	err    error // why it cannot be rendered
}

// errNotRendered says that nobody rendered a target.
var errNotRendered = errors.New("nobody has rendered it")

// open reads both sides, and renders their targets.
func (d deployer) open(ctx context.Context, env integration.Environment, act *integration.Actors) *run {
	r := &run{services: d.services, env: env, store: env.State, views: map[string]*view{},
		before: map[reconcile.Key]body{}}
	if act != nil {
		r.writes, r.store = true, act.State
	}
	if r.env.Log == nil {
		r.env.Log = io.Discard
	}
	if r.env.Now == nil {
		r.env.Now = time.Now
	}
	r.env.Report = r.counting(env.Report)
	var err error
	if r.settings, err = readSettings(env.Settings.Own); err != nil {
		r.head = &side{run: r, err: reconcile.Config(err)}
		return r
	}
	r.head = r.read(ctx, headSide, env.Query)
	if env.Base != nil {
		r.base = r.read(ctx, baseSide, env.Base)
		r.findAltered()
	}
	for _, s := range []*side{r.base, r.head} {
		if s != nil && s.err == nil {
			s.decide(ctx)
		}
	}
	return r
}

// findAltered finds the cells of head that base has not, or with other data.
func (r *run) findAltered() {
	before := map[string]string{}
	if r.base.err == nil {
		for _, c := range r.base.cells {
			before[c.Key()] += r.base.text(c)
		}
	}
	for _, c := range r.head.cells {
		was, isThere := before[c.Key()]
		c.isAltered = !isThere || was != r.head.text(c)
	}
}

// text returns what the data say about a cell.
func (s *side) text(c *cell) string {
	raw, err := json.Marshal(s.model.CellState(c.Cell))
	if err != nil {
		return s.name // nobody knows, so both sides differ
	}
	return string(raw)
}

// counting returns what passes findings on, and counts errors.
func (r *run) counting(report func(integration.Remark)) func(integration.Remark) {
	return func(f integration.Remark) {
		if f.Effect == nil && !f.Old && string(f.Severity) == string(plan.SeverityError) {
			r.mu.Lock()
			r.failures++
			if f.Code == CodeUnknown {
				r.unknown++
			}
			r.mu.Unlock()
		}
		if report != nil {
			report(f)
		}
	}
}

// hasFailed reports whether an error was reported.
func (r *run) hasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures > 0
}

// read reads the data of a side.
func (r *run) read(ctx context.Context, name string, query integration.QueryFunc) *side {
	s := &side{run: r, name: name}
	if s.model, s.err = saas.Read(ctx, query, r.settings.Settings); s.err != nil {
		return s
	}
	if r.env.Shard == "" || r.env.Shard == Validation {
		if s.err = s.model.ReadJobs(ctx, query); s.err != nil {
			return s
		}
	}
	for _, c := range s.model.Cells() {
		if r.env.Shard != "" && r.env.Shard != c.Key() {
			continue
		}
		next := &cell{Cell: c}
		for _, t := range c.Targets {
			next.targets = append(next.targets, &target{Target: t, err: errNotRendered})
		}
		s.cells = append(s.cells, next)
	}
	for _, f := range saas.Validate(s.model) {
		if s.isAbout(f) {
			s.findings = append(s.findings, r.softened(f))
		}
	}
	return s
}

// isAbout reports whether a finding of the data is told: all are, or those of the files of the
// cell to work on, without those of targets in other cells.
func (s *side) isAbout(f plan.Finding) bool {
	if s.run.env.Shard == "" || s.run.env.Shard == Validation {
		return true
	}
	isAt := func(t *saas.Target) bool {
		return f.File == t.Place.File && (f.Pointer == t.Place.Pointer || strings.HasPrefix(f.Pointer, t.Place.Pointer+"/"))
	}
	isOfFile := false
	for _, c := range s.cells {
		isOfFile = isOfFile || f.File == c.File.Path
		if slices.ContainsFunc(c.Targets, isAt) {
			return true
		}
		for _, of := range c.File.Templates {
			if slices.ContainsFunc(of.Targets, isAt) {
				return false // it is disabled, or in another cell
			}
		}
	}
	return isOfFile
}

// softened returns a finding of the data as it is told. A deployment does not fail because of a
// mistake that does not hold it: the merge request that made the mistake did. What holds it is
// told by the entries that cannot be used.
func (r *run) softened(f plan.Finding) plan.Finding {
	if r.writes && f.Severity == plan.SeverityError && r.env.Shard != Validation {
		f.Severity = plan.SeverityWarning
	}
	return f
}

// decide finds out what is done with the cells of a side.
func (s *side) decide(ctx context.Context) {
	r := s.run
	for _, c := range s.cells {
		c.closed = c.held()
		if c.closed == "" {
			continue
		}
		f := plan.Finding{Code: CodeHeld, Severity: plan.SeverityError, Place: plan.Place{File: c.File.Path},
			Message: fmt.Sprintf("nothing of %s is deployed: %s", c.Key(), c.closed)}
		if c.File.Deprecated {
			f.Severity = plan.SeverityNote
		}
		s.findings = append(s.findings, f)
	}
	if r.services.Repositories == nil {
		return
	}
	s.resolve(ctx)
	s.ask(ctx)
	var all []*target
	for _, c := range s.cells {
		if c.closed == "" || r.env.Base != nil {
			all = append(all, c.targets...)
		}
	}
	r.each(ctx, len(all), func(ctx context.Context, i int) { s.render(ctx, all[i]) })
}

// held returns why the data hold a cell, "" if they do not.
func (c *cell) held() string {
	switch {
	case c.File.Deprecated:
		return "the saas file is deprecated"
	case c.File.Broken != "":
		return "the saas file cannot be used: " + c.File.Broken
	}
	return ""
}

// each does something for n things, several at once. What was not done says so itself: see
// [errNotRendered].
func (r *run) each(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	var numbers []string
	for i := range n {
		numbers = append(numbers, strconv.Itoa(i))
	}
	_, _ = reconcile.Each(ctx, numbers, max(r.env.Workers, 1), 0, func(ctx context.Context, number string, _ int) error {
		i, err := strconv.Atoi(number)
		if err == nil {
			do(ctx, i)
		}
		return err
	})
}

// at returns the cluster and namespace of a target.
func (t *target) at() string { return t.Namespace.At() }

// places returns the clusters and namespaces of a cell, sorted.
func (c *cell) places() []string {
	var out []string
	for _, t := range c.targets {
		if !slices.Contains(out, t.at()) {
			out = append(out, t.at())
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}

// errNoRecords says that nobody named the place of the records of promotions.
var errNoRecords = errors.New("the settings do not name the place of the records (records)")

// ask asks the promotion gates of all cells that are not held already. A closed gate, and one
// that nobody knows, closes the cell.
func (s *side) ask(ctx context.Context) {
	for _, c := range s.cells {
		if c.closed != "" {
			continue
		}
		for _, t := range c.targets {
			if t.Delete || t.Promotion == nil || len(t.Promotion.Subscribe) == 0 {
				continue
			}
			v := s.gate(ctx, t)
			if v.Open {
				continue
			}
			if c.closed == "" {
				c.closed = fmt.Sprintf("the promotion gate of %s is closed: %s", t.Label(), v.Reason)
			}
			f := plan.Finding{Code: CodeGate, Severity: plan.SeverityError, Place: t.place("/ref"),
				Message: fmt.Sprintf("%s: the promotion gate is closed, so nothing of %s is deployed: %s", t.Label(), c.Key(),
					v.Reason)}
			if !v.Opens.IsZero() {
				f.Message += "; it opens at " + v.Opens.UTC().Format("2006-01-02 15:04 UTC")
			}
			if v.Err != nil {
				f.Code, f.Message = CodeUnknown, c.unknown(f.Message)
			}
			s.findings = append(s.findings, f)
		}
	}
}

// gate asks the gate of one target.
func (s *side) gate(ctx context.Context, t *target) promotion.Verdict {
	unknown := func(err error) promotion.Verdict {
		return promotion.Verdict{Reason: "it is not known whether it is open: " + err.Error(), Err: err}
	}
	if t.commit == "" {
		return unknown(t.err)
	}
	records, err := s.run.openRecords(ctx)
	if err != nil {
		return unknown(err)
	}
	of := promotion.Of(s.model, t.Target, s.run.settings.Settings)
	return promotion.Ask(ctx, records.Records, records.books, of, t.Target, t.commit, s.run.env.Now())
}

// openRecords returns the records of promotions.
func (r *run) openRecords(ctx context.Context) (*records, error) {
	return r.records.ask(struct{}{}, func() (*records, error) {
		if r.settings.Records == "" {
			return nil, errNoRecords
		}
		if r.env.Bucket == nil {
			return nil, errors.New("this program reaches no bucket")
		}
		bucket, err := r.env.Bucket(ctx, r.settings.Records)
		if err != nil {
			return nil, err
		}
		return &records{promotion.NewRecords(bucket, max(r.env.Workers, 1)), ledger.NewBooks(bucket)}, nil
	})
}

// place returns the place of a part of a target.
func (t *target) place(pointer string) plan.Place {
	p := t.Place
	p.Pointer += pointer
	return p
}

// publish writes the records of promotions after a run of one cell, also after one that failed.
// A run that could do nothing, that was told to end, whose gate was closed, or that failed only
// because a service did not answer proves nothing: a record of it would begin the soak time anew.
func (r *run) publish(ctx context.Context, act integration.Actors, failure error) error {
	isWhole := r.isSingle() && r.env.Static == (plan.Fraction{})
	if !isWhole || len(r.head.cells) != 1 || r.head.cells[0].closed != "" || ctx.Err() != nil ||
		errors.Is(failure, integration.ErrNothingDone) {
		return nil
	}
	if failure == nil && r.hasFailed() && r.failures == r.unknown {
		// the log is for people
		_, _ = fmt.Fprintln(r.env.Log, "no record of a promotion is written: it is not known what the run deployed")
		return nil
	}
	c := r.head.cells[0]
	var of []*target
	for _, t := range c.targets {
		if !t.Delete && t.Promotion != nil && t.commit != "" && t.Broken == "" {
			of = append(of, t)
		}
	}
	switch {
	case len(of) == 0 || r.settings.Records == "":
		return nil
	case act.Bucket == nil:
		return errors.New("writing the records of promotions: this program reaches no bucket")
	}
	bucket, err := act.Bucket(ctx, r.settings.Records)
	if err != nil {
		return fmt.Errorf("writing the records of promotions: %w", err)
	}
	var errs []error
	for _, t := range of {
		errs = append(errs, r.publishTarget(ctx, bucket, t, failure == nil && !r.hasFailed()))
	}
	return errors.Join(errs...)
}

// publishTarget writes the end of a run of a target into its ledger, and its records. The ledger comes first: a record
// without an entry would be taken for a run of another program.
func (r *run) publishTarget(ctx context.Context, bucket integration.BucketWriter, t *target, success bool) error {
	now := r.env.Now()
	run := promotion.RunOf(r.settings.Settings, t.Target, t.commit, success, now)
	errs := []error{promotion.Book(ctx, bucket, t.Target, run)}
	result := promotion.Result{Success: success, Saas: t.Template.File.Name, Hash: t.Hash(), At: now}
	for _, channel := range t.Promotion.Publish {
		at := promotion.RecordPlace{Channel: channel, UID: t.UID()}
		errs = append(errs, promotion.Publish(ctx, bucket, at, t.commit, result))
	}
	return errors.Join(errs...)
}
