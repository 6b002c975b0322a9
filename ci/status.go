package ci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// MaxStatuses is how many commit statuses are set in one go.
const MaxStatuses = 200

const (
	maxField   = 255 // code points of each text of a status
	reportTime = 10 * time.Minute
)

// A State is the state of a commit status.
type State string

// The states that are set.
const (
	Success  State = "success"
	Failed   State = "failed"
	Canceled State = "canceled"
)

// A Status is one commit status.
type Status struct {
	Name        string
	State       State
	Description string
	TargetURL   string
}

// posted is a status as GitLab has it.
type posted struct {
	id, author, pipeline int
	name                 string
	state                State
}

// statusAPI is what is used of GitLab for statuses.
type statusAPI interface {
	statuses(ctx context.Context, at Commit, page int) ([]posted, bool, error)
	setStatus(ctx context.Context, at Commit, s Status) error
}

// Overall returns the status of the check as a whole.
func Overall(tool string, r *plan.Results) Status {
	out := summed(r.Results)
	out.Name = tool
	return out
}

// summed is the status of some results, without a name.
func summed(results []plan.Result) Status {
	if len(results) == 0 {
		return Status{State: Success, Description: "nothing to run"}
	}
	var bad []plan.Result
	onBase := 0
	for _, r := range results {
		switch {
		case r.Blocks():
			bad = append(bad, r)
		case r.OnBase():
			onBase++
		}
	}
	out := Status{State: Success, Description: fmt.Sprintf("%d tasks passed", len(results)-onBase)}
	if len(bad) > 0 {
		out.State, out.Description = state(bad), fmt.Sprintf("%d of %d tasks did not pass", len(bad), len(results))
	}
	if onBase > 0 {
		out.Description += fmt.Sprintf(", %d broken on base already", onBase)
	}
	return out
}

// Unplanned returns the status of a check that could not even be planned.
func Unplanned(tool string) Status {
	return Status{Name: tool, State: Failed, Description: "could not be planned"}
}

// Integrations returns a status for each integration of the plan that has tasks,
// named after the tool and the integration.
func Integrations(tool string, p *plan.Plan, r *plan.Results) []Status {
	of := map[string][]plan.Result{}
	for _, t := range p.Tasks {
		result, ok := r.Result(t.ID)
		if !ok {
			result = plan.Result{Task: t.ID, Status: plan.NotRun, Reason: plan.MissingReason, ExitCode: -1}
		}
		of[t.Integration] = append(of[t.Integration], result)
	}
	var out []Status
	for _, d := range p.Integrations {
		if results := of[d.Name]; len(results) > 0 {
			one := summed(results)
			one.Name = tool + "/" + d.Name
			out = append(out, one)
		}
	}
	return out
}

// state is that of results that did not pass.
func state(bad []plan.Result) State {
	if slices.ContainsFunc(bad, func(r plan.Result) bool { return r.Status != plan.Canceled }) {
		return Failed
	}
	return Canceled
}

// Report sets the statuses of a commit, the overall one last and whatever became of
// the others. Statuses of integrations that an earlier plan left on the commit are
// brought up to date, unless each is nil and the check did not succeed: then nobody
// knows what they are. Any error means that what GitLab shows may be wrong.
func (c *Client) Report(ctx context.Context, at Commit, overall Status, each []Status) error {
	ctx, cancel := context.WithTimeoutCause(ctx, reportTime, fmt.Errorf("it took longer than %s", reportTime))
	defer cancel()
	var err error
	if each != nil || overall.State == Success {
		err = c.reportEach(ctx, at, overall.Name, each)
	}
	if err != nil {
		err = fmt.Errorf("the statuses of integrations: %w", remedy(err, "api"))
	}
	if late := c.set(ctx, at, overall); late != nil {
		err = errors.Join(err, fmt.Errorf("the status %q: %w", overall.Name, remedy(late, "api")))
	}
	return err
}

func (c *Client) reportEach(ctx context.Context, at Commit, tool string, each []Status) error {
	if err := c.identify(ctx); err != nil {
		return err
	}
	there, err := pages(ctx, maxNotes/pageSize, func(ctx context.Context, page int) ([]posted, bool, error) {
		return c.api.statuses(ctx, at, page)
	})
	if err != nil {
		return fmt.Errorf("reading them: %w", err)
	}
	there = slices.DeleteFunc(there, func(s posted) bool {
		return s.author != c.author || s.pipeline > at.Pipeline || !strings.HasPrefix(s.name, tool+"/")
	})
	all, err := chosen(each, there)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := c.set(ctx, at, s); err != nil {
			return fmt.Errorf("%q: %w", s.Name, err)
		}
	}
	return nil
}

// chosen returns what is set, given what is there: what would be wrong if it were
// not, then failures, then as many of the others as may be.
func chosen(each []Status, there []posted) ([]Status, error) {
	latest := map[string]posted{}
	for _, s := range there {
		if s.id > latest[s.name].id {
			latest[s.name] = s
		}
	}
	var wrong, others []Status
	for _, s := range each {
		if old, ok := latest[field(s.Name)]; ok && old.state != s.State {
			wrong = append(wrong, s)
		} else {
			others = append(others, s)
		}
		delete(latest, field(s.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		if latest[name].state != Success {
			wrong = append(wrong, Status{Name: name, State: Success, Description: "not selected by the latest plan"})
		}
	}
	const most = MaxStatuses - 1 // and the overall one
	if len(wrong) > most {
		return nil, fmt.Errorf("%d of them are out of date, and at most %d are set in one go", len(wrong), most)
	}
	slices.SortStableFunc(others, func(a, b Status) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	all := slices.Concat(wrong, others)
	return all[:min(len(all), most)], nil
}

func rank(s State) int { return slices.Index([]State{Failed, Canceled, Success}, s) }

// set sets a status. Setting it twice does no harm: the first one becomes history.
func (c *Client) set(ctx context.Context, at Commit, s Status) error {
	s.Name, s.Description = field(s.Name), field(c.mask(s.Description))
	if len([]rune(s.TargetURL)) > maxField {
		s.TargetURL = "" // half an address leads nowhere
	}
	return repeat(ctx, requestTimeout, func(ctx context.Context) error { return c.api.setStatus(ctx, at, s) })
}

// field cuts a text that is too long, so that different ones stay different.
func field(text string) string {
	runes := []rune(text)
	if len(runes) <= maxField {
		return text
	}
	end := fmt.Sprintf("…%.4x", sha256.Sum256([]byte(text)))
	return string(runes[:maxField-len([]rune(end))]) + end
}
