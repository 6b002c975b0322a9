package manager

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

// A label and annotations that somebody copied delete nothing, and neither does an owner reference.
func TestCopied(t *testing.T) {
	s := newScene(t)
	s.mustRun(t)
	ours := s.cluster.Object(path("Deployment", terraform("staging")))
	for _, name := range []string{"copied", "owned"} {
		s.cluster.Edit(t, "operator", path("Deployment", name), func(o map[string]any) {
			o["spec"] = ours["spec"]
			m := o["metadata"].(map[string]any)
			of := ours["metadata"].(map[string]any)
			m["labels"], m["annotations"] = of["labels"], of["annotations"]
		})
	}
	s.cluster.Edit(t, "prcheck-"+Name, path("Deployment", "owned"), func(o map[string]any) {
		m := o["metadata"].(map[string]any)
		m["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u"}}
	})
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("wrote %q", w)
	}
	delete(s.Data, "/accounts/staging.yml")
	if w := s.mustRun(t); !slices.Equal(w, []string{"delete " + terraform("staging")}) {
		t.Errorf("wrote %q", w)
	}
}

// Two managers that want one object: the first has it, the other tells it and writes nothing.
func TestTwoManagers(t *testing.T) {
	first, second := newScene(t), newScene(t)
	second.cluster = first.cluster
	first.own, second.own = "upstream: "+exampleUpstream, "upstream: https://github.com/other/upstream"
	for _, s := range []*scene{first, second} {
		s.copyOf(terraformFile, "/integrations/other.yml", object{"upstream": "https://github.com/other/upstream"})
	}
	// Both definitions have one name, which data cannot have; each manager sees its own.
	first.Data["/integrations/other.yml"]["name"] = "other"
	second.Data[terraformFile]["name"] = "other"
	first.mustRun(t)
	for range 2 {
		writes, err := second.run(t)
		if !second.fails(err) || len(writes) > 0 || !second.says("OWNED_BY_OTHER", exampleUpstream) {
			t.Errorf("wrote %q: %v %q", writes, err, second.said)
		}
		if w := first.mustRun(t); len(w) > 0 {
			t.Errorf("the first wrote %q", w)
		}
	}
}

// A shard that somebody paused stays paused, and is told with what changed it, also when its image
// changes meanwhile. The server notes no manager of the number 0.
func TestPaused(t *testing.T) {
	s := newScene(t)
	s.mustRun(t)
	shard := path("Deployment", terraform("staging"))
	staysPaused := func(pods int, words ...string) {
		t.Helper()
		writes, err := s.run(t)
		if !s.fails(err) || len(writes) > 0 ||
			!s.says(append(words, "FIELD_CONFLICT", ".spec.replicas", fmt.Sprintf("(%d there, 1 wanted)", pods))...) {
			t.Errorf("wrote %q: %v %q", writes, err, s.said)
		}
	}
	s.cluster.Scale(t, "kubectl", shard, 0)
	staysPaused(0, "/scale", "kubectl scale")
	s.entry(terraformFile, 0)["spec"].(object)["imageRef"] = "new"
	if writes, err := s.run(t); !s.fails(err) || len(writes) != 1 || !s.says("FIELD_CONFLICT", "kubectl scale") {
		t.Errorf("wrote %q: %v %q", writes, err, s.said) // the other shard alone
	}
	staysPaused(0, "kubectl scale")
	s.cluster.Scale(t, "kubectl", shard, 1)
	if w := s.mustRun(t); len(w) != 1 {
		t.Errorf("scaled back: wrote %q", w)
	}
	s.cluster.Scale(t, "keda-operator", shard, 3)
	staysPaused(3, "keda-operator (through /scale) owns")
	s.own = "override_managers: [keda-operator]"
	s.mustRun(t)
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("wrote %q", w)
	}
}

