package promotions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
)

// A killer is a forge whose program is killed before or after a call that writes.
type killer struct {
	services.ForgeWriter
	left  int  // calls until it dies
	after bool // the call is carried out
}

// errKilled stands for the end of the program.
var errKilled = errors.New("killed")

func (k *killer) die(do func() error) error {
	k.left--
	if k.left == 0 && k.after {
		if err := do(); err != nil {
			return err
		}
	}
	if k.left <= 0 {
		return errKilled
	}
	return do()
}

func (k *killer) Commit(ctx context.Context, c services.ForgeCommit) (sha string, err error) {
	err = k.die(func() (err error) { sha, err = k.ForgeWriter.Commit(ctx, c); return err })
	return sha, err
}

func (k *killer) Open(ctx context.Context, text services.MergeText) (n int, err error) {
	err = k.die(func() (err error) { n, err = k.ForgeWriter.Open(ctx, text); return err })
	return n, err
}

func (k *killer) Describe(ctx context.Context, n int, text services.MergeText) error {
	return k.die(func() error { return k.ForgeWriter.Describe(ctx, n, text) })
}

func (k *killer) Close(ctx context.Context, n int) error {
	return k.die(func() error { return k.ForgeWriter.Close(ctx, n) })
}

func (k *killer) DeleteBranch(ctx context.Context, name, head string) error {
	return k.die(func() error { return k.ForgeWriter.DeleteBranch(ctx, name, head) })
}

// A program that is killed at any call, without a word to the state, is followed by one that ends
// the work: no law is broken, and everything lands.
func TestKilledAnywhere(t *testing.T) {
	kills := 0
	for seed := range uint64(12) {
		s := newStory(t, 100+seed)
		dies := func() ([]string, error) {
			k := &killer{ForgeWriter: s.forge, left: 1 + s.r.IntN(4), after: s.r.IntN(2) == 0}
			s.now = s.now.Add(5 * time.Minute)
			s.forge.now, s.forge.writes = s.now, nil
			of := New(Services{Repositories: s, Measurements: s, Forge: func(Project) (services.ForgeWriter, error) {
				return k, nil
			}})
			err := of.Run(t.Context(), s.env(), integration.Actors{State: s.forgetful(), Bucket: s.writer})
			if errors.Is(err, errKilled) {
				kills++
				err = nil
			}
			return s.forge.writes, err
		}
		for n := range 6 {
			if broken := s.step(dies); broken != "" {
				t.Fatalf("seed %d, round %d: %s\n%s", seed, n, broken, s.log.String())
			}
		}
		if broken := s.rest(s.loop); broken != "" {
			t.Fatalf("seed %d: %s\n%s", seed, broken, s.log.String())
		}
	}
	if kills < 8 {
		t.Errorf("%d kills say little", kills)
	}
}

// A careless forge lets the integration break a law.
type careless struct {
	*fakeForge
	ahead bool // it says that no branch has anything that main has not
	lines bool // it loses comments, as a program does that writes YAML anew
}

func (c careless) Ahead(ctx context.Context, base, branch string) (services.Ahead, error) {
	if c.ahead {
		return services.Ahead{}, nil
	}
	return c.fakeForge.Ahead(ctx, base, branch)
}

func (c careless) Commit(ctx context.Context, of services.ForgeCommit) (string, error) {
	for i, ch := range of.Changes {
		if c.lines {
			of.Changes[i].Content = []byte(strings.ReplaceAll(string(ch.Content), "# prod", ""))
		}
	}
	return c.fakeForge.Commit(ctx, of)
}

// Each mutant breaks a law, so the laws see such faults.
func TestLawsCatchMutants(t *testing.T) {
	for name, mutant := range map[string]careless{"commits of people": {ahead: true}, "lines of people": {lines: true}} {
		caught := ""
		for seed := uint64(0); seed < 20 && caught == ""; seed++ {
			s := newStory(t, seed)
			mutant.fakeForge = s.forge
			loop := func() ([]string, error) {
				s.now = s.now.Add(5 * time.Minute)
				s.forge.now, s.forge.writes = s.now, nil
				of := New(Services{Repositories: s, Forge: func(Project) (services.ForgeWriter, error) { return mutant, nil }})
				return s.forge.writes, of.Run(t.Context(), s.env(), integration.Actors{State: s.state, Bucket: s.writer})
			}
			for n := 0; n < 30 && caught == ""; n++ {
				caught = s.step(loop)
			}
		}
		if caught == "" || strings.Contains(caught, "the loop failed") {
			t.Errorf("%s: the laws say %q", name, caught)
		}
	}
}

// A busyForge lets another whole loop run right after a commit.
type busyForge struct {
	*fakeForge
	between func()
}

func (b *busyForge) Commit(ctx context.Context, c services.ForgeCommit) (string, error) {
	sha, err := b.fakeForge.Commit(ctx, c)
	if do := b.between; do != nil {
		b.between = nil
		do()
	}
	return sha, err
}

// Two loops at once make one branch and one merge request, and what the slower one could not do
// is done by the next.
func TestTwoLoopsAtOnce(t *testing.T) {
	s := newScene(t, 2, 2)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	forge := &busyForge{fakeForge: s.forge}
	forge.between = func() {
		if _, err := s.loop(); err != nil {
			t.Error(err)
		}
	}
	of := New(Services{Repositories: s, Forge: func(Project) (services.ForgeWriter, error) { return forge, nil }})
	if err := of.Run(t.Context(), s.env(), integration.Actors{State: s.state, Bucket: s.writer}); err == nil {
		t.Error("the slower loop could do everything, so this says nothing")
	}
	if len(s.forge.requests) != 2 {
		t.Errorf("got %d merge requests", len(s.forge.requests))
	}
	s.mustLoop()
	s.settle()
	for f := range s.files {
		if got := strings.Join(s.refs("main", f), " "); got != sha(2)+" "+sha(2) {
			t.Errorf("got %s", got)
		}
	}
}
