package deploy

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A merge request is told what it alters in the objects, where the commits can be compared, what
// is done on the cluster, and what the gate says.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   string // ref of production in base
		change func(s *scene)
		shard  string
		says   [][]string
		not    string
		isBad  bool
	}{
		{name: "a parameter", shard: "shop/stage", change: func(s *scene) {
			s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 2}
		},
			says: [][]string{{"note SAAS_CHANGE /services/shop/saas.yml/resourceTemplates/0/targets/0",
				"alters (/spec/replicas: 1 -> 2) Deployment.apps/shop"}, {"update c-1/shop-stage/Deployment.apps/shop"}},
			not: "SAAS_COMPARE"},
		{name: "a ref that the publisher did not run", shard: production, base: next, isBad: true, change: func(s *scene) {
			s.Target(saastest.File, 0, 1)["ref"] = old
		},
			says: [][]string{{"SAAS_COMPARE", shopURL + "/compare/" + next + "..." + old},
				{"error SAAS_GATE", "did not run 0123456789ab"}}, not: "delete"},
		{name: "a ref", shard: production, change: func(s *scene) { s.Target(saastest.File, 0, 1)["ref"] = next },
			says: [][]string{{"SAAS_COMPARE", shopURL + "/compare/" + old + "..." + next},
				{"create c-1/shop-production/Deployment.apps/shop"},
				{"SAAS_CHANGE",
					"alters (/spec/template/spec/containers/name=shop/image: \"quay.io/acme/shop:0123456\" -> \"quay.io/acme/shop:fedcba9\") Deployment.apps/shop"}}},
		{name: "nothing", shard: "shop/stage", change: func(*scene) {}, not: "SAAS_CHANGE"},
		{name: "a gate that was closed before", shard: production, change: func(s *scene) {
			s.Target(saastest.File, 0, 1)["parameters"] = map[string]any{"REPLICAS": 9}
		},
			says: [][]string{{"old error SAAS_GATE"}, {"/spec/replicas: 3 -> 9"}}},
		{name: "a new object", shard: "shop/stage", change: func(s *scene) { s.second(map[string]any{"PORT": 5}) },
			says: [][]string{{"SAAS_CHANGE", "adds Service/second"}, {"create c-1/shop-stage/Service/second"}}},
		{name: "a template that is none", shard: "shop/stage", isBad: true, change: func(s *scene) {
			s.Set(saastest.File, "/none.yml", "resourceTemplates", 0, "path")
		},
			says: [][]string{{"error SAAS_TEMPLATE", "none.yml"}}, not: "delete"},
		{name: "the file is deprecated", shard: "shop/stage", change: func(s *scene) {
			s.Set(saastest.File, true, "deprecated")
		}, says: [][]string{{"note SAAS_HELD", "deprecated"}}, not: "delete"},
		{name: "a mistake of another cell", shard: "shop/stage", change: func(s *scene) {
			s.Target(saastest.File, 0, 1)["promotion"] = map[string]any{"auto": true, "subscribe": []any{"none"}}
		}, not: "SAAS_CHANNEL"},
		{name: "a mistake of the cell", shard: production, isBad: true, change: func(s *scene) {
			s.Target(saastest.File, 0, 1)["promotion"] = map[string]any{"auto": true, "subscribe": []any{"none"}}
		}, says: [][]string{{"error SAAS_CHANNEL"}}},
		{name: "mistakes of all", shard: Validation, isBad: true, change: func(s *scene) {
			s.Target(saastest.File, 0, 1)["promotion"] = map[string]any{"auto": true, "subscribe": []any{"none"}}
		}, says: [][]string{{"error SAAS_CHANNEL"}}, not: "SAAS_CHANGE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.mustRun(t, "shop/stage")
			if c.base != "" {
				s.Target(saastest.File, 0, 1)["ref"] = c.base
			}
			before := s.Clone()
			c.change(s)
			err := s.dryRun(t, c.shard, before)
			if s.fails(err) != c.isBad {
				t.Errorf("got %v, %s", err, strings.Join(s.said, "\n"))
			}
			for _, texts := range c.says {
				if !s.says(texts...) {
					t.Errorf("nobody says %q:\n%s", texts, strings.Join(s.said, "\n"))
				}
			}
			if c.not != "" && s.says(c.not) {
				t.Errorf("somebody says %q:\n%s", c.not, strings.Join(s.said, "\n"))
			}
		})
	}
}