// Who undoes a change by its value makes the field ours again. The field has two owners then, so
// that the next change is told with the setting that ends this.
func TestUndoneByValue(t *testing.T) {
	s := newScene(t)
	s.entry(terraformFile, 0)["spec"].(object)["imageRef"] = "old"
	s.mustRun(t)
	shard := path("Deployment", terraform("staging"))
	image := func() string {
		pod := s.cluster.Object(shard)["spec"].(object)["template"].(object)["spec"].(object)
		for _, c := range pod["containers"].([]any) {
			if c.(object)["name"] == "int" {
				return c.(object)["image"].(string)
			}
		}
		return ""
	}
	was := image()
	set := func(image string) {
		s.cluster.Kubectl(t, "set", shard,
			fmt.Sprintf(`{"spec": {"template": {"spec": {"containers": [{"name": "int", "image": %q}]}}}}`, image))
	}
	set("other:1")
	if writes, err := s.run(t); !s.fails(err) || len(writes) > 0 || !s.says("FIELD_CONFLICT", "kubectl-set owns",
		"override_managers") {
		t.Errorf("wrote %q: %v %q", writes, err, s.said)
	}
	set(was)
	if w := s.mustRun(t); !slices.Equal(w, []string{"patch " + terraform("staging")}) {
		t.Errorf("wrote %q, want one apply", w)
	}
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("wrote %q", w)
	}
	s.entry(terraformFile, 0)["spec"].(object)["imageRef"] = "new"
	if _, err := s.run(t); !s.fails(err) || !s.says("FIELD_CONFLICT", "kubectl-set owns", "set back by hand",
		"take_fields_from") || image() != was {
		t.Errorf("%v %q", err, s.said)
	}
	s.own = "take_fields_from: [kubectl-set]"
	s.mustRun(t)
	s.own = ""
	if w := s.mustRun(t); len(w) > 0 || image() == was {
		t.Errorf("wrote %q, and the image is %s", w, image())
	}
}

// A namespace that left the data is told with its objects in each run, until the settings say
// that they go.
func TestLeftBehind(t *testing.T) {
	s := newScene(t)
	s.copyOf(namespaceFile, "/namespaces/second.yml", object{"name": "second"})
	s.cluster.Edit(t, "kubectl", "/api/v1/namespaces/second", func(map[string]any) {})
	list := s.Data[terraformFile]["managed"].([]any)
	second := object{"namespace": ref("/namespaces/second.yml"), "spec": s.entry(terraformFile, 0)["spec"]}
	s.Data[terraformFile]["managed"] = append(list, second)
	s.mustRun(t)
	s.Data[terraformFile]["managed"] = list
	for range 2 {
		writes, err := s.run(t)
		if err != nil || len(writes) > 0 || !s.says("LEFT_BEHIND", "reconcile-01/second",
			"Deployment/"+namePrefix+"terraform-resources") {
			t.Errorf("wrote %q: %v %q", writes, err, s.said)
		}
	}
	s.own = "left_behind: delete"
	if w := s.mustRun(t); !slices.Equal(w,
		[]string{"delete qontract-reconcile", "delete " + namePrefix + "terraform-resources"}) {
		t.Errorf("wrote %q", w)
	}
	s.mustRun(t)
	if w := s.mustRun(t); len(w) > 0 || s.says("LEFT_BEHIND") {
		t.Errorf("wrote %q %q", w, s.said)
	}
}

// The settings, or an entry, say that the objects of a namespace go: then all of them may go, and
// the report says that the entry can be removed.
func TestDeletePattern(t *testing.T) {
	s := newScene(t)
	s.Data[managerFile]["managed"] = []any{}
	s.mustRun(t)
	s.own = "delete: [" + exampleShard + "]"
	s.settings = func(it *settings.Integration) { it.Deletes.Percent = new(int); *it.Deletes.Percent = 100 }
	if w := s.mustRun(t); len(w) != 3 {
		t.Errorf("wrote %q", w)
	}
	if w := s.mustRun(t); len(w) > 0 || !s.says("FINISHED") {
		t.Errorf("wrote %q %q", w, s.said)
	}
}

// A namespace that would lose everything because the data shrink loses nothing, and still gets
// what is new.
func TestNeverToNothing(t *testing.T) {
	s := newScene(t)
	s.Data[managerFile]["managed"] = []any{}
	s.own = "exclude_service: true"
	s.addAccounts("a", "b")
	s.mustRun(t)
	for _, name := range []string{"a", "b", "production", "staging"} {
		delete(s.Data, "/accounts/"+name+".yml")
	}
	s.copyOf(clusterFile, "/accounts/new.yml", object{})
	s.Data["/accounts/new.yml"] = example(t).Data["/accounts/staging.yml"]
	s.Data["/accounts/new.yml"]["name"] = "new"
	writes, err := s.run(t)
	if !s.fails(err) || !slices.Equal(writes, []string{"patch " + terraform("new")}) ||
		!s.says("TOO_MANY_DELETES", terraform("a")) {
		t.Errorf("wrote %q: %v %q", writes, err, s.said)
	}
	delete(s.Data, "/accounts/new.yml")
	writes, err = s.run(t)
	if !s.fails(err) || len(writes) > 0 {
		t.Errorf("wrote %q: %v %q", writes, err, s.said)
	}
}

