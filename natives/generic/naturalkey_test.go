package generic

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/plaintest"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// A resource whose id the service gives is found by the id of the state, else by its natural key; without our mark it
// is nobody's.
func TestNaturalKeyCases(t *testing.T) {
	type keyCase struct {
		Input struct {
			State *struct {
				ID     *int
				Intent string
			}
			Key   map[string]string
			List  []plaintest.Item
			Pages [][]plaintest.Item
		}
		Expected struct {
			Action, Code string
			ID           *int
		}
	}
	shared.Each(t, "natural_key", func(t *testing.T, c keyCase) {
		kinds := kanban()
		for _, page := range c.Input.Pages {
			kinds[0].PageSize = max(len(page), 1)
			c.Input.List = append(c.Input.List, page...)
		}
		s := newPlainScene(t, "kanban", kinds...)
		body := object{"title": "of the data"}
		for name, v := range c.Input.Key {
			body[name] = v
		}
		s.Add(board, object{"type": "v1/boards", "name": c.Input.Key["name"], "body": body})
		key := reconcile.Key("kanban/v1/boards/" + c.Input.Key["name"])
		if is := c.Input.State; is != nil && is.ID != nil {
			s.api.SetLast("/v1/boards", *is.ID-1)
			s.done("POST /v1/boards")
		} else if is != nil && is.Intent != "" {
			m := &memory{store: s.state, key: key, at: s.now}
			if err := m.Intend(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.api.Set("/v1/boards", c.Input.List...)
		s.api.Forget()
		_ = s.run() // what is wrong stands in the findings
		code := ""
		for _, f := range s.findings {
			if f.File == board && f.Code != "" {
				code = string(f.Code)
			}
		}
		action, read := "compare", ""
		for _, r := range s.api.Log() {
			if after, isItem := strings.CutPrefix(r.Path, "/v1/boards/"); isItem && r.Status == http.StatusOK {
				read = after
			}
		}
		switch writes := s.api.Writes(); {
		case code != "":
			action = "blocked"
			if writes != "" {
				t.Errorf("it is blocked, and writes %s", writes)
			}
		case strings.HasPrefix(writes, "POST /v1/boards"):
			action = "create"
		}
		if action != c.Expected.Action || code != c.Expected.Code {
			t.Errorf("got %s %s, want %+v\n%s", action, code, c.Expected, &s.log)
		}
		if c.Expected.ID != nil && read != fmt.Sprint(*c.Expected.ID) {
			t.Errorf("got the id %s, want %d", read, *c.Expected.ID)
		}
	})
}

// A creation whose answer is lost is found by its natural key, with and without a place for marks, and never made
// again. While the service may still show it late nothing is created.
func TestLostCreations(t *testing.T) {
	for name, c := range map[string]struct {
		file, collection string
		arrives          bool
	}{
		"with marks":            {board, "/v1/boards", true},
		"by the state alone":    {"/cloud/robot.yml", "/v1/teams/red/robots", true},
		"it never arrived":      {board, "/v1/boards", false},
		"unmarked, not arrived": {"/cloud/robot.yml", "/v1/teams/red/robots", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPlainScene(t, "kanban", kanban()...)
			s.withBoard()
			for _, file := range []string{board, "/cloud/card.yml", "/cloud/robot.yml"} {
				if file != c.file {
					delete(s.Data, file)
				}
			}
			lose := func(r *http.Request) error {
				if r.Method == http.MethodPost {
					return fmt.Errorf("the connection ends")
				}
				return nil
			}
			if s.after = lose; !c.arrives {
				s.after, s.before = nil, lose
			}
			if err := s.run(); err == nil {
				t.Fatal("a lost creation is no error")
			}
			s.before, s.after = nil, nil
			if c.arrives {
				s.done("")
			} else {
				s.api.Forget()
				_ = s.run() // it is told as a finding
				if got := s.failures(); !strings.Contains(got, "nobody knows whether it was") || s.api.Writes() != "" {
					t.Errorf("it does not wait: got %q and %q", got, s.api.Writes())
				}
				s.now = s.now.Add(3 * time.Minute)
				s.done("POST " + c.collection)
			}
			s.done("")
			if n := len(s.api.Items(c.collection)); n != 1 {
				t.Errorf("there are %d", n)
			}
		})
	}
}

// What the service refuses for certain is sent again by the next run, which need not wait.
func TestRefusedCreation(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.withBoard()
	delete(s.Data, "/cloud/card.yml")
	delete(s.Data, "/cloud/robot.yml")
	s.api.Fail = func(method, _ string) int {
		if method == http.MethodPost {
			return http.StatusUnprocessableEntity
		}
		return 0
	}
	if err := s.run(); err == nil {
		t.Fatal("it is no error")
	}
	s.api.Fail = nil
	s.done("POST /v1/boards")
}

// A name that somebody else takes at the moment of the creation is not ours.
func TestNameTakenMeanwhile(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.api.Kinds[2].Unique = "name"
	s.withBoard()
	delete(s.Data, board)
	delete(s.Data, "/cloud/card.yml")
	s.before = func(r *http.Request) error {
		if r.Method == http.MethodPost {
			s.api.Set("/v1/teams/red/robots", plaintest.Item{"id": 40, "name": "r2", "speed": 9})
		}
		return nil
	}
	if err := s.run(); err == nil {
		t.Fatal("it is no error")
	}
	s.before = nil
	s.api.Forget()
	_ = s.run() // it is blocked
	if got := s.failures(); !strings.HasPrefix(got, "NOT_ADOPTED") || s.api.Writes() != "" {
		t.Errorf("got %q, and it writes %q", got, s.api.Writes())
	}
}

// One that somebody else makes in the moment between two looks is not ours, although we were about to create one before.
func TestKeyTakenBetween(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.withBoard()
	delete(s.Data, "/cloud/card.yml")
	delete(s.Data, "/cloud/robot.yml")
	m := &memory{store: s.state, key: "kanban/v1/boards/plans", at: s.now.Add(-time.Hour)}
	if err := m.Intend(t.Context()); err != nil {
		t.Fatal(err)
	}
	looks := 0
	s.before = func(r *http.Request) error {
		if looks++; looks == 2 {
			s.api.Set("/v1/boards", plaintest.Item{"id": 40, "name": "plans", "title": "of others"})
		}
		return nil
	}
	_ = s.run() // it is told
	if s.api.Writes() != "" || looks < 2 {
		t.Errorf("after %d looks it writes %q", looks, s.api.Writes())
	}
}

// A list that cannot be read to its end is an error, and creates nothing.
func TestUnreadPages(t *testing.T) {
	for _, at := range []string{"page=2", "page=3"} {
		s := newPlainScene(t, "kanban", kanban()...)
		s.withBoard()
		delete(s.Data, "/cloud/card.yml")
		delete(s.Data, "/cloud/robot.yml")
		for i := range 5 {
			one := plaintest.Item{"id": i + 1, "name": fmt.Sprint("b", i)}
			s.api.Set("/v1/boards", append(s.api.Items("/v1/boards"), one)...)
		}
		s.before = func(r *http.Request) error {
			if r.URL.RawQuery == at {
				r.URL.Path = "/nowhere"
			}
			return nil
		}
		_ = s.run() // it is told as a finding
		if got := s.failures(); !strings.HasPrefix(got, "INCOMPLETE") || s.api.Writes() != "" {
			t.Errorf("%s: got %q, and it writes %q", at, got, s.api.Writes())
		}
	}
}

// Against a service that fails, throttles and loses answers at random, a run is never green while something is wrong, and
// nothing is ever there twice. Once it is well again, all becomes as the data say and quiet.
func TestPlainFaults(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // a test wants the same numbers again
		s := newPlainScene(t, "kanban", kanban()...)
		s.withBoard()
		var mu sync.Mutex
		chance := func(n int) bool {
			mu.Lock()
			defer mu.Unlock()
			return random.IntN(n) == 0
		}
		s.api.Fail = func(string, string) int {
			if chance(8) {
				return http.StatusInternalServerError
			}
			if chance(8) {
				return http.StatusTooManyRequests
			}
			return 0
		}
		s.before = func(*http.Request) error {
			if chance(8) {
				return fmt.Errorf("the connection ends")
			}
			return nil
		}
		s.after = s.before
		for round := range 8 {
			s.body(board)["title"] = fmt.Sprint("title ", round/2)
			s.now = s.now.Add(3 * time.Minute)
			if err := s.run(); err != nil || s.failures() != "" {
				continue
			}
			is := s.api.Items("/v1/boards")
			if len(is) != 1 || is[0]["title"] != s.body(board)["title"] || len(s.api.Items("/v1/boards/1/cards")) != 1 {
				t.Errorf("seed %d: it is green, and there is %v", seed, is)
			}
		}
		s.before, s.after, s.api.Fail = nil, nil, nil
		for range 3 {
			s.now = s.now.Add(3 * time.Minute)
			_ = s.run() // it ends one day
		}
		s.done("")
		for _, collection := range []string{"/v1/boards", "/v1/boards/1/cards", "/v1/teams/red/robots"} {
			if n := len(s.api.Items(collection)); n != 1 {
				t.Errorf("seed %d: there are %d of %s", seed, n, collection)
			}
		}
	}
}

