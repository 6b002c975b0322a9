package promotions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/notice"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/plan"
)

// notifySettings say where what happened is told.
type notifySettings struct {
	// Events is an address that takes CloudEvents.
	Events struct {
		URL   string     `yaml:"url"`
		Token *secretRef `yaml:"token"`
	} `yaml:"events"`
	// Statuses are the forges of code that get statuses of commits, by host.
	Statuses map[string]statusSettings `yaml:"statuses"`
	// Cluster makes events of Kubernetes in the namespaces of targets.
	Cluster bool `yaml:"cluster"`
}

type statusSettings struct {
	Kind  string    `yaml:"kind"`
	Token secretRef `yaml:"token"`
}

type secretRef struct {
	Path    string `yaml:"path"`
	Field   string `yaml:"field"`
	Version string `yaml:"version"`
}

func (s secretRef) ref() integration.SecretRef {
	return integration.SecretRef{Path: s.Path, Field: s.Field, Version: s.Version}
}

// mistake returns what is wrong with the settings, and where; "" is nothing.
func (s notifySettings) mistake() (what string, where []string) {
	if s.Events.URL != "" {
		if _, err := origin.Parse(s.Events.URL); err != nil {
			return "must be an address such as https://events.example.com/saas", []string{"notify", "events", "url"}
		}
	}
	for host, of := range s.Statuses {
		switch {
		case of.Kind != "github" && of.Kind != "gitlab":
			return "must be github or gitlab", []string{"notify", "statuses", host, "kind"}
		case of.Token.Path == "" || of.Token.Field == "":
			return "must have path and field of the secret with its token", []string{"notify", "statuses", host, "token"}
		}
	}
	return "", nil
}

// The bounds of what a loop sends to one receiver; the others follow in the next loops.
const (
	maxNotices = 200
	maxRefused = 20 // targets whose notices it does not take
)

// codeUntold says that somebody could not be told what happened.
const codeUntold = "PROMOTION_UNTOLD"

// A teller sends notices to one receiver. What was sent is remembered for each.
type teller struct {
	name string
	send func(ctx context.Context, n notice.Notice, about *saas.Target) error
	// server returns what takes the notices of a target: if it does not answer, it is not asked for the others.
	server func(about *saas.Target) string
}

// What is remembered beside the targets: the outages that last, since when anything is told, and the targets whose
// notices are not taken, which come last in the next loop, so that they are in nobody's way.
const (
	outageKey  = "outages"
	begunKey   = "begun"
	refusedKey = "refused"
)

// tellPeople tells what happened since the last loop. A failure changes nothing else: it is told, and the notice is
// sent again by the next loop.
func (w *work) tellPeople(ctx context.Context) {
	if w.services.Notices == nil || w.asker.books == nil {
		return
	}
	for _, to := range w.tellers() {
		if err := w.tellOne(context.WithoutCancel(ctx), to); err != nil {
			w.env.Report(integration.Remark{Finding: plan.Finding{Code: codeUntold, Severity: plan.SeverityWarning,
				Message: fmt.Sprintf("not everything was told to %s; the next loop tries it again: %v",
					to.name, err)}})
		}
	}
}

// tellers returns the receivers of the settings.
func (w *work) tellers() []teller {
	var out []teller
	of := w.settings.Notify
	if of.Events.URL != "" {
		out = append(out, teller{"events", w.sendEvent, func(*saas.Target) string { return "" }})
	}
	if len(of.Statuses) > 0 {
		out = append(out, teller{"statuses", w.sendStatus, forgeOf})
	}
	if of.Cluster && w.act.Cluster != nil {
		out = append(out, teller{"cluster", w.sendToCluster, clusterOf})
	}
	return out
}

