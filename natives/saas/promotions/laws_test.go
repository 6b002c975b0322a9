package promotions

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

var rounds = flag.Int("promotions.rounds", 60, "how many rounds of people, commits and loops the laws are held on")

// A story is a scene in which people and promotions change the same files at random.
type story struct {
	*scene
	r      *rand.Rand
	lines  []string // that people wrote to main, each of them once
	pushes int
	seen   map[string][]string
}

func newStory(t testing.TB, seed uint64) *story {
	s := newScene(t, 2, 3)
	s.own = ", auto_merge: true, patience: 30m"
	return &story{scene: s, r: rand.New(rand.NewPCG(seed, 11)), seen: map[string][]string{}}
}

// person lets somebody do something.
func (s *story) person() {
	f := s.r.IntN(s.files)
	text := s.forge.commits[s.forge.heads["main"]].files[s.file(f)]
	lines := strings.SplitAfter(text, "\n")
	line := fmt.Sprintf("# note %d of a person\n", len(s.lines))
	switch at := 1 + s.r.IntN(len(lines)-1); s.r.IntN(12) {
	case 0, 1, 2, 3: // a line anywhere, also beside what a promotion changes
		s.lines = append(s.lines, line)
		s.forge.edit("main", s.file(f), strings.Join(lines[:at], "")+line+strings.Join(lines[at:], ""))
	case 4: // another file
		s.forge.edit("main", "README.md", line)
	case 5: // a comment behind a ref
		s.lines = append(s.lines, strings.TrimSuffix(line, "\n"))
		all := refPattern.FindAllStringIndex(text, -1)
		i := all[s.r.IntN(len(all))][1]
		s.forge.edit("main", s.file(f), text[:i]+" "+strings.TrimSuffix(line, "\n")+text[i:])
	case 6: // a commit on our branch, which is merged or thrown away later
		for _, m := range s.forge.requests {
			if m.State == services.MergeOpen {
				s.forge.edit(m.Branch, "by-hand-"+m.Branch, line)
				break
			}
		}
	case 7: // a merge request is closed with its branch
		for _, m := range s.forge.requests {
			if m.State == services.MergeOpen && s.r.IntN(3) == 0 {
				m.State = services.MergeClosed
				delete(s.forge.heads, m.Branch)
			}
		}
	}
}

// world moves the code, the publishers and the checks.
func (s *story) worldMoves() {
	if s.r.IntN(3) == 0 {
		s.code = append([]string{sha(len(s.code) + 1)}, s.code...)
	}
	if f, i := s.r.IntN(s.files), s.r.IntN(s.size); s.r.IntN(2) == 0 {
		s.deploy(f, i, s.code[0], s.r.IntN(6) > 0)
	}
	for _, m := range s.forge.requests {
		if m.State != services.MergeOpen {
			continue
		}
		s.forge.refresh(m)
		switch s.r.IntN(5) {
		case 0:
			m.Checks = services.ChecksFailed
		case 1, 2:
			m.Checks = services.ChecksPassed
			if m.Armed {
				s.forge.merge(m)
			}
		default:
			m.Checks = services.ChecksRunning
		}
	}
}

// byHand returns the heads of our branches that people made.
func (s *story) byHand() map[string]string {
	out := map[string]string{}
	for branch, head := range s.forge.heads {
		if strings.HasPrefix(branch, promotion.BranchPrefix) && s.forge.commits[head].message == "by hand" {
			out[branch] = head
		}
	}
	return out
}

var shaPattern = regexp.MustCompile(`[0-9a-f]{40}`)

// broken returns which law a loop broke, "" if none.
func (s *story) broken(byHand map[string]string) string {
	main := s.forge.commits[s.forge.heads["main"]]
	all := ""
	for _, text := range main.files {
		all += text
	}
	for _, line := range s.lines {
		if strings.Count(all, line) < 1 {
			return fmt.Sprintf("the line %q of a person is lost", line)
		}
	}
	for branch, head := range byHand {
		if s.forge.heads[branch] != head {
			return "the commit of a person on " + branch + " was overwritten"
		}
	}
	open := map[string]bool{}
	for _, m := range s.forge.requests {
		if m.State != services.MergeOpen {
			continue
		}
		if open[m.Branch] {
			return "two merge requests of " + m.Branch
		}
		open[m.Branch] = true
	}
	for branch, head := range s.forge.heads {
		c := s.forge.commits[head]
		if !strings.HasPrefix(branch, promotion.BranchPrefix) || c.message == "by hand" {
			continue
		}
		was := s.forge.commits[c.parents[0]]
		for _, path := range changed(was.files, c.files) {
			if shaPattern.ReplaceAllString(was.files[path], "sha") != shaPattern.ReplaceAllString(c.files[path], "sha") {
				return branch + " changes more than values in " + path
			}
		}
	}
	return ""
}

// step lets people, the world and a loop do something, and returns the law that is broken.
func (s *story) step(loop func() ([]string, error)) string {
	for range 1 + s.r.IntN(3) {
		s.person()
	}
	s.worldMoves()
	byHand := s.byHand()
	wrote, err := loop()
	if err != nil {
		return "the loop failed: " + err.Error()
	}
	for _, w := range wrote {
		if w == "commit" {
			s.pushes++
		}
	}
	return s.broken(byHand)
}

// rest lets everything succeed, and returns what does not land.
func (s *story) rest(loop func() ([]string, error)) string {
	for branch := range s.byHand() {
		for _, m := range s.forge.requests {
			if m.Branch == branch && m.State == services.MergeOpen && !s.forge.merge(m) {
				m.State = services.MergeClosed
			}
		}
		delete(s.forge.heads, branch)
	}
	s.code = append([]string{sha(len(s.code) + 1)}, s.code...)
	s.deployAll(s.code[0])
	for range 60 {
		s.now = s.now.Add(time.Hour)
		wrote, err := loop()
		if err != nil {
			return err.Error()
		}
		merged := false
		for _, m := range s.forge.requests {
			if m.State == services.MergeOpen {
				m.Checks = services.ChecksPassed
			}
			merged = s.forge.merge(m) || merged
		}
		if len(wrote) > 0 || merged {
			continue
		}
		for f := range s.files {
			if got := s.refs("main", f); !slices.Equal(got, slices.Repeat([]string{s.code[0]}, s.size)) {
				return fmt.Sprintf("saas file %d has %q, and %s can be promoted", f, got, s.code[0])
			}
		}
		return s.broken(nil)
	}
	return "it does not come to rest"
}

func TestLaws(t *testing.T) {
	pushes := 0
	for seed := range uint64(6) {
		s := newStory(t, seed)
		for n := range *rounds / 6 {
			if broken := s.step(s.loop); broken != "" {
				t.Fatalf("seed %d, round %d: %s\n%s", seed, n, broken, s.log.String())
			}
		}
		if broken := s.rest(s.loop); broken != "" {
			t.Fatalf("seed %d: %s\n%s", seed, broken, s.log.String())
		}
		pushes += s.pushes
	}
	if pushes < *rounds/20 {
		t.Errorf("%d pushes in %d rounds say little", pushes, *rounds)
	}
}
