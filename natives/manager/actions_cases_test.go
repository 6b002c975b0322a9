package manager

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/shared"
)

// An orderCase is a case of the area actions about the order of several objects. The others are in
// natives/manifests.
type orderCase struct {
	Input struct {
		Desired []string // KIND/NAME
		DryRun  bool     `json:"dry_run"`
		Current []struct {
			ID    string
			Owner struct{ Integration, Caller string }
		}
	}
	Expected struct {
		Order  []string // of requests, and of what is waited for: delete, gone, create
		Told   []string // by a dry run
		Writes *int
	}
}

// setKind lets the integration of a name run as an object of a kind, "KIND/NAME".
func (s *scene) setKind(t *testing.T, id string) {
	t.Helper()
	kind, name, _ := strings.Cut(id, "/")
	spec, known := map[string]object{"Deployment": {}, "StatefulSet": {"cache": true},
		"CronJob": {"cron": "0 0 * * *"}}[kind]
	if !known {
		t.Fatalf("the kind %q is not known", kind)
	}
	spec["resources"] = s.entry(managerFile, 0)["spec"].(object)["resources"]
	s.copyOf(managerFile, "/integrations/"+name+".yml",
		object{"name": name, "managed": []any{object{"namespace": ref(namespaceFile), "spec": spec}}})
}

// watchOrder notes what is deleted and made, and before something is made what is gone since then:
// the object and all of its pods.
func (s *scene) watchOrder(order *[]string) {
	waits := map[string]string{} // words of deleted objects, by path
	s.cluster.Fail(func(r *http.Request) *kubetest.Fault {
		words := strings.Split(r.URL.Path, "/")
		if r.Method == http.MethodGet || len(words) < 2 {
			return nil
		}
		kind := s.cluster.Kinds[words[len(words)-2]]
		id := kind + "/" + strings.TrimPrefix(words[len(words)-1], namePrefix)
		is := s.cluster.Object(r.URL.Path)
		switch {
		case r.Method == http.MethodDelete:
			*order = append(*order, "delete "+id)
			waits[r.URL.Path] = id
		case is == nil:
			for at, old := range waits {
				if s.cluster.Object(at) == nil && len(s.cluster.Pods(at)) == 0 {
					*order = append(*order, "gone "+old)
					delete(waits, at)
				}
			}
			*order = append(*order, "create "+id)
		}
		return nil
	})
}

func TestOrderCases(t *testing.T) {
	shared.Each(t, "actions", func(t *testing.T, raw struct{ Input, Expected json.RawMessage }) {
		var words map[string]json.RawMessage
		if json.Unmarshal(raw.Expected, &words) != nil || words["order"] == nil && words["told"] == nil {
			t.Skip("about single objects")
		}
		var c orderCase
		shared.Words(t, raw.Input, &c.Input)
		shared.Words(t, raw.Expected, &c.Expected)
		s := newScene(t)
		s.cluster.Working = true
		delete(s.Data, terraformFile)
		for _, is := range c.Input.Current {
			if is.Owner.Integration != Name {
				t.Fatalf("the owner %+v is not known", is.Owner)
			}
			s.setKind(t, is.ID)
		}
		s.mustRun(t)
		s.cluster.Settle()
		for _, id := range c.Input.Desired {
			s.setKind(t, id)
		}
		var order []string
		s.watchOrder(&order)
		var told []string
		if c.Input.DryRun {
			if err := s.dryRun(t, nil); s.fails(err) {
				t.Fatal(err, s.said)
			}
			for _, text := range s.said {
				if action, id, ok := strings.Cut(text, " "); ok && (action == "create" || action == "delete") {
					told = append(told, action+" "+strings.Replace(id, "/"+namePrefix, "/", 1))
				}
			}
		} else {
			s.mustRun(t)
		}
		slices.Sort(told)
		want := slices.Sorted(slices.Values(c.Expected.Told))
		if !slices.Equal(order, c.Expected.Order) || !slices.Equal(told, want) ||
			c.Expected.Writes != nil && len(order) != *c.Expected.Writes {
			t.Errorf("did %q and told %q (%q), want %s", order, told, s.said, raw.Expected)
		}
	})
}