// A change gets no secret that base does not allow, sends none where base does not say so, and
// its values are shown nowhere.
func TestTrust(t *testing.T) {
	const value = "value-of-"
	withSecret := func(s *scene, path string) {
		s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
			"secret": map[string]any{"path": path, "field": "x"}}}
	}
	t.Run("a path that base allows", func(t *testing.T) {
		s := newScene(t)
		s.mustRun(t, "shop/stage")
		before := s.Clone()
		withSecret(s, "app/shop/password")
		if err := s.dryRun(t, "shop/stage",
			before); s.fails(err) || !s.says("SAAS_CHANGE", "/spec/template/spec/containers/0/env/1/value: *** -> ***") ||
			!s.says("update", "Deployment.apps/shop") {
			t.Errorf("got %v, %q", err, s.said)
		}
		if all := strings.Join(s.said, "\n") + s.log.String(); strings.Contains(all, value+"app/shop") {
			t.Errorf("the secret is shown: %s", all)
		}
		s.mustRun(t, "shop/stage")
		if all := s.log.String(); strings.Contains(all, value+"app/shop") {
			t.Errorf("the secret is shown: %s", all)
		}
	})
	t.Run("a path that only the change allows", func(t *testing.T) {
		s := newScene(t)
		before := s.Clone()
		var asked []string
		s.change = func(e *integration.Environment) {
			read := e.Secret
			e.Secret = func(ctx context.Context, ref integration.SecretRef) (string, error) {
				asked = append(asked, ref.Path)
				return read(ctx, ref)
			}
		}
		withSecret(s, "sre/root")
		s.Set(saastest.File, []any{"app/shop", "sre"}, "allowedSecretParameterPaths")
		if err := s.dryRun(t, "shop/stage", before); s.fails(err) || !s.says("SAAS_PARTLY", "sre/root") ||
			slices.Contains(asked, "sre/root") {
			t.Errorf("got %v, %q, asked for %q", err, s.said, asked)
		}
	})
	t.Run("a repository elsewhere", func(t *testing.T) {
		s := newScene(t)
		before := s.Clone()
		s.forge.heads["https://github.com.evil.example/a"] = map[string]string{"main": next}
		s.Set(saastest.File, "https://github.com.evil.example/a", "resourceTemplates", 0, "url")
		_ = s.dryRun(t, "shop/stage", before)
		for _, r := range s.forge.got {
			if is := strings.HasPrefix(r.URL, "https://github.com/"); is != (r.Password == value+"app/code") ||
				!is && r.Password != "" {
				t.Errorf("%s got %q", r.URL, r.Password)
			}
		}
	})
	t.Run("another cluster", func(t *testing.T) {
		s := newScene(t)
		before := s.Clone()
		s.Set("/clusters/c-1.yml", "https://evil.example.com:6443", "serverUrl")
		s.change = func(e *integration.Environment) {
			e.Cluster = func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
				t.Errorf("somebody asks %s", ref.Server)
				return nil, integration.ErrUntrusted
			}
		}
		if err := s.dryRun(t, "shop/stage", before); s.fails(err) || !s.says("note NEW_TARGET") {
			t.Errorf("got %v, %q", err, s.said)
		}
	})
}

// Without services, and for shards that do not exist, nothing is asked.
func TestNothingToAsk(t *testing.T) {
	s := newScene(t)
	before := s.Clone()
	s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 2}
	env := s.env(t, "shop/stage", before)
	if err := New(Services{}).DryRun(t.Context(), env); err != nil || len(s.cluster.Requests()) > 0 {
		t.Errorf("got %v, asked %v", err, s.cluster.Requests())
	}
	if _, err := s.run(t, "shop/none"); err == nil || !strings.Contains(err.Error(), "shop/none") {
		t.Errorf("got %v", err)
	}
	s.own = "hosts: [GitHub.com]"
	if err := s.dryRun(t, "shop/stage", nil); err == nil ||
		integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("got %v", err)
	}
}

// A change of one target changes the desired state of its cell alone.
func TestDesiredState(t *testing.T) {
	cells := func(s *scene) map[string]string {
		raw, err := s.native().(integration.Stater).DesiredState(t.Context(), s.Query(t), settingsOf(t, s.own))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		text, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		var is struct {
			Cells []struct {
				Key  string
				Data json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &is); err != nil {
			t.Fatal(err)
		}
		for _, c := range is.Cells {
			out[c.Key] = string(c.Data)
		}
		return out
	}
	s := newScene(t)
	was := cells(s)
	if got := slices.Sorted(maps.Keys(was)); !slices.Equal(got, []string{production, "shop/stage", Validation}) {
		t.Errorf("the shards are %q", got)
	}
	for name, c := range map[string]struct {
		change func()
		want   []string
	}{
		"a parameter of a target": {func() { s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"A": "b"} },
			[]string{"shop/stage"}},
		"the name for people": {func() { s.Set(saastest.File, "Shop", "displayName") }, nil},
		"a parameter of the environment": {func() { s.Set(saastest.ProductionEnv, map[string]any{"A": "c"}, "parameters") },
			[]string{production}},
		"patterns of images": {func() {
			s.Set(saastest.File, []any{"quay.io/acme/x/"}, "imagePatterns")
		}, []string{production, "shop/stage"}},
		"a mistake": {func() { s.Set(saastest.Role, []any{}, "self_service", 0, "datafiles") }, []string{Validation}},
	} {
		s = newScene(t)
		c.change()
		now := cells(s)
		var changed []string
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if now[key] != was[key] {
				changed = append(changed, key)
			}
		}
		if !slices.Equal(changed, c.want) {
			t.Errorf("%s: changed %q, want %q", name, changed, c.want)
		}
	}
}

// A place below one that holds a secret may have the secret in its names.
func TestPlacesOfSecrets(t *testing.T) {
	masked := []string{"/data", "/spec/a"}
	for path, want := range map[string]string{"/data/s3cret": "/data", "/data": "/data", "/spec": "/spec",
		"/spec/ab": "/spec/ab", "/spec/a/0/x": "/spec/a"} {
		if got := above(path, masked); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
