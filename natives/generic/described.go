package generic

import (
	"context"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// What nobody looks at before the merge of a change, since base's data do not vouch for it.
const (
	whyNoType = "base describes no such type at this endpoint, so nobody asks for it before the merge"
	whyPlaces = "base says that some of its places are secret, or does not describe them, so they are not compared " +
		"before the merge"
)

// A described is what the data of base describe. A change can say anything of a type or of an entry, for instance that
// a password is a label; so before its merge only that is compared and shown of the service that base shows as well.
type described struct{ base *cloud.Model }

// described returns what base describes; nothing is described if its data cannot be read.
func (g *generic) described(ctx context.Context, env integration.Environment) described {
	m, err := g.read(ctx, env.Base)
	if err != nil {
		return described{&cloud.Model{}}
	}
	return described{m}
}

// vouch gives the entry of a change the rules by which it is compared before the merge.
func (d described) vouch(e *entry) {
	by, isSame := d.types(e.of)
	if e.rules == nil || len(by) == 0 {
		e.unvouched = whyNoType
		return
	}
	if !isSame {
		e.rules = rules.Vouched(e.rules, by...)
	}
	e.rules = rules.Withheld(e.rules, d.stored(e.of))
}

// types returns the rules of base for the type of a resource, and whether they are those of head. Another version of a
// type has the same places if it has the same address; habits of plain REST come with their words alone.
func (d described) types(r *cloud.Resource) (out []rules.Rules, isSame bool) {
	for _, a := range d.base.APIs {
		if a.Specs() == nil || r.Of == nil || !isReachedAs(a, r.API) {
			continue
		}
		for _, t := range a.Specs().Types() {
			if !strings.EqualFold(t.Name, r.Of.Name) || t.Path != r.Of.Path {
				continue
			}
			is := t.ID() == r.Of.ID() && a.Specs().Digest(t) == r.Digest
			of, err := a.Specs().Rules(t)
			if err != nil || !is && t.Family == resources.Plain {
				continue
			}
			out, isSame = append(out, of), isSame || is
		}
	}
	return out, isSame
}

// isReachedAs reports whether two APIs have one endpoint and one family.
func isReachedAs(a, b *cloud.API) bool { return a.Endpoint == b.Endpoint && a.Family == b.Family }

// stored returns the places of a resource whose values, as base says, come from a store of secrets or from secrets of
// other resources, but for those of which head says so as well.
func (d described) stored(r *cloud.Resource) (out []string) {
	for _, was := range d.base.Resources {
		if was.API == nil || was.Of == nil || was.Address.Key != r.Address.Key || !isReachedAs(was.API, r.API) {
			continue
		}
		of, err := was.API.Specs().Rules(was.Of)
		if err != nil {
			continue
		}
		for _, s := range was.Overlay(of).Secrets {
			isKept := slices.ContainsFunc(r.Secrets, func(now cloud.Secret) bool { return now.At == s.At })
			if !isKept {
				out = append(out, s.At)
			}
		}
	}
	return out
}

// isWithheld reports whether something of a resource is not compared, because base hides it.
func (e *entry) isWithheld(live any) bool {
	return rules.IsWithheldIn(e.rules, live) || rules.IsWithheldIn(e.rules, e.desired)
}

// shows reports whether all of a value of a live resource may be shown.
func (e *entry) shows(live any, at string) bool {
	v, _ := body.Get(live, at)
	shown, _ := body.Get(rules.Mask(e.rules, "", "", live), at)
	return body.Canonical(v) == body.Canonical(shown)
}

// unvouched returns why nobody asks for the resource of an entry before the merge of a change: base does not vouch for
// it, or for what is looked for to find it. It is "" if it is asked for.
func (s *service) unvouched(e *entry) string {
	for at := e; at != nil; at = s.above(at) {
		if at.unvouched != "" {
			return at.unvouched
		}
	}
	return ""
}

// leaveUnasked notes an entry that nobody asks for before the merge of a change.
func (c *collection) leaveUnasked(key reconcile.Key, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Kept[key], c.out.Partly[key] = why, why
}
