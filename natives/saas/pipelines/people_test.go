package pipelines

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// say puts the word of a person into the ledger of all targets of an environment.
func (s *testScene) say(env string, verb ledger.Verb) {
	s.t.Helper()
	m, err := saas.Read(s.t.Context(), s.query, saas.Settings{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range m.Called(env) {
		key, err := ledger.Key(t.UID())
		if err != nil {
			s.t.Fatal(err)
		}
		b := ledger.New(t.UID(), t.Label())
		if o, ok := s.bucket.objects[key]; ok {
			if b, err = ledger.Parse([]byte(o.raw)); err != nil {
				s.t.Fatal(err)
			}
		}
		b = b.Say(ledger.Entry{At: s.now, Verb: verb, Who: "jane"})
		b.Generation, b.Writer = b.Generation+1, "test"
		raw, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		s.bucket.objects[key] = testObject{raw: string(raw)}
	}
}

// loops runs one iteration a minute later, and returns how many runs it created.
func (s *testScene) loops() int {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	_ = s.run() // a failed cell is an error
	return len(s.created)
}

// A failed run runs once more for each time that a person says so, whatever the settings say.
func TestPeopleRetry(t *testing.T) {
	s := newTestScene(t, saastest.New())
	s.own = "{records: s3://records, may: {stage: [jane]}}"
	s.settle()
	s.heads["https://github.com/acme/shop main"] = saastest.Shas(2)[1]
	for round := range 3 {
		if n := s.loops(); n != 1 {
			t.Fatalf("round %d: %d runs were created\n%s", round, n, s.log.String())
		}
		s.end("False")
		for range 3 {
			if n := s.loops(); n != 0 {
				t.Fatalf("round %d: it runs again though nobody said so\n%s", round, s.log.String())
			}
		}
		if hold := s.unit("shop/stage").Hold; !strings.Contains(hold, "says retry") {
			t.Errorf("round %d: got %q", round, hold)
		}
		s.now = s.now.Add(time.Minute)
		s.say("stage", ledger.Retried)
	}
}

// What a person holds does not run, also if it follows nobody, and if nobody knows it does not either.
func TestPeopleHold(t *testing.T) {
	s := newTestScene(t, saastest.New())
	s.own = "{records: s3://records, may: {stage: [jane]}}"
	s.settle()
	s.heads["https://github.com/acme/shop main"] = saastest.Shas(2)[1]
	s.say("stage", ledger.Holding)
	if n := s.loops(); n != 0 || !strings.Contains(s.unit("shop/stage").Hold, "jane holds the target") {
		t.Errorf("%d runs, %q", n, s.unit("shop/stage").Hold)
	}
	for key, o := range s.bucket.objects {
		if strings.HasPrefix(key, ledger.Folder) {
			s.bucket.objects[key] = testObject{raw: strings.Replace(o.raw, "saas-ledger/v1", "saas-ledger/v9", 1)}
		}
	}
	if n := s.loops(); n != 0 || !strings.Contains(s.unit("shop/stage").Hold, "cannot be used") {
		t.Errorf("a newer ledger: %d runs, %q", n, s.unit("shop/stage").Hold)
	}
	for key, o := range s.bucket.objects {
		if strings.HasPrefix(key, ledger.Folder) {
			s.bucket.objects[key] = testObject{raw: strings.Replace(o.raw, "saas-ledger/v9", "saas-ledger/v1", 1)}
		}
	}
	s.say("stage", ledger.Released)
	if n := s.loops(); n != 1 {
		t.Errorf("it was given free, and %d runs were created\n%s", n, s.log.String())
	}
}
