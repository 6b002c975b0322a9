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

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// MaxStatuses is the largest number of commit statuses that are set at once.
const MaxStatuses = 200

const (
	maxField   = 255 // maximal length of each text of a status, in code points
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

// A CommitStatus is one commit status.
type CommitStatus struct {
	Name        string
	State       State
	Description string
	TargetURL   string
}

// A postedStatus is a status as GitLab has stored it.
type postedStatus struct {
	id, author, pipeline int
	name, description    string
	state                State
}

// statusAPI has the calls of GitLab for statuses.
type statusAPI interface {
	statuses(ctx context.Context, at Commit, page int) ([]postedStatus, bool, error)
	setStatus(ctx context.Context, at Commit, s CommitStatus) error
}

// OverallStatus returns the status of the whole check.
func OverallStatus(tool string, r *plan.Results) CommitStatus {
	out := summarize(r.Results)
	out.Name = tool
	if why := r.WhyNotChecked(); why != "" {
		out.State, out.Description = Failed, "not checked: "+sanitize.Line(why)
	}
	return out
}

// WithEffects returns the status with the numbers of effects at the end of its description.
// If both are too long, the description is cut, never the numbers.
func (s CommitStatus) WithEffects(e report.AllEffects) CommitStatus {
	if e.Summary == "" {
		return s
	}
	end := "; " + e.Summary
	room := maxField - len([]rune(end))
	if runes := []rune(s.Description); len(runes) > room {
		s.Description = string(runes[:max(0, room-1)]) + "…"
	}
	s.Description += end
	return s
}

// summarize returns the status of several results, without a name.
func summarize(results []plan.Result) CommitStatus {
	if len(results) == 0 {
		return CommitStatus{State: Success, Description: "nothing to run"}
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
	out := CommitStatus{State: Success, Description: fmt.Sprintf("%d tasks passed", len(results)-onBase)}
	if len(bad) > 0 {
		out.State, out.Description = failureState(bad), fmt.Sprintf("%d of %d tasks did not pass", len(bad), len(results))
	}
	if onBase == len(results) {
		return CommitStatus{State: Success, Description: fmt.Sprintf("not checked: %d broken on base already", onBase)}
	}
	if onBase > 0 {
		out.Description += fmt.Sprintf(", %d broken on base already", onBase)
	}
	return out
}

// UnplannedStatus returns the status of a check whose plan could not be made.
func UnplannedStatus(tool string) CommitStatus {
	return CommitStatus{Name: tool, State: Failed, Description: "could not be planned"}
}

// IntegrationStatuses returns one status per integration of the plan that has tasks. The
// names are TOOL/INTEGRATION.
func IntegrationStatuses(tool string, p *plan.Plan, r *plan.Results) []CommitStatus {
	of := map[string][]plan.Result{}
	for _, t := range p.Tasks {
		result, ok := r.Result(t.ID)
		if !ok {
			result = plan.Result{Task: t.ID, Status: plan.NotRun, Reason: plan.MissingReason, ExitCode: -1}
		}
		of[t.Integration] = append(of[t.Integration], result)
	}
	var out []CommitStatus
	for _, d := range p.Integrations {
		if results := of[d.Name]; len(results) > 0 {
			one := summarize(results)
			one.Name = tool + "/" + d.Name
			out = append(out, one)
		}
	}
	return out
}

// failureState returns the state of results that did not pass.
func failureState(bad []plan.Result) State {
	if slices.ContainsFunc(bad, func(r plan.Result) bool { return r.Status != plan.Canceled }) {
		return Failed
	}
	return Canceled
}

// SetStatuses sets the statuses of a commit: those of the integrations in each, then the
// overall status, even if there were errors before. It also updates statuses of integrations
// that an earlier plan has set on the commit. It does not update them if each is nil and the
// check did not succeed, since their state is then not known. After an error GitLab may show
// wrong statuses.
func (c *Client) SetStatuses(ctx context.Context, at Commit, overall CommitStatus, each []CommitStatus) error {
	ctx, cancel := context.WithTimeoutCause(ctx, reportTime, fmt.Errorf("it took longer than %s", reportTime))
	defer cancel()
	var err error
	if each != nil || overall.State == Success {
		err = c.setIntegrationStatuses(ctx, at, overall.Name, each)
	}
	if err != nil {
		err = fmt.Errorf("the statuses of integrations: %w", addRemedy(err, "api"))
	}
	if late := c.setStatus(ctx, at, overall); late != nil {
		err = errors.Join(err, fmt.Errorf("the status %q: %w", overall.Name, addRemedy(late, "api")))
	}
	return err
}

// setIntegrationStatuses sets the statuses of integrations and updates those of an earlier
// plan.
func (c *Client) setIntegrationStatuses(ctx context.Context, at Commit, tool string, each []CommitStatus) error {
	if err := c.identify(ctx); err != nil {
		return err
	}
	posted, err := readPages(ctx, maxNotes/pageSize, func(ctx context.Context, page int) ([]postedStatus, bool, error) {
		return c.api.statuses(ctx, at, page)
	})
	if err != nil {
		return fmt.Errorf("reading them: %w", err)
	}
	posted = slices.DeleteFunc(posted, func(s postedStatus) bool {
		return s.author != c.userID || s.pipeline > at.Pipeline || !strings.HasPrefix(s.name, tool+"/")
	})
	all, err := selectStatuses(each, posted)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := c.setStatus(ctx, at, s); err != nil {
			return fmt.Errorf("%q: %w", s.Name, err)
		}
	}
	return nil
}

// selectStatuses returns the statuses to set: first those that correct a wrong status in
// posted, then failures, then as many of the others as are allowed.
func selectStatuses(each []CommitStatus, posted []postedStatus) ([]CommitStatus, error) {
	latest := map[string]postedStatus{}
	for _, s := range posted {
		if s.id > latest[s.name].id {
			latest[s.name] = s
		}
	}
	var wrong, others []CommitStatus
	for _, s := range each {
		if old, ok := latest[truncateField(s.Name)]; ok && old.state != s.State {
			wrong = append(wrong, s)
		} else {
			others = append(others, s)
		}
		delete(latest, truncateField(s.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		if latest[name].state != Success {
			wrong = append(wrong, CommitStatus{Name: name, State: Success, Description: "not selected by the latest plan"})
		}
	}
	const most = MaxStatuses - 1 // one is for the overall status
	if len(wrong) > most {
		return nil, fmt.Errorf("%d of them are out of date, and at most %d are set in one go", len(wrong), most)
	}
	slices.SortStableFunc(others, func(a, b CommitStatus) int {
		return cmp.Compare(stateRank(a.State), stateRank(b.State))
	})
	all := slices.Concat(wrong, others)
	return all[:min(len(all), most)], nil
}

// stateRank returns the position of a state in the order in which statuses are set.
func stateRank(s State) int { return slices.Index([]State{Failed, Canceled, Success}, s) }

// setStatus sets a status. Setting it twice does no harm, since only the last one counts.
func (c *Client) setStatus(ctx context.Context, at Commit, s CommitStatus) error {
	s.Name, s.Description = truncateField(s.Name), truncateField(c.mask(s.Description))
	if len([]rune(s.TargetURL)) > maxField {
		s.TargetURL = "" // a cut address does not work
	}
	return repeat(ctx, requestTimeout, func(ctx context.Context) error { return c.api.setStatus(ctx, at, s) })
}

// truncateField cuts a text that is too long for a field of a status. It ends with a hash, so
// that different texts stay different.
func truncateField(text string) string {
	runes := []rune(text)
	if len(runes) <= maxField {
		return text
	}
	end := fmt.Sprintf("…%.4x", sha256.Sum256([]byte(text)))
	return string(runes[:maxField-len([]rune(end))]) + end
}