// tellOne sends what is new to one receiver. What is remembered of a target moves on as far as notices were sent.
func (w *work) tellOne(ctx context.Context, to teller) error {
	key := "told-" + to.name
	was, err := readDocument[notice.Memory](ctx, w.act.State, key)
	if err != nil {
		return err
	}
	begun, isBegun := was[begunKey]
	if !isBegun {
		at := notice.Mark{At: w.now}
		begun = notice.Memory{Runs: at, Checks: at, Entries: at}
	}
	all := telling{teller: to, refused: was[refusedKey].Waits, now: map[string]notice.Memory{begunKey: begun},
		isDown: map[string]bool{}}
	waits := w.waiting()
	for _, t := range all.inOrder(w.model.Targets()) {
		b := w.asker.books.Known(t.UID())
		before, isKnown := was[t.UID()]
		switch {
		case b == nil && isKnown:
			all.now[t.UID()] = before // nobody read it in this loop
		case b == nil:
		default:
			if !isKnown {
				before = begun
			}
			news, after := notice.Of(b, before)
			began, after := notice.Began(waits[t.UID()], after, w.now)
			all.tell(ctx, t.UID(), t, append(news, began...), before, after)
		}
	}
	var unknown []notice.Wait
	for _, s := range w.all {
		unknown = append(unknown, waits[s.target().UID()]...)
	}
	news, after := notice.Outages(unknown, was[outageKey], w.now)
	all.tell(ctx, outageKey, nil, news, was[outageKey], after)
	if len(all.late) > 0 {
		all.now[refusedKey] = notice.Memory{Waits: all.late}
	}
	return errors.Join(append(all.errs.Errors(), updateDocument(ctx, w.act.State, key,
		func(of map[string]notice.Memory) {
			clear(of)
			maps.Copy(of, all.now)
		}))...)
}

// A telling is what a loop tells to one receiver.
type telling struct {
	teller
	refused []string // uids of the targets whose notices it did not take before
	now     map[string]notice.Memory

	sent   int
	late   []string // uids of the targets whose notices it does not take
	failed int
	isDown map[string]bool // by server
	errs   saas.Outages
}

// inOrder returns targets in the order in which they are told.
func (l *telling) inOrder(all []*saas.Target) []*saas.Target {
	isRefused := func(t *saas.Target) bool { return slices.Contains(l.refused, t.UID()) }
	first := slices.DeleteFunc(slices.Clone(all), isRefused)
	for _, t := range all {
		if isRefused(t) {
			first = append(first, t)
		}
	}
	return first
}

// tell tells the news of one target, or of none, in their order. If one is not taken, all of them are sent once more by
// the next loop: who gets a notice twice knows its id.
func (l *telling) tell(ctx context.Context, uid string, about *saas.Target, news []notice.Notice,
	before, after notice.Memory) {
	l.now[uid] = after
	for _, n := range news {
		server := l.server(about)
		if l.sent++; l.sent > maxNotices || l.isDown[server] || about != nil && l.failed >= maxRefused {
			if l.now[uid] = before; slices.Contains(l.refused, uid) {
				l.late = append(l.late, uid)
			}
			return
		}
		if err := l.send(ctx, n, about); err != nil {
			l.now[uid] = before
			l.fail(err, server, about)
			return
		}
	}
}

// fail notes why the news of a target are not told.
func (l *telling) fail(err error, server string, about *saas.Target) {
	label := ""
	if about != nil {
		label = about.Label()
		l.failed++
		l.late = append(l.late, about.UID())
	}
	l.errs.Add(err, label)
	l.isDown[server] = integration.ClassOfFailure(err) == integration.FailureTransient
}

// waiting returns the waits of all subscribers, by the uid of their first target.
func (w *work) waiting() map[string][]notice.Wait {
	out := map[string][]notice.Wait{}
	for _, c := range w.components {
		for _, s := range c.subscribers {
			d := w.wait(c, s)
			if d.Code == "" {
				continue
			}
			t := s.target()
			wait := notice.Wait{UID: t.UID(), Target: s.label(), Commit: d.Commit, Code: string(d.Code), Why: d.Hold,
				Until: d.Opens}
			if why := firstOf(s.unknown, s.d.Err); d.Code == promotion.Unknown && why != nil {
				// It is remembered and told as it is. Masked first: the cut may leave half of a secret, which nobody knows.
				wait.Outage = saas.OutageOf(errors.New(w.env.Mask(why.Error())))
			}
			out[t.UID()] = append(out[t.UID()], wait)
		}
	}
	return out
}

