package realkube

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A history is what happens to one object.
type history struct {
	name             string
	applied, desired map[string]any // without apiVersion, kind, name and namespace
	edits            []edit
	immutable        string // the edit of desired that changes what cannot be changed, "" if none
}

// An edit is what somebody else does to the object.
type edit struct {
	manager, media string
	force          bool
	body           map[string]any
}

const applying = "application/apply-patch+yaml"

// makeHistory makes the i-th history of a seed.
func makeHistory(k kind, r *rand.Rand, i int) history {
	h := history{name: fmt.Sprintf("x-%04d", i)}
	h.applied = k.body.any(r).(map[string]any)
	h.desired = k.body.vary(r, h.applied).(map[string]any)
	for range r.IntN(4) {
		e := edit{manager: []string{"alice", "bob"}[r.IntN(2)], media: []string{k.merges, applying, merging}[r.IntN(3)],
			force: r.IntN(2) == 0}
		if body, ok := k.body.part(r).(map[string]any); ok {
			e.body = body
			h.edits = append(h.edits, e)
		}
	}
	if len(k.edits) > 0 && r.IntN(12) == 0 {
		h.immutable = k.edits[r.IntN(len(k.edits))]
		h.desired = merged(h.desired, value(h.immutable)).(map[string]any)
	}
	return h
}

// merged lays one value over another one, by members of objects.
func merged(a, b any) any {
	under, isUnder := a.(map[string]any)
	over, isOver := b.(map[string]any)
	if !isUnder || !isOver {
		return b
	}
	out := maps.Clone(under)
	for name, v := range over {
		out[name] = v
		if old, ok := under[name]; ok {
			out[name] = merged(old, v)
		}
	}
	return out
}

// object returns a whole object with a body.
func (k kind) object(namespace, name string, body map[string]any) map[string]any {
	return merged(body, map[string]any{"apiVersion": k.apiVersion(), "kind": k.kind,
		"metadata": map[string]any{"name": name, "namespace": namespace}}).(map[string]any)
}

func (k kind) path(namespace, name string) string {
	return fmt.Sprintf(k.folder, namespace) + "/" + name
}

// do lets somebody edit an object, and returns the status.
func (c *cluster) do(t *testing.T, k kind, namespace, name string, e edit) int {
	t.Helper()
	query := url.Values{"fieldManager": {e.manager}}
	body := e.body
	if e.media == applying {
		query.Set("force", fmt.Sprint(e.force))
		body = k.object(namespace, name, body)
	}
	code, _ := c.Send(t, "them", http.MethodPatch, k.path(namespace, name)+"?"+query.Encode(), e.media, encode(body))
	return code
}

// kubectl applies many objects, and returns which were applied and what it tells of the others.
func (c *cluster) kubectl(t *testing.T, k kind, objects []any, more ...string) (applied map[string]bool, told string) {
	t.Helper()
	applied = map[string]bool{}
	if len(objects) == 0 {
		return applied, ""
	}
	list := encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	args := append([]string{"apply", "--server-side", "--field-manager", "kubectl", "-o", "name", "-f", "-"}, more...)
	out, told, _ := c.Kubectl(t, "them", list, args...)
	for line := range strings.Lines(out) {
		applied[strings.TrimSpace(line[strings.LastIndexByte(line, '/')+1:])] = true
	}
	return applied, told
}

// live returns an object as it is, nil if it is not there.
func (c *cluster) live(t *testing.T, k kind, namespace, name string) map[string]any {
	t.Helper()
	code, raw := c.Send(t, "admin", http.MethodGet, k.path(namespace, name), "", "")
	switch code {
	case http.StatusNotFound:
		return nil
	case http.StatusOK:
		return value(string(raw)).(map[string]any)
	}
	t.Fatalf("reading %s: %d %s", name, code, raw)
	return nil
}
