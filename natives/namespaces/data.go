package namespaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

const query = `{ namespaces: namespaces_v1 { path name delete managedByExternal clusterAdmin labels %s cluster {
  name serverUrl insecureSkipTLSVerify jumpHost { hostname }
  automationToken { path field version } clusterAdminAutomationToken { path field version }
  disable { integrations } } } }`

// An entry is a namespace of the data.
type entry struct {
	Path              string          `json:"path"`
	Name              string          `json:"name"`
	Delete            json.RawMessage `json:"delete"`
	ManagedByExternal bool            `json:"managedByExternal"`
	ClusterAdmin      bool            `json:"clusterAdmin"`
	Labels            json.RawMessage `json:"labels"`
	Annotations       json.RawMessage `json:"annotations"`
	Cluster           cluster         `json:"cluster"`

	mistake string // a field could not be answered
}

// A cluster is a cluster of the data.
type cluster struct {
	Name                        string    `json:"name"`
	ServerURL                   string    `json:"serverUrl"`
	InsecureSkipTLSVerify       bool      `json:"insecureSkipTLSVerify"`
	JumpHost                    *struct{} `json:"jumpHost"`
	AutomationToken             *secret   `json:"automationToken"`
	ClusterAdminAutomationToken *secret   `json:"clusterAdminAutomationToken"`
	Disable                     *disabled `json:"disable"`
}

type disabled struct {
	Integrations []string `json:"integrations"`
}

// A secret is a reference to a secret. The data have the version as a number.
type secret struct {
	Path    string      `json:"path"`
	Field   string      `json:"field"`
	Version json.Number `json:"version"`
}

func (s *secret) ref() integration.SecretRef {
	return integration.SecretRef{Path: s.Path, Field: s.Field, Version: s.Version.String()}
}

// ask returns the entries of the data.
func ask(ctx context.Context, ask integration.QueryFunc, withAnnotations bool) ([]entry, error) {
	more := ""
	if withAnnotations {
		more = "annotations"
	}
	raw, err := ask(ctx, fmt.Sprintf(query, more), nil)
	mistakes := map[int]string{} // of entries, by position
	if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) {
		var ok bool
		if mistakes, ok = partial.InList("namespaces"); !ok {
			return nil, err
		}
		raw = partial.Data
	} else if err != nil {
		return nil, err
	}
	var answer struct{ Namespaces *[]*entry }
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("reading the namespaces of the answer: %w", err)
	}
	if answer.Namespaces == nil {
		return nil, errors.New("the answer has no list of namespaces, so it is not whole")
	}
	var out []entry
	for i, e := range *answer.Namespaces {
		if e == nil || e.Name == "" || e.Cluster.Name == "" {
			return nil, fmt.Errorf("namespace %d of the answer has no name or no cluster, so the answer is not whole", i)
		}
		e.mistake = mistakes[i]
		out = append(out, *e)
	}
	return out, nil
}

// part returns the part of the work that a cluster is, without namespaces.
func (c cluster) part(name, instance string) native.Part {
	t := target{ClusterRef: integration.ClusterRef{Name: c.Name, Server: c.ServerURL, Insecure: c.InsecureSkipTLSVerify}}
	if c.AutomationToken != nil {
		t.Token = c.AutomationToken.ref()
	}
	if c.ClusterAdminAutomationToken != nil {
		ref := c.ClusterAdminAutomationToken.ref()
		t.Admin = &ref
	}
	p := native.Part{Shard: c.Name, Caller: instance, Target: t}
	switch {
	case c.Disable != nil && slices.Contains(c.Disable.Integrations, name):
		p.Skip = "the cluster disables " + name
	case c.AutomationToken == nil && c.ClusterAdminAutomationToken == nil:
		p.Skip = "the cluster has no automationToken"
	case c.JumpHost != nil:
		p.Skip = "the cluster is behind a jump host, which is not supported"
	}
	return p
}

// namePattern matches names of namespaces, see RFC 1123.
var namePattern = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// codePattern is the code of a text with a wrong form.
const codePattern plan.FindingCode = "VAL_PATTERN"

// item returns the item of an entry.
func (e entry) item() reconcile.Item {
	it := reconcile.Item{Key: reconcile.Key(e.Cluster.Name + "/" + e.Name), Place: plan.Place{File: e.Path}}
	if e.mistake != "" {
		it.Mistake = reconcile.Mistake{Code: reconcile.CodeType, Message: e.mistake}
		return it
	}
	var err error
	if it.Delete, err = reconcile.ReadDelete(e.Delete); err != nil {
		it.Place.Pointer = "/delete"
		it.Mistake = reconcile.Mistake{Code: reconcile.CodeType,
			Message: fmt.Sprintf("delete is %.40s; it must be true or false", e.Delete)}
		return it
	}
	b := body{Admin: e.ClusterAdmin}
	it.Body = b
	if it.Delete {
		return it
	}
	wrong := ""
	switch {
	case !namePattern.MatchString(e.Name):
		it.Place.Pointer = "/name"
		it.Mistake = reconcile.Mistake{Code: codePattern,
			Message: fmt.Sprintf("%.80q is no name of a namespace: lower-case letters, digits and hyphens, at most 63", e.Name)}
		return it
	default:
		b.Labels, wrong = readTexts(e.Labels)
	}
	if wrong != "" {
		it.Place.Pointer = "/labels"
	} else if b.Annotations, wrong = readTexts(e.Annotations); wrong != "" {
		it.Place.Pointer = "/annotations"
	}
	if wrong != "" {
		it.Mistake = reconcile.Mistake{Code: reconcile.CodeType, Message: strings.TrimPrefix(it.Place.Pointer, "/") + " " +
			wrong}
		return it
	}
	it.Body = b
	return it
}

// readTexts reads a map of texts. It returns what is wrong with it, or "".
func readTexts(raw json.RawMessage) (map[string]string, string) {
	var all map[string]any
	if len(raw) == 0 || string(raw) == "null" {
		return nil, ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil { // GraphQL hands over values of type json as a text
		raw = json.RawMessage(text)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, "must be a map of texts"
	}
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		text, ok := all[k].(string)
		if !ok {
			return nil, fmt.Sprintf("must be a map of texts, but %.60q is none", k)
		}
		if strings.HasPrefix(k, markPrefix) {
			return nil, fmt.Sprintf("must not name %.60q, which says who owns a namespace", k)
		}
		out[k] = text
	}
	return out, ""
}

// markPrefix is what the names of labels and annotations begin with that say who owns a thing.
const markPrefix = "qontract."