// A mortal is a process that ends at a chosen request or use of the state: before it, or after it was carried out. What
// it does later has no effect.
type mortal struct {
	state.Store
	mu     sync.Mutex
	left   int
	isLate bool // it ends after it
	dead   bool
}

var errDead = fmt.Errorf("the process is dead")

// step carries out something, unless the process is dead.
func (m *mortal) step(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	if m.left--; m.left > 0 {
		return do()
	}
	m.dead = true
	if m.isLate {
		_ = do() // nobody learns of it
	}
	return errDead
}

func (m *mortal) Update(ctx ctx, key string, change func([]byte) ([]byte, error)) error {
	return m.step(func() error { return m.Store.Update(ctx, key, change) })
}

func (m *mortal) Remove(ctx ctx, key string) error {
	return m.step(func() error { return m.Store.Remove(ctx, key) })
}

func (m *mortal) Write(ctx ctx, key string, raw []byte) error {
	return m.step(func() error { return m.Store.Write(ctx, key, raw) })
}

// A process that is killed at any moment leaves nothing that the next runs do not find: all ends as the data say, and
// nothing is there twice.
func TestPlainKills(t *testing.T) { synctest.Test(t, killPlain) }

func killPlain(t *testing.T) {
	finished := false
	kills := 0
	for at := 1; !finished && at < 100; at++ {
		for _, isLate := range []bool{false, true} {
			s := newPlainScene(t, "kanban", kanban()...)
			s.withBoard()
			real := s.state
			m := &mortal{Store: real, left: at, isLate: isLate}
			inner := s.reach
			s.state = m
			s.reach = mortalReach(m, inner)
			_ = s.run() // it is killed
			if finished = !m.dead; m.dead {
				kills++
			}
			s.state, s.reach = real, inner
			for range 6 {
				s.now = s.now.Add(3 * time.Minute)
				time.Sleep(3 * time.Minute)
				_ = s.run() // it ends one day
			}
			s.done("")
			for _, collection := range []string{"/v1/boards", "/v1/boards/1/cards", "/v1/teams/red/robots"} {
				if n := len(s.api.Items(collection)); n != 1 {
					t.Errorf("killed at %d (late: %v): there are %d of %s", at, isLate, n, collection)
				}
			}
		}
	}
	if kills < 20 {
		t.Errorf("only %d kills", kills)
	}
}
