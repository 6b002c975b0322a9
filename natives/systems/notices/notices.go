package notices

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/retry"
)

// The bounds of a request.
const (
	timeout    = 10 * time.Second
	maxAnswer  = 1 << 20 // bytes
	maxOfShown = 140     // characters of a description; GitHub takes no more
)

// A Sender sends. It implements [services.Notifier]. The zero value works.
type Sender struct {
	Pause time.Duration // before the second attempt, at most; 0 is a second
}

// A cloudEvent is an event in the JSON of CloudEvents 1.0.
type cloudEvent struct {
	Version     string          `json:"specversion"`
	ID          string          `json:"id"`
	Source      string          `json:"source"`
	Type        string          `json:"type"`
	Subject     string          `json:"subject,omitempty"`
	Time        string          `json:"time"`
	ContentType string          `json:"datacontenttype"`
	Data        json.RawMessage `json:"data"`
}

// Event implements [services.Notifier].
func (c Sender) Event(ctx context.Context, to services.Address, e services.Event) error {
	raw, err := json.Marshal(cloudEvent{Version: "1.0", ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject,
		Time: e.At.UTC().Format(time.RFC3339Nano), ContentType: "application/json", Data: e.Data})
	if err != nil {
		return err
	}
	return c.post(ctx, to, to.URL, "application/cloudevents+json", raw, nil)
}

// Status implements [services.Notifier].
func (c Sender) Status(ctx context.Context, of services.CommitStatus) error {
	at, err := url.Parse(of.Repository)
	if err != nil || at.Host == "" {
		return config(errors.New("the repository has no address of a forge"))
	}
	path := strings.TrimSuffix(strings.Trim(at.Path, "/"), ".git")
	text := phrase.Cut(of.Text, maxOfShown)
	base := url.URL{Scheme: at.Scheme, Host: at.Host}
	var to string
	body := map[string]string{"description": text, "target_url": of.Link, "state": of.State}
	switch of.Kind {
	case "github":
		if parts := strings.Split(path, "/"); len(parts) != 2 {
			return config(fmt.Errorf("%.100q is no repository of GitHub", path))
		}
		if base = *base.JoinPath("api", "v3"); at.Host == "github.com" {
			base = url.URL{Scheme: at.Scheme, Host: "api.github.com"}
		}
		to = base.JoinPath("repos").String() + "/" + path + "/statuses/" + of.Commit
		body["context"] = of.Name
	case "gitlab":
		to = base.JoinPath("api", "v4", "projects").String() + "/" + url.PathEscape(path) + "/statuses/" + of.Commit
		body["name"] = of.Name
		if of.State == "failure" {
			body["state"] = "failed"
		}
	default:
		return config(fmt.Errorf("%.40q is no kind of forge; it may be github or gitlab", of.Kind))
	}
	if of.Link == "" {
		delete(body, "target_url")
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	isThere := func(code int, answer []byte) bool {
		return of.Kind == "gitlab" && code == http.StatusBadRequest && isRefusedAsThere(of.State, answer)
	}
	return c.post(ctx, services.Address{URL: to, Token: of.Token}, to, "application/json", raw, isThere)
}

// refused matches how GitLab refuses to set a status, with the state in which it is.
var refused = lazyregexp.New(`Cannot transition status via :\w+ from :(\w+)`)

// isRefusedAsThere reports whether GitLab refuses a state because the status has it already. What waits may run there.
func isRefusedAsThere(state string, answer []byte) bool {
	is := refused.FindSubmatch(answer)
	if is == nil {
		return false
	}
	switch from := string(is[1]); state {
	case "pending":
		return from == "pending" || from == "running"
	case "failure":
		return from == "failed"
	default:
		return from == state
	}
}

// post sends a body to an address. What may pass by itself is tried again.
func (c Sender) post(ctx context.Context, to services.Address, address, kind string, raw []byte,
	isDone func(code int, answer []byte) bool) error {
	at, err := origin.Parse(to.URL)
	if err != nil {
		return config(errors.New("its address is none such as https://HOST/PATH: correct it in the settings"))
	}
	party := outward.Party{At: at, Timeout: timeout, Largest: maxAnswer, Remedy: "name that one in the settings",
		May: func(r *http.Request) bool { return r.Method == http.MethodPost }}
	if to.Token != "" {
		party.Authorization = outward.Bearer(to.Token)
	}
	pause := cmp.Or(c.Pause, time.Second)
	policy := retry.Policy{Attempts: 3, FirstPause: pause, MaxPause: 2 * pause, Within: time.Minute}
	return policy.Do(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(raw))
		if err != nil {
			return config(errors.New("its address is none: correct it in the settings"))
		}
		req.Header.Set("Content-Type", kind)
		res, err := party.Client().Do(req)
		if err != nil {
			return outward.Explain(ctx, "it", err)
		}
		defer func() { _ = res.Body.Close() }() // it was read
		answer, err := io.ReadAll(res.Body)
		switch code := res.StatusCode; {
		case code >= 200 && code < 300, err == nil && isDone != nil && isDone(code, answer):
			return nil
		case code == http.StatusTooManyRequests, code >= 500:
			return integration.Failure(integration.FailureTransient, fmt.Errorf("it answered %d", code))
		default:
			return config(fmt.Errorf("it answered %d (%s)", code, http.StatusText(code)))
		}
	}, func(err error) (time.Duration, bool) {
		return 0, integration.ClassOfFailure(err) == integration.FailureTransient
	})
}

func config(err error) error { return integration.Failure(integration.FailureOfConfig, err) }
