package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/integration/services"
)

// A simulatedForge is the product's client. It asks the repository of the server directly for what
// is asked often, because a request takes a thousand times as long; what writes goes through the
// client.
type simulatedForge struct {
	*ci.Forge
	repo  *gitlabtest.Repository
	last  string                               // branch that was asked for
	holds func(what string, direct, asked any) // nil, or what compares the answers with those of the client
}

func (s *simulatedForge) Branches(ctx context.Context, prefix string) (map[string]string, error) {
	s.last = prefix
	out := map[string]string{}
	if head := s.repo.Head(prefix); head != "" {
		out[prefix] = head
	}
	return answer(s, "branches", out, func() (map[string]string, error) { return s.Forge.Branches(ctx, prefix) })
}

func (s *simulatedForge) MergeRequests(ctx context.Context, prefix string) ([]services.MergeRequest, error) {
	var out []services.MergeRequest
	for _, m := range s.repo.OpenMergeRequests() {
		if m.Source == prefix {
			shown := s.show(m)
			states := map[string]services.Checks{"success": services.ChecksPassed, "failed": services.ChecksFailed,
				"running": services.ChecksRunning}
			shown.Checks = states[s.repo.PipelineOf(m.Head)]
			out = append(out, shown)
		}
	}
	return answer(s, "merge requests", out, func() ([]services.MergeRequest, error) {
		return s.Forge.MergeRequests(ctx, prefix)
	})
}

func (s *simulatedForge) Past(ctx context.Context, branch string) ([]services.MergeRequest, error) {
	var out []services.MergeRequest
	for _, m := range s.repo.MergeRequestsOf(branch) {
		out = append(out, s.show(m))
	}
	return answer(s, "past", out[:min(len(out), 100)], func() ([]services.MergeRequest, error) {
		return s.Forge.Past(ctx, branch)
	})
}

func (s *simulatedForge) File(ctx context.Context, ref, path string) (services.ForgeFile, error) {
	text, ok := s.repo.File(ref, path)
	if !ok {
		return services.ForgeFile{}, services.ErrNotThere
	}
	out := services.ForgeFile{Content: []byte(text), Version: s.repo.LastCommit(ref, path)}
	return answer(s, "file", out, func() (services.ForgeFile, error) { return s.Forge.File(ctx, ref, path) })
}

// show returns what lists of the server tell of a merge request.
func (s *simulatedForge) show(m gitlabtest.MergeRequest) services.MergeRequest {
	states := map[string]services.MergeState{"opened": services.MergeOpen, "merged": services.MergeDone,
		"closed": services.MergeClosed}
	out := services.MergeRequest{Number: m.IID, Branch: m.Source, Head: m.Head, State: states[m.State], Title: m.Title,
		Description: m.Description,
		Labels:      m.Labels, Armed: m.Armed, ClosedByUs: m.State == "closed" && m.ClosedBy.ID == gitlabtest.Bot,
		Opened: m.Opened.Truncate(time.Second)}
	switch m.State {
	case "opened":
		out.Conflicts = s.repo.Conflicts(m.IID)
	case "closed":
		out.ClosedBy, out.Closed = m.ClosedBy.Username, m.Ended.Truncate(time.Second)
	case "merged":
		out.Merged = m.Ended.Truncate(time.Second)
	}
	return out
}

// hold fails the test if a direct answer is not that of the client.
func (w *world) hold(what string, direct, asked any) {
	if list, ok := asked.([]services.MergeRequest); ok {
		for i := range list {
			list[i].URL = ""
		}
	}
	if got, want := fmt.Sprint(direct), fmt.Sprint(asked); got != want {
		w.t.Fatalf("%s: the server says directly\n%s\nand to the client\n%s", what, got, want)
	}
}

// answer returns a direct answer, after it was compared with that of the client.
func answer[T any](s *simulatedForge, what string, direct T, ask func() (T, error)) (T, error) {
	if s.holds == nil {
		return direct, nil
	}
	asked, err := ask()
	if err == nil {
		s.holds(what, direct, asked)
	}
	return direct, err
}

// A wire is a transport that calls a server without a network.
type wire struct{ http.Handler }

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, req)
	return rec.Result(), nil
}
