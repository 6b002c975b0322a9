package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/ci"
)

// soon is how long before its end the end of a token is told.
const soon = 14 * 24 * time.Hour

// checkGitLab asks GitLab what the token may do. It writes nothing.
func (e *examination) checkGitLab(ctx context.Context) {
	at, err := ci.ReadEnvironment(e.Getenv)
	if err != nil {
		e.fail("gitlab", err.Error(), "")
		return
	}
	switch {
	case at.Token.Value == "" && at.API == "":
		return // this is no job of GitLab
	case at.Token.Value == "":
		e.warn("gitlab", ci.TokenVariable+" is not set, so no note is written and no results are collected",
			"make a project access token with the scope api and the role Developer, and store it as a masked variable "+
				"(docs/gitlab.md)")
		return
	case at.API == "":
		e.warn("gitlab", ci.TokenVariable+" is set, but CI_API_V4_URL does not say which GitLab it is for",
			"run planner doctor in a job, or set CI_API_V4_URL and CI_PROJECT_ID")
		return
	}
	client, err := ci.New(ci.Options{API: at.API, Token: at.Token, CAFile: at.CAFile})
	if err != nil {
		e.fail("gitlab", err.Error(), "")
		return
	}
	project := at.MergeRequest
	if project.Project == 0 {
		project.Project = at.Commit.Project
	}
	before := e.Now()
	rights, err := client.Rights(ctx, project)
	after := e.Now()
	if !rights.Clock.IsZero() {
		e.compareClock("GitLab", rights.Clock, before, after)
	}
	var refused *ci.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Status < 500:
		e.fail("gitlab", err.Error(), "")
	case err != nil:
		e.unreachable("gitlab", err.Error(), "look at CI_API_V4_URL, the network and CI_SERVER_TLS_CA_FILE")
	default:
		e.judgeRights(rights, project)
	}
}

// judgeRights says what the rights of a token suffice for.
func (e *examination) judgeRights(r ci.Rights, at ci.MergeRequest) {
	before := len(e.found)
	if r.Scopes != nil && !slices.Contains(r.Scopes, "api") {
		e.fail("gitlab", fmt.Sprintf("the token has the scopes %s and not api, so it can write no note", list(r.Scopes)),
			"make a token with the scope api")
	}
	switch {
	case at.Project == 0 || r.Access >= ci.Developer:
	case r.Access == 0:
		e.warn("gitlab", "GitLab does not tell the role of the token in the project",
			"it needs the role Developer for commit statuses")
	case r.Access >= ci.Reporter:
		e.warn("gitlab", "the token has the role Reporter: it can write the note, but no commit status",
			"give it the role Developer, or use --status none")
	default:
		e.fail("gitlab",
			fmt.Sprintf("the token has the role %d in the project, which is less than Reporter, so it may write no note",
				r.Access), "give it the role Developer")
	}
	if !r.Expires.IsZero() && r.Expires.Sub(e.Now()) < soon {
		e.warn("gitlab", "the token expires on "+r.Expires.Format(time.DateOnly), "make a new one in time")
	}
	if len(e.found) > before {
		return
	}
	said := "the token is valid"
	switch {
	case r.MergeRequest:
		said += fmt.Sprintf(", reads merge request !%d, and may write notes and statuses", at.IID)
	case at.Project != 0:
		said += ", and may write notes and statuses"
	}
	e.ok("gitlab", said)
}
