package ci

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
)

// A Posting is what one pipeline shows in GitLab: the note of its merge request, and
// commit statuses.
type Posting struct {
	Environment  Environment
	Note         Note
	Settle       time.Duration  // see [Options]
	WithStatuses bool           // whether commit statuses are set, too
	Overall      CommitStatus   // the status of the whole check
	Each         []CommitStatus // the statuses of integrations; nil sets only the overall status
}

// Obstacle says why nothing can be posted and what would be posted otherwise. It is "" if
// the environment has all that posting needs.
func (p Posting) Obstacle() string {
	what := "a note"
	if p.WithStatuses {
		what += " and commit statuses"
	}
	at := p.Environment
	switch {
	case at.API == "" || at.MergeRequest.IID == 0 || at.MergeRequest.Project == 0:
		return "this is no pipeline of a merge request in GitLab: there it would be " + what
	case at.Token.Value == "":
		return fmt.Sprintf("%s is not set: with a token of scope api in it, it would be %s of merge request !%d",
			TokenVariable, what, at.MergeRequest.IID)
	}
	return ""
}

// Body returns the body of the note as it is without an earlier note, with tokens masked.
func (p Posting) Body() (string, error) {
	body, err := p.Note.Body("")
	return p.mask(body), err
}

func (p Posting) mask(text string) string {
	return Mask(text, p.Environment.Token, p.Environment.JobToken)
}

// Post sets the statuses and publishes the note. An error of the statuses does not keep the
// note from being published. With err no note was published.
func (p Posting) Post(ctx context.Context) (out Published, statusErr, err error) {
	at := p.Environment
	client, err := New(Options{API: at.API, Token: at.Token, CAFile: at.CAFile, Settle: p.Settle})
	if err != nil {
		return out, nil, cli.Invalid(err)
	}
	if err := client.Identify(ctx); err != nil {
		return out, nil, fmt.Errorf("posting to GitLab: %w", err)
	}
	if p.WithStatuses {
		statusErr = p.setStatuses(ctx, client)
	}
	if out, err = client.Publish(ctx, at.MergeRequest, p.Note); err != nil {
		return out, statusErr, fmt.Errorf("posting %w", err)
	}
	out.Body = p.mask(out.Body)
	return out, statusErr, nil
}

// setStatuses sets the commit statuses. Each leads to this job.
func (p Posting) setStatuses(ctx context.Context, client *Client) error {
	at := p.Environment
	if at.Commit.Project == 0 || at.Commit.Pipeline == 0 || at.Commit.SHA == "" {
		return cli.Invalid(errors.New("posting statuses: CI_PROJECT_ID, CI_PIPELINE_ID and CI_COMMIT_SHA are needed, or " +
			"--status none"))
	}
	p.Overall.TargetURL = at.JobURL
	for i := range p.Each {
		p.Each[i].TargetURL = at.JobURL
	}
	if err := client.SetStatuses(ctx, at.Commit, p.Overall, p.Each); err != nil {
		return fmt.Errorf("posting %w", err)
	}
	return nil
}

// CollectArtifacts unpacks the artifacts of the pipelines that this job's pipeline started
// into a folder, see [Client.Collect]. It uses the token of the job if there is no other.
func CollectArtifacts(ctx context.Context, at Environment, dir string) ([]Collected, error) {
	token := at.Token
	if token.Value == "" {
		token = at.JobToken
	}
	if at.API == "" || at.Commit.Pipeline == 0 || at.Commit.Project == 0 || token.Value == "" {
		return nil,
			cli.Invalid(errors.New("this is no job of GitLab: CI_API_V4_URL, CI_PROJECT_ID, CI_PIPELINE_ID and a token with " +
				"scope read_api in " + TokenVariable + " are needed"))
	}
	client, err := New(Options{API: at.API, Token: token, CAFile: at.CAFile})
	if err != nil {
		return nil, cli.Invalid(err)
	}
	return client.Collect(ctx, at.Commit.Project, at.Commit.Pipeline, dir)
}
