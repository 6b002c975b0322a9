package generic

import (
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// What nobody looks at before the merge of a change, since base's data do not vouch for it.
const (
	whyNoType = "before the merge nobody asks for it, since base describes no such type at this endpoint; its effects are " +
		"those of the data"
	whyPlaces = "base says that some of its places are secret, or does not describe them, so they are not compared " +
		"before the merge"
)

// A described is what the data of base describe. A change can say anything of a type or of an entry, for instance that
// a password is a label; so before its merge only that is compared and shown of the service that base shows as well.
type described struct {
	base *cloud.Model

	once      sync.Once // most models are those of no base
	types     map[typeAt][]typeOf
	resources map[string][]*cloud.Resource // by key
	secrets   map[typeAt][]string          // places of stored values of all resources of a type, each once
}

// A typeAt is where resources of a type are.
type typeAt struct{ endpoint, family, name, path string }

// A typeOf is a type with the specifications that describe it.
type typeOf struct {
	*resources.Type
	specs *cloud.Specs
}

// describedBy returns what the data describe.
func describedBy(m *cloud.Model) *described { return &described{base: m} }

// at returns where resources of a type are.
func at(a *cloud.API, t *resources.Type) typeAt {
	return typeAt{a.Endpoint, a.Family, strings.ToLower(t.Name), t.Path}
}

// index sorts types and resources.
func (d *described) index() {
	d.types, d.resources, d.secrets = map[typeAt][]typeOf{}, map[string][]*cloud.Resource{}, map[typeAt][]string{}
	for _, a := range d.base.APIs {
		if a.Specs() == nil {
			continue
		}
		for _, t := range a.Specs().Types() {
			d.types[at(a, t)] = append(d.types[at(a, t)], typeOf{t, a.Specs()})
		}
	}
	for _, r := range d.base.Resources {
		if r.API != nil && r.Of != nil {
			d.resources[r.Address.Key] = append(d.resources[r.Address.Key], r)
			of := at(r.API, r.Of)
			d.secrets[of] = append(d.secrets[of], secretsOf(r)...)
		}
	}
	for of, all := range d.secrets {
		slices.Sort(all)
		d.secrets[of] = slices.Compact(all)
	}
}

// vouch gives the entry of a change the rules by which it is compared before the merge.
func (d *described) vouch(e *entry) {
	d.once.Do(d.index)
	by, isSame := d.rulesFor(e.of)
	if e.rules == nil || len(by) == 0 {
		e.unvouched = whyNoType
		return
	}
	if !isSame {
		e.rules = rules.Vouched(e.rules, by...)
	}
	e.rules = rules.Withheld(e.rules, d.stored(e.of))
}

// rulesFor returns the rules of base for the type of a resource, and whether they are those of head. Another version of
// a type has the same places if it has the same address; habits of plain REST come with their words alone.
func (d *described) rulesFor(r *cloud.Resource) (out []rules.Rules, isSame bool) {
	if r.Of == nil {
		return nil, false
	}
	for _, t := range d.types[at(r.API, r.Of)] {
		is := t.ID() == r.Of.ID() && t.specs.Digest(t.Type) == r.Digest
		of, err := t.specs.Rules(t.Type)
		if err != nil || !is && t.Family == resources.Plain {
			continue
		}
		out, isSame = append(out, of), isSame || is
	}
	return out, isSame
}

// stored returns the places of a resource whose values, as base says, come from a store of secrets or from secrets of
// other resources, but for those of which head says so as well. A resource that base does not have by this key, and a
// plain one, which stands where its body or its id finds it, may be any of its type: then those of all of them count.
func (d *described) stored(r *cloud.Resource) []string {
	var out []string
	isKnown := false
	for _, was := range d.resources[r.Address.Key] {
		if was.API.Endpoint == r.API.Endpoint && was.API.Family == r.API.Family {
			isKnown, out = true, append(out, secretsOf(was)...)
		}
	}
	if !isKnown || r.Plain != nil {
		out = append(out, d.secrets[at(r.API, r.Of)]...)
	}
	return slices.DeleteFunc(out, func(place string) bool {
		return slices.ContainsFunc(r.Secrets, func(now cloud.Secret) bool { return now.At == place })
	})
}

// secretsOf returns the places of a resource whose values come from a store of secrets or from secrets of others.
func secretsOf(r *cloud.Resource) (out []string) {
	if len(r.Secrets)+len(r.Taken) == 0 {
		return nil
	}
	of, err := r.API.Specs().Rules(r.Of)
	if err != nil {
		return nil
	}
	for _, s := range r.Overlay(of).Secrets {
		out = append(out, s.At)
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