// An object of another kind takes the name of one that is gone with its pods, whatever the kinds are. A
// run that was killed in between makes it, too.
func TestKindChanged(t *testing.T) {
	for _, kinds := range [][2]string{{"Deployment", "StatefulSet"}, {"StatefulSet", "Deployment"},
		{"Deployment", "CronJob"}, {"CronJob", "Deployment"}} {
		s := newScene(t)
		s.cluster.Working = true
		s.setKind(t, kinds[0]+"/a")
		s.mustRun(t)
		s.cluster.Settle()
		s.setKind(t, kinds[1]+"/a")
		var order []string
		s.watchOrder(&order)
		s.mustRun(t)
		if want := []string{"delete " + kinds[0] + "/a", "gone " + kinds[0] + "/a",
			"create " + kinds[1] + "/a"}; !slices.Equal(order, want) {
			t.Errorf("did %q, want %q", order, want)
		}
		if w := s.mustRun(t); len(w) > 0 {
			t.Errorf("%v: wrote %q", kinds, w)
		}
	}
}

// If the gate holds back the deletion, or if a pod does not end, the object of the new kind is not made.
func TestHeldKind(t *testing.T) {
	for name, c := range map[string]struct {
		shards int
		fate   kubetest.Fate
		text   string
	}{
		"too many":  {20, kubetest.Ready, "does the same work and stays"},
		"lingering": {1, kubetest.Lingering, "an old process must end before it"},
	} {
		s := newScene(t)
		s.own = "wait: 1m"
		s.cluster.Fate = func(map[string]any) kubetest.Fate { return c.fate }
		s.entry(terraformFile, 0)["sharding"] = object{"strategy": "static", "shards": c.shards}
		stop := s.play(func() {})
		s.mustRun(t)
		s.own = "wait: 1s"
		s.entry(terraformFile, 0)["spec"].(object)["cache"] = true
		_, err := s.run(t)
		stop()
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v", name, err)
		}
		for _, p := range s.cluster.Paths() {
			if strings.Contains(p, "/statefulsets/") && strings.Contains(p, "terraform") {
				t.Errorf("%s: %s was made", name, p)
			}
		}
	}
}

// The cases about names of several shards. Those about one name are in render.
func TestNameCases(t *testing.T) {
	shared.Each(t, "object_name", func(t *testing.T, raw struct{ Input, Expected json.RawMessage }) {
		var words map[string]json.RawMessage
		if json.Unmarshal(raw.Input, &words) != nil || words["keys"] == nil {
			t.Skip("about one name")
		}
		var in struct {
			Integration string
			Keys        []string
		}
		var expected struct {
			Error           bool
			BothNamed       bool `json:"both_named"`
			Writes, Deletes *int
		}
		shared.Words(t, raw.Input, &in)
		shared.Words(t, raw.Expected, &expected)
		s := newScene(t)
		s.copyOf(terraformFile, "/integrations/it.yml", object{"name": in.Integration})
		delete(s.Data, terraformFile)
		s.setAccounts(t, in.Keys[:1]...)
		s.mustRun(t) // the first of them is there already
		s.setAccounts(t, in.Keys...)
		writes, err := s.run(t)
		deletes := 0
		for _, w := range writes {
			if strings.HasPrefix(w, "delete ") {
				deletes++
			}
		}
		if s.fails(err) != expected.Error || expected.Writes != nil && len(writes) != *expected.Writes ||
			expected.Deletes != nil && deletes != *expected.Deletes {
			t.Errorf("wrote %q: %v %q, want %s", writes, err, s.said, raw.Expected)
		}
		quoted := make([]string, len(in.Keys))
		for i, key := range in.Keys {
			quoted[i] = fmt.Sprintf("%q", key)
		}
		if s.says(quoted...) != expected.BothNamed {
			t.Errorf("the findings are %q, want %q named", s.said, quoted)
		}
	})
}
