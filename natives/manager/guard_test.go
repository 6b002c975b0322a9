package manager

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/settings"
)

// A guardCase says how many objects a namespace has, and how many of them the data drop. Numbers
// are one number, or one for each integration.
type guardCase struct {
	Input struct {
		Owned              json.RawMessage
		ToDelete           json.RawMessage `json:"to_delete"`
		Desired            *int
		FailedIntegrations []string          `json:"failed_integrations"`
		Lists              map[string]string // what listing a kind answers
		Clusters           map[string]string // unreachable, ok
		QueryErrors        []string          `json:"query_errors"`        // lists of the data that are answered with errors
		InBundle           *bool             `json:"namespace_in_bundle"` // false: no definition names the namespace any more
		RunningAs          string            `json:"running_as"`
		DryRun             bool              `json:"dry_run"`
		Settings           struct {
			LeftBehind string `json:"left_behind"`
			Deletes    struct{ Approved, Percent, Floor, Max *int }
		}
	}
	Expected struct {
		Deleted    json.RawMessage
		DeletedOn  []string `json:"deleted_on"`
		LeftBehind *int     `json:"left_behind"` // how many objects are told so
		Error      bool
		Exit       int
		Told       bool
		Names      []string
	}
}

// counts reads one number, or one for each integration.
func counts(t *testing.T, raw json.RawMessage, otherwise int) map[string]int {
	t.Helper()
	var n int
	out := map[string]int{}
	switch {
	case len(raw) == 0:
		out["y"] = otherwise
	case json.Unmarshal(raw, &n) == nil:
		out["y"] = n
	case json.Unmarshal(raw, &out) != nil:
		t.Fatalf("got the number %s", raw)
	}
	return out
}

// A guarded scene has namespaces with one object for each integration, and nothing else.
type guarded struct {
	*scene
	clusters []string // each has one namespace, of its name
}

func newGuarded(t *testing.T, clusters ...string) guarded {
	s := guarded{newScene(t), clusters}
	s.own = "exclude_service: true"
	for _, file := range []string{managerFile, terraformFile} {
		s.Data[file]["managed"] = []any{}
	}
	for _, c := range clusters {
		s.copyOf(clusterFile, "/clusters/"+c+".yml", object{"name": c})
		s.copyOf(namespaceFile, "/namespaces/"+c+".yml", object{"name": c, "cluster": ref("/clusters/" + c + ".yml")})
		s.cluster.Edit(t, "kubectl", "/api/v1/namespaces/"+c, func(map[string]any) {})
	}
	return s
}

// file returns the datafile of the integration x-i.
func file(x string, i int) string { return fmt.Sprintf("/integrations/%s-%d.yml", x, i) }

// deploy lets the integrations x-0, x-1 … run in each namespace.
func (s guarded) deploy(x string, n int) {
	for i := range n {
		var managed []any
		for _, c := range s.clusters {
			quantities := object{"cpu": "1", "memory": "1Mi"}
			managed = append(managed, object{"namespace": ref("/namespaces/" + c + ".yml"),
				"spec": object{"resources": object{"requests": quantities, "limits": quantities}}})
		}
		s.copyOf(terraformFile, file(x, i), object{"name": fmt.Sprintf("%s-%d", x, i), "managed": managed})
	}
}

// left returns how many objects of the integrations x-0, x-1 … are in the namespace of a cluster.
func (s guarded) left(cluster, x string) (n int) {
	for _, p := range s.cluster.Paths() {
		if strings.Contains(p, "/"+cluster+"/deployments/"+namePrefix+x+"-") {
			n++
		}
	}
	return n
}

// breakLists lets lists of kinds fail.
func (s guarded) breakLists(lists map[string]string) {
	answers := map[string]*kubetest.Fault{}
	for kind, answer := range lists {
		code, _ := strconv.Atoi(strings.Fields(answer)[0])
		reason := map[int]string{http.StatusGone: "Expired", http.StatusForbidden: "Forbidden"}[code]
		answers[strings.ToLower(kind)+"s"] = &kubetest.Fault{Status: code,
			Body: fmt.Sprintf(
				`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": %q, "code": %d}`, reason,
				code)}
	}
	s.cluster.Fail(func(r *http.Request) *kubetest.Fault {
		words := strings.Split(r.URL.Path, "/")
		return answers[words[len(words)-1]]
	})
}

