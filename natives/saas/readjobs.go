package saas

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/jobs"
	"github.com/app-sre/prcheck/plan"
)

type jobAnswer struct {
	Name     string     `json:"name"`
	Type     string     `json:"type"`
	App      *nameIs    `json:"app,omitempty"`
	Instance nameIs     `json:"instance"`
	Config   *string    `json:"config,omitempty"`
	Resource *contentIs `json:"config_path,omitempty"`
}

type nameIs struct {
	Name string `json:"name"`
}

type contentIs struct {
	Content string `json:"content"`
}

// ReadJobs reads the definitions of jobs, if any target waits for one, and finds the jobs that they
// make on each build server. [Validate] compares them with the targets; without this call it says
// nothing about jobs.
func (m *Model) ReadJobs(ctx context.Context, query integration.QueryFunc) error {
	isNeeded := false
	m.eachTarget(func(t *Target) { isNeeded = isNeeded || t.Upstream != nil })
	if !isNeeded || !m.known["Query"][jobList.root] {
		return nil
	}
	rows, err := jobList.ask(ctx, query, m.known)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	configs := map[string][]jobs.Config{}
	var unread []jobs.Problem // of files whose build server nobody knows
	for i := range rows {
		a := decode[jobAnswer](&rows[i])
		if w := rows[i].wrong; w != nil {
			unread = append(unread, jobs.Problem{File: rows[i].path, Message: w.message})
			continue
		}
		c := jobs.Config{File: rows[i].path, Name: a.Name, Type: a.Type}
		if a.App != nil {
			c.App = a.App.Name
		}
		switch {
		case a.Config != nil:
			c.JSON = json.RawMessage(*a.Config)
		case a.Resource != nil:
			c.Text = a.Resource.Content
		default:
			unread = append(unread, jobs.Problem{File: rows[i].path, Message: "it has no definitions"})
		}
		configs[a.Instance.Name] = append(configs[a.Instance.Name], c)
	}
	m.jobs = map[string]jobs.Jobs{}
	for instance, of := range configs {
		found := jobs.Expand(of)
		found.Problems = append(found.Problems, unread...)
		m.jobs[instance] = found
	}
	return nil
}

// checkUpstream checks that the job of a target exists, and builds its repository and branch. What
// nobody knows is no mistake.
func (m *Model) checkUpstream(t *Target) {
	of := t.Upstream
	if of == nil || m.jobs == nil || IsCommit(t.Ref) {
		return
	}
	server, isKnown := m.jobs[of.Instance]
	if !isKnown {
		m.tellTarget(t, CodeUpstream, plan.SeverityNote, "/upstream/instance",
			fmt.Sprintf("the data define no jobs of %.100q, so whether it has the job %.100q was not checked", of.Instance,
				of.Job))
		return
	}
	found := server.Jobs[of.Job]
	for _, p := range server.Problems {
		if len(found) == 0 {
			m.Findings = append(m.Findings, plan.Finding{Code: CodeUpstream, Severity: plan.SeverityNote,
				Place: plan.Place{File: p.File},
				Message: fmt.Sprintf("not all jobs of %.100q are known, so upstream jobs that nobody found were not checked: %s",
					of.Instance, p.Message)})
		}
	}
	switch {
	case len(found) == 0 && len(server.Problems) == 0:
		m.tellTarget(t, CodeUpstream, plan.SeverityError, "/upstream/name",
			fmt.Sprintf("%.100q has no job %.100q%s", of.Instance, of.Job, m.rightJobs(t)))
	case len(found) == 0 || slices.ContainsFunc(found, func(j jobs.Job) bool { return j.Builds(t.Template.URL, t.Ref) }):
	case slices.ContainsFunc(found, func(j jobs.Job) bool { return j.URL == "" || j.Branch == "" }):
		m.tellTarget(t, CodeUpstream, plan.SeverityNote, "/upstream/name",
			fmt.Sprintf("which repository and branch the job %.100q builds is not known, so it was not checked", of.Job))
	default:
		m.tellTarget(t, CodeUpstream, plan.SeverityError, "/upstream/name",
			fmt.Sprintf("the job %.100q builds %.200s at %.100s, and the target deploys %.200s at %.100s%s",
				of.Job, found[0].URL, found[0].Branch, t.Template.URL, t.Ref, m.rightJobs(t)))
	}
}

// rightJobs names jobs that build what a target deploys.
func (m *Model) rightJobs(t *Target) string {
	const most = 3
	out := ""
	for _, instance := range sortedKeys(m.jobs) {
		left := most
		for _, name := range sortedKeys(m.jobs[instance].Jobs) {
			isRight := slices.ContainsFunc(m.jobs[instance].Jobs[name], func(j jobs.Job) bool {
				return j.Builds(t.Template.URL, t.Ref)
			})
			if isRight && left > 0 {
				left--
				out += fmt.Sprintf(", %.100s of %.100s", name, instance)
			}
		}
	}
	if out == "" {
		return ""
	}
	return "; jobs that build it are " + out[2:]
}