// Objects that kubectl applied are adopted, when the settings allow it, and their fields become
// ours; pods stay as they are.
func TestAdopted(t *testing.T) {
	s := newScene(t)
	s.own = "mode: parity"
	name := path("Deployment", terraform("staging"))
	spec := item(t, s.desired(t, s.own), exampleItems+"Deployment/"+terraform("staging")).Body.(body).Object["spec"]
	s.cluster.Edit(t, "kubectl-client-side-apply", name, func(o map[string]any) {
		o["spec"] = maps.Clone(spec.(object))
		o["spec"].(object)["minReadySeconds"] = 7
		o["metadata"].(object)["annotations"] = object{"kubectl.kubernetes.io/last-applied-configuration": "{}"}
	})
	s.run(t) // makes the others
	if writes, err := s.run(t); !s.fails(err) || len(writes) > 0 || !s.says("NOT_ADOPTED") {
		t.Errorf("wrote %q: %v %q", writes, err, s.said)
	}
	s.settings = func(it *settings.Integration) { it.Adopt = []string{"**"} }
	s.mustRun(t)
	is := s.cluster.Object(name)
	if _, left := is["spec"].(map[string]any)["minReadySeconds"]; left &&
		is["spec"].(map[string]any)["minReadySeconds"] != nil {
		t.Errorf("a field that no entry wants stays: %v", is["spec"].(map[string]any)["minReadySeconds"])
	}
	for key := range is["metadata"].(map[string]any)["annotations"].(map[string]any) {
		if strings.HasPrefix(key, "kubectl") {
			t.Errorf("%s stays", key)
		}
	}
	s.settings = nil
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("wrote %q", w)
	}
}

// In a merge request a cluster that does not answer fails nothing: what the data say is checked,
// and the report tells what was not asked. Mistakes fail it all the same, and so does a run.
func TestOffline(t *testing.T) {
	s := newScene(t)
	s.mustRun(t)
	s.away["reconcile-01"] = true
	base := s.clone()
	s.addAccounts("lake")
	if err := s.dryRun(t, base); s.fails(err) ||
		!s.says("warning UNREACHABLE", "5 entries are checked by the data alone") {
		t.Errorf("%v %q", err, s.said)
	}
	if err := s.dryRun(t, nil); !s.fails(err) {
		t.Errorf("a dry run without a change passed: %q", s.said)
	}
	if writes, err := s.run(t); !s.fails(err) || len(writes) > 0 {
		t.Errorf("wrote %q: %v %q", writes, err, s.said)
	}
	base = s.clone()
	for _, name := range []string{"lake", "production", "staging"} {
		delete(s.Data, "/accounts/"+name+".yml")
	}
	if err := s.dryRun(t, base); !s.fails(err) || !s.says("TOO_MANY_DELETES") {
		t.Errorf("most of what is desired goes, and nobody says so: %q", s.said)
	}
	s.copyOf("/integrations/integrations-manager.yml", "/integrations/bad.yml",
		object{"name": "bad"})["managed"].([]any)[0].(object)["spec"].(object)["cron"] = "now"
	if err := s.dryRun(t, base); !s.fails(err) {
		t.Errorf("a key with a blank passed: %q", s.said)
	}
}

// A merge request that moves a namespace to another cluster deletes nothing: what is there stays
// behind. It would delete everything if the settings said so, and then the gate counts.
func TestMovedNamespace(t *testing.T) {
	s := newScene(t)
	s.addAccounts("a", "b")
	s.mustRun(t)
	base := s.clone()
	s.copyOf(clusterFile, "/clusters/new.yml", object{"name": "new"})
	s.copyOf(namespaceFile, namespaceFile, object{"cluster": ref("/clusters/new.yml")})
	if err := s.dryRun(t, base); s.fails(err) || !s.says("ORPHAN") {
		t.Errorf("%v %q", err, s.said)
	}
	s.own = "left_behind: delete"
	if err := s.dryRun(t, base); !s.fails(err) || !s.says("TOO_MANY_DELETES") {
		t.Errorf("%v %q", err, s.said)
	}
}
