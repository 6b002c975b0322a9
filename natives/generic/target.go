package generic

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/native"
)

// A target is how the endpoint of a part is reached.
type target struct {
	integration.EndpointRef
	Family string `json:"family"`
	// Of is the root that the credential names, "" if it names none: a change that gives a root the credential of
	// another one reaches it in a new way.
	Of string `json:"of,omitempty"`
}

// Identity returns the target without the read actions: they say what may be sent, not where to.
// Before the merge of a change those of base count.
func (t target) Identity() any {
	t.Reads = nil
	return t
}

// targetOf returns the target of a part.
func targetOf(p native.Part) (target, error) {
	t, ok := p.Target.(target)
	if !ok {
		return t, fmt.Errorf("part %q has a target of type %T", p.Shard, p.Target)
	}
	return t, nil
}

// readsOf returns the actions that only read, by endpoint. Entries of one endpoint share them.
func readsOf(m *cloud.Model) map[string][]string {
	out := map[string][]string{}
	for _, a := range m.APIs {
		if !a.Mistake.IsZero() {
			continue
		}
		all := slices.Concat(out[a.Endpoint], a.ReadActions)
		slices.Sort(all)
		out[a.Endpoint] = slices.Compact(all)
	}
	return out
}

// target returns how an API is reached about a root, and what the settings lack for it, "" for nothing.
func (s ownSettings) target(a *cloud.API, root string, reads map[string][]string) (t target, why string) {
	ref, c := a.Ref(root)
	t = target{Family: a.Family}
	if len(c.Parents) > 0 {
		t.Of = root
	}
	ref.Name, ref.Reads = serverOf(a.Endpoint).Host, reads[a.Endpoint]
	for _, address := range []string{ref.URL, ref.Login.TokenURL} {
		if at := serverOf(address); at != (origin.Origin{}) && !s.Hosts.Name(at) && why == "" {
			why = fmt.Sprintf("do not name the host %s: add it to hosts", at)
		}
	}
	if c.TokenFile != "" {
		if ref.Login.TokenFile = s.TokenFiles[c.TokenFile]; ref.Login.TokenFile == "" && why == "" {
			why = fmt.Sprintf("do not name the file of the token %.80q: add it to token_files", c.TokenFile)
		}
	}
	t.EndpointRef = ref
	return t, why
}

// targets returns all ways in which an API is reached.
func (s ownSettings) targets(a *cloud.API, reads map[string][]string) []target {
	if !a.Mistake.IsZero() {
		return nil
	}
	roots := []string{""}
	for _, c := range a.Credentials {
		roots = append(roots, c.Parents...)
	}
	var out []target
	for _, root := range roots {
		t, _ := s.target(a, root, reads)
		out = append(out, t)
	}
	return out
}
