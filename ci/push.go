package ci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/retry"
)

// A gitWriter moves branches with git's own protocol. The API of GitLab has no call that moves or
// deletes a branch only if it has a certain head; a push of git names the head that it replaces,
// and the server compares it while it holds the lock of the branch.
type gitWriter struct {
	client *http.Client
	root   string // address of GitLab, without the path of the API
	token  Token
	mask   func(string) string
}

// apiPath is the path of the API below the address of GitLab.
const apiPath = "/api/v4"

func newGitWriter(api string, token Token, transport http.RoundTripper, mask func(string) string) (gitWriter, error) {
	root, ok := strings.CutSuffix(strings.TrimRight(api, "/"), apiPath)
	if !ok {
		return gitWriter{}, fmt.Errorf("the address of the API, %.200q, does not end with %s", mask(api), apiPath)
	}
	return gitWriter{&http.Client{Transport: transport, CheckRedirect: checkRedirect}, root, token, mask}, nil
}

// A moveRefusedError is the reason for which git did not move a branch.
type moveRefusedError struct{ reason string }

// Error implements [error].
func (e *moveRefusedError) Error() string { return "git refused it: " + e.reason }

const (
	nothing = "0000000000000000000000000000000000000000"
	// emptyPack is a pack without objects: the project has them all.
	emptyPack = "PACK\x00\x00\x00\x02\x00\x00\x00\x00\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd\x3e\xd3\x1e"
)

// move lets a branch of a project point to a commit that the project has, if its head is still
// another one; it deletes the branch if the commit is "". The error is a *moveRefusedError if git
// did not do it.
func (g gitWriter) move(ctx context.Context, project, branch, was, is string) error {
	ref := "refs/heads/" + branch
	pack := emptyPack
	if is == "" {
		is, pack = nothing, ""
	}
	if len(was) != len(nothing) || len(is) != len(nothing) || strings.ContainsAny(branch, "\x00\n ") {
		return retry.Permanent(fmt.Errorf("%.80q from %.80q to %.80q is no move of a branch", branch, was, is))
	}
	body := packet(was+" "+is+" "+ref+"\x00 report-status delete-refs agent=prcheck") + "0000" + pack
	address := g.root + "/" + (&url.URL{Path: project}).EscapedPath() + ".git/git-receive-pack"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return retry.Permanent(errors.New("the address of the project is none"))
	}
	req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	req.Header.Set("Accept", "application/x-git-receive-pack-result")
	user := "oauth2" // GitLab takes any user but a blank one
	if g.token.Job {
		user = "gitlab-ci-token"
	}
	req.SetBasicAuth(user, g.token.Value)
	res, err := g.client.Do(req)
	if err != nil {
		var address *url.Error
		if errors.As(err, &address) {
			err = address.Err
		}
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal+1))
	switch {
	case res.StatusCode != http.StatusOK:
		return &RefusedError{Status: res.StatusCode, Text: cleanText(string(answer), g.mask), after: retryAfter(res.Header)}
	case err != nil:
		return err
	case len(answer) > maxRefusal:
		return errTooLarge
	}
	return g.readReport(answer, ref)
}

// move moves a branch to a commit if its head is still another one, or deletes it if the commit is
// "". Since nothing happens otherwise, a request without an answer is sent again.
func (f *Forge) move(ctx context.Context, what, branch, was, is string) error {
	err := repeat(ctx, requestTimeout, func(ctx context.Context) error {
		return f.git.move(ctx, f.project, branch, was, is)
	})
	var refused *moveRefusedError
	if !errors.As(err, &refused) {
		return forgeError(what, err)
	}
	heads, errHeads := f.Branches(ctx, branch)
	switch head := heads[branch]; {
	case errHeads != nil:
		return fmt.Errorf("%s: %w", what, errors.Join(err, errHeads))
	case head == is: // an answer was lost, or the branch is deleted
		return nil
	case head != was:
		return fmt.Errorf("%s: %w: %w", what, services.ErrBranchMoved, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// packet returns a line in the form of git.
func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

// readReport reads what git says about a push of one reference.
func (g gitWriter) readReport(answer []byte, ref string) error {
	for len(answer) > 0 {
		size, err := strconv.ParseUint(string(answer[:min(4, len(answer))]), 16, 16)
		if err != nil || size < 4 || int(size) > len(answer) {
			break // 0000 ends what git says
		}
		line := string(bytes.TrimSuffix(answer[4:size], []byte("\n")))
		answer = answer[size:]
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "unpack" && rest != "ok":
			return retry.Permanent(&moveRefusedError{cleanText(rest, g.mask)})
		case word == "ok" && rest == ref:
			return nil
		case word == "ng" && strings.HasPrefix(rest, ref+" "):
			return retry.Permanent(&moveRefusedError{cleanText(strings.TrimPrefix(rest, ref+" "), g.mask)})
		}
	}
	return retry.Permanent(errors.New("the answer is not that of git to a push"))
}