// drop makes the data as the case says, when everything is there.
func (s guarded) drop(t *testing.T, c guardCase, owned, gone map[string]int) {
	for x, n := range gone {
		for i := owned[x] - n; i < owned[x]; i++ {
			delete(s.Data, file(x, i))
		}
	}
	for _, x := range c.Input.FailedIntegrations {
		for i := range owned[x] {
			s.copyOf(terraformFile, file(x, i), object{"name": fmt.Sprintf("%s-%d", x, i),
				"managed": []any{object{"namespace": ref("/namespaces/" + s.clusters[0] + ".yml"),
					"spec": object{"resources": object{}}, "sharding": object{"strategy": "per-moon"}}}})
		}
	}
	for name, answer := range c.Input.Clusters {
		s.away[name] = answer != "ok"
	}
	if c.Input.InBundle != nil && !*c.Input.InBundle {
		for _, name := range s.clusters {
			delete(s.Data, "/namespaces/"+name+".yml")
		}
	}
	if left := c.Input.Settings.LeftBehind; left != "" {
		s.own += "\nleft_behind: " + left
	}
	d := c.Input.Settings.Deletes
	s.settings = func(it *settings.Integration) {
		it.Deletes.Max, it.Deletes.Percent, it.Deletes.Floor = d.Max, d.Percent, d.Floor
		for i := 0; d.Approved != nil && i < *d.Approved; i++ {
			key := fmt.Sprintf("a/a/Deployment/%sy-%d", namePrefix, owned["y"]-1-i)
			it.Deletes.Approved = append(it.Deletes.Approved, settings.Approval{Key: key, Until: "2026-12-31"})
		}
	}
	if len(c.Input.Lists) > 0 {
		s.breakLists(c.Input.Lists)
	}
	if c.Input.Desired != nil && owned["y"]-gone["y"] != *c.Input.Desired {
		t.Fatalf("%d of %d are dropped, and %d are desired", gone["y"], owned["y"], *c.Input.Desired)
	}
}

func TestPruneGuard(t *testing.T) {
	shared.Each(t, "prune_guard", func(t *testing.T, raw struct{ Input, Expected json.RawMessage }) {
		var c guardCase
		shared.Words(t, raw.Input, &c.Input)
		shared.Words(t, raw.Expected, &c.Expected)
		if c.Input.RunningAs != "" {
			testSelf(t, c)
			return
		}
		clusters := slices.Sorted(maps.Keys(c.Input.Clusters))
		if len(clusters) == 0 {
			clusters = []string{"a"}
		}
		s := newGuarded(t, clusters...)
		owned, gone := counts(t, c.Input.Owned, 4), counts(t, c.Input.ToDelete, 1)
		if c.Input.InBundle != nil && !*c.Input.InBundle {
			gone = owned
			s.keepAnother(t)
		}
		for x, n := range owned {
			s.deploy(x, n)
		}
		s.mustRun(t)
		s.drop(t, c, owned, gone)
		s.breakQueries(t, c.Input.QueryErrors)
		var err error
		if c.Input.DryRun {
			err = s.dryRun(t, nil)
		} else {
			_, err = s.run(t)
		}
		if got := s.fails(err); got != (c.Expected.Error || c.Expected.Exit == 1) {
			t.Errorf("fails: %t: %v %q", got, err, s.said)
		}
		for _, word := range c.Expected.Names {
			if !s.says(word) {
				t.Errorf("nothing names %q: %q", word, s.said)
			}
		}
		if c.Expected.Told && !s.says("TOO_MANY_DELETES") {
			t.Errorf("the guard is not told: %q", s.said)
		}
		if n := c.Expected.LeftBehind; n != nil && s.countLeft() != *n {
			t.Errorf("%d objects are told to be left behind, want %d: %q", s.countLeft(), *n, s.said)
		}
		s.checkLeft(t, c, owned)
	})
}

// keepAnother lets an integration run in a namespace of its own, so that the data still want something.
func (s guarded) keepAnother(t *testing.T) {
	other := guarded{s.scene, []string{"other"}}
	s.copyOf(clusterFile, "/clusters/other.yml", object{"name": "other"})
	s.copyOf(namespaceFile, "/namespaces/other.yml", object{"name": "other", "cluster": ref("/clusters/other.yml")})
	s.cluster.Edit(t, "kubectl", "/api/v1/namespaces/other", func(map[string]any) {})
	other.deploy("z", 1)
}

// countLeft returns how many objects are told to be left behind.
func (s guarded) countLeft() (n int) {
	for _, text := range s.said {
		if strings.Contains(text, "LEFT_BEHIND") {
			n += strings.Count(text, "Deployment/")
		}
	}
	return n
}

// breakQueries lets queries for lists of the data answer with an error.
func (s guarded) breakQueries(t *testing.T, lists []string) {
	t.Helper()
	for _, list := range lists {
		query, known := map[string]string{"clusters": clusterQuery, "settings": settingsQuery}[list]
		if !known {
			t.Fatalf("the list %q is not known", list)
		}
		s.broken = append(s.broken, query)
	}
}

// checkLeft checks what was deleted.
func (s guarded) checkLeft(t *testing.T, c guardCase, owned map[string]int) {
	t.Helper()
	want := counts(t, c.Expected.Deleted, 1)
	for _, cluster := range s.clusters {
		isSpared := c.Expected.DeletedOn != nil && !slices.Contains(c.Expected.DeletedOn, cluster+" only")
		for x, n := range owned {
			deleted := want[x]
			if isSpared {
				deleted = 0
			}
			if got := n - s.left(cluster, x); got != deleted {
				t.Errorf("%s: %d of %s were deleted, want %d: %q", cluster, got, x, deleted, s.said)
			}
		}
	}
}

// testSelf checks that the manager does not delete the Deployment that it runs in.
func testSelf(t *testing.T, c guardCase) {
	s := newScene(t)
	s.mustRun(t)
	s.Data[managerFile]["managed"] = []any{}
	_, err := s.run(t)
	if !s.fails(err) || s.cluster.Object(path("Deployment", c.Input.RunningAs)) == nil ||
		!s.says("PROTECTED", "never deletes itself") {
		t.Errorf("%v %q", err, s.said)
	}
}
