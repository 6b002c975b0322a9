package promotions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/notice"
)

// A hearing notifier keeps what it is told.
type hearing struct {
	events   []services.Event
	statuses []services.CommitStatus
	fail     error
	// refuse returns why it does not take an event about a subject.
	refuse func(subject string) error
	asked  []string // subjects of all events
}

func (h *hearing) Event(_ context.Context, to services.Address, e services.Event) error {
	if to.URL != "https://events.example.com/saas" {
		return fmt.Errorf("sent to %s", to.URL)
	}
	h.asked = append(h.asked, e.Subject)
	if h.refuse != nil {
		if err := h.refuse(e.Subject); err != nil {
			return err
		}
	}
	if h.fail == nil {
		h.events = append(h.events, e)
	}
	return h.fail
}

func (h *hearing) Status(_ context.Context, of services.CommitStatus) error {
	if h.fail == nil {
		h.statuses = append(h.statuses, of)
	}
	return h.fail
}

// kinds returns the kinds of the events with the ends of their targets, and forgets them.
func (h *hearing) kinds() string {
	var out []string
	for _, e := range h.events {
		out = append(out, strings.TrimPrefix(e.Type, "prcheck.saas.")+" "+e.Subject[max(0, len(e.Subject)-5):])
	}
	h.events = nil
	return strings.Join(out, ", ")
}

const notified = ", may: {production: [jane]}, notify: {events: {url: 'https://events.example.com/saas'}, " +
	"statuses: {github.com: {kind: github, token: {path: code, field: token}}}}"

// Each event is told once, in its order; what was before is no news; a wait is told when it begins; a failure to tell
// changes nothing and is made up for.
func TestNotices(t *testing.T) {
	s := newScene(t, 1, 1)
	h := &hearing{}
	s.own, s.notices = notified, h
	s.code = []string{sha(2), sha(1)}
	s.mustLoop()
	h.kinds() // it waits for a publisher
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	if got, want := h.kinds(), "proposed ction"; !strings.Contains(got, want) || strings.Count(got, "proposed") != 1 {
		t.Errorf("told %q, want %q", got, want)
	}
	s.mustLoop()
	s.mustLoop()
	if got := h.kinds(); got != "" {
		t.Errorf("a quiet loop told %q", got)
	}
	last := h.statuses[len(h.statuses)-1]
	if last.State != "pending" || last.Commit != sha(2) || last.Repository != "https://github.com/acme/shop" ||
		!strings.HasSuffix(last.Link, "/-/merge_requests/1") || last.Kind != "github" {
		t.Errorf("the status is %+v", last)
	}
	h.fail = errors.New("no room")
	s.forge.requests[0].State, s.forge.requests[0].ClosedBy = services.MergeClosed, "jane"
	s.forge.requests[0].Closed = s.now
	s.now = s.now.Add(time.Minute)
	s.mustLoop()
	if !slices.ContainsFunc(s.findings, func(line string) bool { return strings.Contains(line, "was told") }) {
		t.Errorf("nobody says that nobody was told: %q", s.findings)
	}
	h.fail = nil
	s.mustLoop()
	if got := h.kinds(); !strings.Contains(got, "rejected ction") || !strings.Contains(got, "waits ction") ||
		strings.Count(got, "rejected") != 1 {
		t.Errorf("told %q", got)
	}
	if last := h.statuses[len(h.statuses)-1]; last.State != "failure" || !strings.Contains(last.Text, "by jane") {
		t.Errorf("the status is %+v", last)
	}
	s.mustLoop()
	if got := h.kinds(); got != "" {
		t.Errorf("a quiet loop told %q", got)
	}
}

// A notice that a receiver does not take is in the way of no other target, also if many are such ones. A receiver that
// does not answer is asked once.
func TestRefusedNotices(t *testing.T) {
	s := newScene(t, 6, 5)
	h := &hearing{}
	s.own, s.notices = ", notify: {events: {url: 'https://events.example.com/saas'}}", h
	s.code = []string{sha(2), sha(1)}
	s.mustLoop()
	said := func() string {
		for _, line := range s.findings {
			if strings.Contains(line, "was told") {
				return line
			}
		}
		return ""
	}
	h.refuse = func(string) error {
		return integration.Failure(integration.FailureOfConfig, errors.New("it answered 404"))
	}
	s.deployAll(sha(2))
	asked := map[string]bool{}
	for range 5 {
		h.asked = nil
		if _, _ = s.loop(); len(h.asked) != maxRefused || !strings.Contains(said(), "and 19 more") {
			t.Errorf("asked %d times, said %q", len(h.asked), said())
		}
		for _, subject := range h.asked {
			asked[subject] = true
		}
	}
	h.asked, h.events = nil, nil
	h.refuse = func(string) error { return integration.Failure(integration.FailureTransient, errors.New("no route")) }
	_, _ = s.loop()
	if len(h.asked) != 1 || said() == "" {
		t.Errorf("asked %q, said %q", h.asked, said())
	}
	h.asked, h.refuse = nil, nil
	_, _ = s.loop()
	told := map[string]bool{}
	for _, e := range h.events {
		told[e.Subject] = true
	}
	if len(asked) <= maxRefused || !maps.Equal(told, asked) || said() != "" {
		t.Errorf("told %d, asked %d, said %q", len(told), len(asked), said())
	}
	h.asked = nil
	if _, _ = s.loop(); len(h.asked) != 0 {
		t.Errorf("a quiet loop told %q", h.asked)
	}
}