// sendEvent sends a notice as a CloudEvent.
func (w *work) sendEvent(ctx context.Context, n notice.Notice, _ *saas.Target) error {
	to := services.Address{URL: w.settings.Notify.Events.URL}
	if token := w.settings.Notify.Events.Token; token != nil {
		value, err := w.env.Secret(ctx, token.ref())
		if err != nil {
			return fmt.Errorf("the token of the events: %w", err)
		}
		to.Token = value
	}
	n.Why = w.env.Mask(n.Why)
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return w.services.Notices.Event(ctx, to, services.Event{ID: n.ID, Source: "/prcheck/" + w.env.Integration,
		Type: "prcheck.saas." + string(n.Kind), Subject: n.Subject(), At: n.At, Data: data})
}

// sendStatus sets the status of the commit of a notice at the forge of its repository, if the settings name that.
func (w *work) sendStatus(ctx context.Context, n notice.Notice, about *saas.Target) error {
	state := n.State()
	if about == nil || state == "" || !saas.IsCommit(n.Commit) {
		return nil
	}
	at := forgeOf(about)
	of, isNamed := w.settings.Notify.Statuses[at]
	if at == "" || !isNamed {
		return nil
	}
	token, err := w.env.Secret(ctx, of.Token.ref())
	if err != nil {
		return fmt.Errorf("the token of the statuses at %s: %w", at, err)
	}
	status := services.CommitStatus{Kind: of.Kind, Repository: about.Template.URL, Token: token, Commit: n.Commit,
		Name: "saas/" + about.Label(), State: state, Text: w.env.Mask(n.Text())}
	if f := w.settings.Forge; n.Number > 0 && f.URL != "" {
		status.Link = fmt.Sprintf("%s/%s/-/merge_requests/%d", strings.TrimSuffix(f.URL, "/"), f.Project, n.Number)
	}
	err = w.services.Notices.Status(ctx, status)
	if err != nil {
		err = fmt.Errorf("the statuses at %s: %w", at, err)
	}
	return err
}

// forgeOf returns the forge of the repository of a target, as the settings name it; "" if it could not be told.
func forgeOf(about *saas.Target) string {
	if about == nil {
		return ""
	}
	at, err := origin.Parse(about.Template.URL)
	if err != nil || at.Scheme != "https" {
		return ""
	}
	return at.String()
}

// clusterOf returns the name of the cluster of a target, "" if it has none.
func clusterOf(about *saas.Target) string {
	if about == nil || about.Namespace.Cluster == nil {
		return ""
	}
	return about.Namespace.Cluster.Name
}

// eventsResource is the type of events of Kubernetes.
var eventsResource = integration.Resource{Version: "v1", Plural: "events"}

// sendToCluster makes an event of Kubernetes in the namespace of a target. Its name follows from the notice.
func (w *work) sendToCluster(ctx context.Context, n notice.Notice, about *saas.Target) error {
	if about == nil || about.Namespace.Cluster == nil || about.Namespace.Cluster.Problem != "" {
		return nil
	}
	writer, err := w.act.Cluster(ctx, about.Namespace.Cluster.Ref)
	if err != nil {
		return fmt.Errorf("the cluster %s: %w", about.Namespace.Cluster.Name, err)
	}
	name, raw, err := clusterEvent(n, about.Namespace.Name, "prcheck-"+w.env.Integration, w.env.Mask)
	if err != nil {
		return err
	}
	ref := integration.ObjectRef{Resource: eventsResource, Namespace: about.Namespace.Name, Name: name}
	if _, err = writer.Create(ctx, ref, raw); errors.Is(err, integration.ErrChanged) {
		return nil // it is there already
	}
	return err
}

// clusterEvent returns a notice as an event of Kubernetes, about the namespace in which it is.
func clusterEvent(n notice.Notice, namespace, component string, mask func(string) string) (string, []byte, error) {
	kind := "Normal"
	if n.State() == "failure" || n.Kind == notice.Waits {
		kind = "Warning"
	}
	name, at := "saas-promotions."+n.ID[:16], n.At.UTC().Format(time.RFC3339)
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"involvedObject": map[string]any{"apiVersion": "v1", "kind": "Namespace", "name": namespace,
			"namespace": namespace},
		"reason":  "Saas" + strings.ToUpper(string(n.Kind)[:1]) + string(n.Kind)[1:],
		"message": phrase.Cut(mask(n.Text()), maxMessage), "type": kind, "count": 1,
		"firstTimestamp": at, "lastTimestamp": at, "source": map[string]any{"component": component}})
	return name, raw, err
}

// maxMessage is how long the message of an event is, in bytes; a cluster takes 1,024.
const maxMessage = 1000
