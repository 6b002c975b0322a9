package pipelines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// publish lets the publisher of the world of [saastest.New] have run the commit of production.
func publish(t *testing.T, s *testScene) {
	t.Helper()
	m, err := saas.Read(t.Context(), s.query, saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Publishers("shop-stage") {
		s.bucket.record("shop-stage", p.UID(), saastest.Sha, "2026-01-01 00:00:00+00:00")
	}
}

func TestFirstRuns(t *testing.T) {
	s := newTestScene(t, saastest.New())
	if err := s.run(); err != nil {
		t.Fatal(err, s.log.String())
	}
	if u := s.unit("shop/production"); u.State != "held" || !u.Waits || !strings.Contains(u.Hold, "promotion") {
		t.Errorf("production is %+v, want it to wait for the publisher", u)
	}
	if u := s.unit("shop/stage"); u.State != "start" || !u.Started || u.Waits ||
		!slices.Equal(u.Reasons, []string{"config"}) || len(s.created) != 1 {
		t.Errorf("stage is %+v, created %v, want one run", u, s.created)
	}
	publish(t, s)
	s.settle()
	before := s.state
	if err := s.run(); err != nil || len(s.created) > 0 || s.unit("shop/stage").State != "same" ||
		s.unit("shop/production").State != "same" {
		t.Errorf("then %v, %v, %v in %v", err, s.created, s.units, before)
	}
	s.heads["https://github.com/acme/shop main"] = saastest.Shas(2)[1]
	if err := s.run(); err != nil || len(s.created) != 1 ||
		!slices.Equal(s.unit("shop/stage").Reasons, []string{"commit"}) {
		t.Errorf("after a commit %v, %v, %v", err, s.created, s.units)
	}
	if err := s.run(); err != nil || len(s.created) != 0 || s.unit("shop/stage").State != "running" {
		t.Errorf("while it runs %v, %v, %v", err, s.created, s.units)
	}
	s.end("False")
	if err := s.run(); err != nil || len(s.created) != 0 || s.unit("shop/stage").State != "failed" {
		t.Errorf("after it failed %v, %v, %v", err, s.created, s.units)
	}
}

func TestSourcesThatDoNotAnswer(t *testing.T) {
	for what, cell := range map[string]string{"heads": "shop/stage", "list pipelineruns": "shop/production",
		"get pipelines": "shop/stage"} {
		t.Run(what, func(t *testing.T) {
			s := newTestScene(t, saastest.New())
			publish(t, s)
			if what != "get pipelines" {
				s.settle()
			}
			s.fail[what] = errDown
			err := s.run()
			if err == nil || len(s.created) > 0 || !strings.Contains(strings.Join(s.errorsFound(), "\n"), errDown.Error()) {
				t.Errorf("%v, created %v, found %v", err, s.created, s.errorsFound())
			}
			if u := s.unit(cell); u.Hold == "" {
				t.Errorf("%s is %+v, want a word about it", cell, u)
			}
		})
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	s := newTestScene(t, saastest.New())
	publish(t, s)
	if err := s.dry(); err != nil {
		t.Fatal(err)
	}
	if len(s.created) > 0 || s.unit("shop/stage").State != "start" || s.unit("shop/production").State != "start" {
		t.Errorf("created %v, %v", s.created, s.units)
	}
	if list, err := s.state.List(t.Context(), ""); err != nil || len(list) > 0 {
		t.Errorf("the state has %v, %v", list, err)
	}
	var starts int
	for _, f := range s.findings {
		if f.Effect != nil && f.Action == actionStart {
			starts++
		}
	}
	if starts != 2 {
		t.Errorf("findings %+v, want two runs that would start", s.findings)
	}
}

func TestSecretsStay(t *testing.T) {
	s := newTestScene(t, saastest.New())
	s.own = "{records: s3://records, hosts: [github.com], trace: true, repository: https://example.com/data}"
	publish(t, s)
	s.settle()
	list, err := s.state.List(t.Context(), "")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	all := s.log.String()
	for _, e := range list {
		raw, err := s.state.Read(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		all += string(raw)
	}
	for _, o := range s.objects {
		all += string(o)
	}
	if strings.Contains(all, "secret-") {
		t.Error("a secret is in the state, in the log or in a run")
	}
	if !strings.Contains(all, "https://example.com/data/commit/c0ffee") {
		t.Error("no run says which commit of the data started it")
	}
}

// Without an entry among the hosts nobody gets credentials.
func TestHostsAreNamed(t *testing.T) {
	s := newTestScene(t, saastest.New())
	if err := s.run(); err != nil || s.asked["secret"] > 0 {
		t.Errorf("%v: %d secrets were read", err, s.asked["secret"])
	}
	s.own = "{records: s3://records, hosts: [github.com]}"
	if err := s.run(); err != nil || s.asked["secret"] == 0 {
		t.Errorf("%v: no secret was read", err)
	}
}

func TestNoState(t *testing.T) {
	s := newTestScene(t, saastest.New())
	env := s.env()
	env.State = nil
	if err := New(s.services()).DryRun(t.Context(), env); err == nil {
		t.Error("a loop without memory decided")
	}
}

func TestShards(t *testing.T) {
	s := newTestScene(t, saastest.Large(4, 16))
	env := s.env()
	env.Shard = "app-002"
	if err := New(s.services()).DryRun(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	for _, u := range s.units {
		if !strings.HasPrefix(u.Key, "app-002/") {
			t.Errorf("%s is not of the shard", u.Key)
		}
	}
	env.Shard = "nobody"
	if err := New(s.services()).DryRun(t.Context(), env); err == nil {
		t.Error("a shard that is not there was worked on")
	}
}

// A run that is gone is decided by the records of promotions, if they are newer than the run.
func TestRunThatIsGone(t *testing.T) {
	for name, c := range map[string]struct{ checkIn, want string }{
		"a new record": {"2026-05-04 12:30:00+00:00", "same"},
		"an old one":   {"2026-05-04 11:30:00+00:00", "start"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestScene(t, saastest.New())
			publish(t, s)
			s.settle()
			head := saastest.Shas(2)[1]
			s.heads["https://github.com/acme/shop main"] = head
			must(t, s.run())
			m, err := saas.Read(t.Context(), s.query, saas.Settings{})
			must(t, err)
			s.bucket.record("shop-stage", m.Publishers("shop-stage")[0].UID(), head, c.checkIn)
			for _, key := range s.runsOf("shop/stage") {
				delete(s.objects, key)
			}
			must(t, s.run())
			if u := s.unit("shop/stage"); u.State != c.want {
				t.Errorf("stage is %+v, want %s", u, c.want)
			}
		})
	}
}

func TestObjectives(t *testing.T) {
	w := saastest.New()
	w.Target(saastest.File, 0, 1)["slos"] = []any{saastest.Ref(saastest.SLOs)}
	s := newTestScene(t, w)
	publish(t, s)
	if err := s.run(); err == nil || s.asked["secret"] > 0 || !strings.Contains(s.unit("shop/production").Hold,
		"do not name the host") {
		t.Errorf("a host that the settings do not name: %v, %+v", err, s.unit("shop/production"))
	}
	s.own = "{records: s3://records, hosts: [prometheus.c-1.example.com]}"
	s.value = 0.9
	if err := s.run(); err != nil || s.unit("shop/production").State != "held" ||
		!strings.Contains(s.unit("shop/production").Hold, "0.9 is below 0.95") {
		t.Errorf("a breached objective: %v, %+v", err, s.unit("shop/production"))
	}
	s.fail["measure"] = errDown
	if err := s.run(); err == nil || !strings.Contains(s.unit("shop/production").Hold, "slo unknown") {
		t.Errorf("an unknown objective: %v, %+v", err, s.unit("shop/production"))
	}
	delete(s.fail, "measure")
	s.value = 0.96
	if err := s.run(); err != nil || !s.unit("shop/production").Started {
		t.Errorf("an objective that is kept: %v, %+v", err, s.unit("shop/production"))
	}
}

// Mistakes in the data make nobody forget what was deployed.
func TestMistakesForgetNothing(t *testing.T) {
	w := saastest.New()
	s := newTestScene(t, w)
	publish(t, s)
	s.settle()
	broken := w.Clone()
	broken.Set(saastest.File, "Not a name", "name") // a file of which nothing can be used
	for name, change := range map[string]func(){
		"a saas file that cannot be used": func() { s.query = broken.Query(t) },
		"a namespace without a cluster": func() {
			w := w.Clone()
			w.Set(saastest.Stage, nil, "cluster")
			s.query = w.Query(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			change()
			for range 3 {
				_ = s.run()
				s.now = s.now.Add(5 * 24 * time.Hour)
			}
			s.query = w.Query(t)
			must(t, s.run())
			if len(s.created) > 0 || s.unit("shop/stage").State != "same" {
				t.Errorf("afterwards %v, %v", s.created, s.units)
			}
		})
	}
}

// A saas file that leaves the data is forgotten after a week.
func TestFilesThatLeave(t *testing.T) {
	w := saastest.Large(2, 4)
	s := newTestScene(t, w)
	publishAll(t, s)
	s.settle()
	less := w.Clone()
	delete(less.Data, "/services/app-001/saas.yml")
	for day, want := range map[int]int{6: 0, 9: 2} {
		t.Run(fmt.Sprint(day), func(t *testing.T) {
			s.query = less.Query(t)
			must(t, s.run())
			s.now = s.now.Add(time.Duration(day) * 24 * time.Hour)
			must(t, s.run())
			s.query = w.Query(t)
			must(t, s.run())
			if len(s.created) != want {
				t.Errorf("when it is back after %d days, %v started, want %d", day, s.created, want)
			}
			s.end("True")
			s.settle()
		})
	}
}