// What is remembered of notices may be damaged: then nobody is told, that is said, and promotions go on.
func TestDamagedNotices(t *testing.T) {
	s := newScene(t, 1, 1)
	h := &hearing{}
	s.own, s.notices = notified, h
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	for _, text := range []string{"{", `{"version": 9, "of": {}}`, `{"version": 1, "of": {"x": {"waits": 1}}}`} {
		for _, key := range []string{"told-events", "told-statuses"} {
			err := s.state.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte(text), nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		wrote, err := s.loop()
		isTold := func(line string) bool { return strings.Contains(line, "not everything was told") }
		if err != nil || len(h.events)+len(h.statuses) > 0 || !slices.ContainsFunc(s.findings, isTold) {
			t.Errorf("%s: %v, told %v, found %q", text, err, h.events, s.findings)
		}
		if text == "{" && !slices.Contains(wrote, "open") {
			t.Errorf("%s: wrote %q", text, wrote)
		}
	}
}

// One outage is one event and one line, however many targets it touches, and it is told again only after it ended.
func TestNoticeOfOutage(t *testing.T) {
	s := newScene(t, 3, 2)
	h := &hearing{}
	s.own, s.notices = notified, h
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	_, _ = s.loop()
	h.kinds()
	s.noCode = errors.New("https://github.com: no route")
	for range 3 {
		_, _ = s.loop()
	}
	errs := 0
	for _, line := range s.findings {
		if strings.HasPrefix(line, "error ") {
			errs++
		}
	}
	if errs != 1 {
		t.Errorf("%d lines tell of one outage: %q", errs, s.findings)
	}
	if len(h.events) != 1 || h.events[0].Type != "prcheck.saas.outage" ||
		!strings.Contains(string(h.events[0].Data), `"targets":6`) {
		t.Errorf("told %d events, such as %+v", len(h.events), h.events)
	}
}

// What tells an outage is masked before it is cut, told and remembered.
func TestNoticeOfOutageIsMasked(t *testing.T) {
	for _, secret := range []string{"sesame-of-code", "open: sesame-of-code"} {
		s := newScene(t, 1, 1)
		h := &hearing{}
		s.own, s.notices = notified, h
		s.code = []string{sha(2), sha(1)}
		s.deployAll(sha(2))
		_, _ = s.loop()
		h.kinds()
		s.noCode = errors.New("https://github.com: refused: " + secret)
		s.now = s.now.Add(5 * time.Minute)
		env := s.env()
		env.Mask = func(text string) string { return strings.ReplaceAll(text, secret, "***") }
		_ = s.native().Run(t.Context(), env, s.actors())
		if len(h.events) != 1 || h.events[0].Subject != "https://github.com ***" {
			t.Errorf("told %+v", h.events)
		}
		remembered, err := s.state.Read(t.Context(), "told-events")
		if err != nil || !strings.Contains(string(remembered), "***") {
			t.Errorf("remembered %s, %v", remembered, err)
		}
		for _, text := range []string{fmt.Sprintf("%+v %s", h.events[0], h.events[0].Data), string(remembered)} {
			if strings.Contains(text, "sesame-of-code") {
				t.Errorf("it shows the secret: %s", text)
			}
		}
	}
}

// A creating cluster keeps what is created, each name once.
type creating struct {
	integration.ClusterWriter
	made map[string]string
}

func (c creating) Create(_ context.Context, ref integration.ObjectRef, raw json.RawMessage) (json.RawMessage, error) {
	if c.made[ref.Name] != "" {
		return nil, integration.ErrChanged
	}
	c.made[ref.Name] = ref.Namespace + " " + string(raw)
	return raw, nil
}

// A notice is one event of Kubernetes in the namespace of its target, also if it is sent twice.
func TestClusterEvents(t *testing.T) {
	s := newScene(t, 1, 1)
	s.own, s.notices = ", notify: {cluster: true}", &hearing{}
	s.code = []string{sha(2), sha(1)}
	cluster := creating{made: map[string]string{}}
	loop := func() {
		t.Helper()
		s.now = s.now.Add(5 * time.Minute)
		s.forge.now = s.now
		act := s.actors()
		act.Cluster = func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) { return cluster, nil }
		if err := s.native().Run(t.Context(), s.env(), act); err != nil {
			t.Fatal(err)
		}
	}
	loop()
	s.deployAll(sha(2))
	loop()
	before := len(cluster.made)
	all := fmt.Sprint(cluster.made)
	if before == 0 || !strings.Contains(all, `"reason":"SaasProposed"`) || !strings.Contains(all, "shop-production {") {
		t.Errorf("the cluster has %s", all)
	}
	if loop(); len(cluster.made) != before {
		t.Errorf("a quiet loop made %d events", len(cluster.made)-before)
	}
}

// A real API server takes the event.
func TestRealClusterEvent(t *testing.T) {
	real := kubetest.Start(t)
	name, raw, err := clusterEvent(notice.Notice{ID: strings.Repeat("a", 32), Kind: notice.Waits, At: begin, UID: "x",
		Target: "shop/web", Code: "soak", Why: strings.Repeat("x", 5000)}, "default", "prcheck-saas-promotions",
		func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	code, answer := real.Send(t, "admin", "POST", "/api/v1/namespaces/default/events", "application/json", string(raw))
	if code != 201 {
		t.Errorf("%s: %d %s", name, code, answer)
	}
}
