package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A sapm is a model of the promotions of today: the head of a branch or nothing, batches of up to
// five promotions under random names, closed and opened again whenever they change.
type sapm struct {
	*world
	open  map[string]*batch // by branch
	count int
}

// A batch is one merge request.
type batch struct {
	iid       int
	contents  map[string]wish
	batchable bool
}

// A wish is a promotion that is to be made.
type wish struct {
	target *target
	ref    string
}

func (h wish) hash() string { return h.target.uid + " " + h.ref }

const batchLimit = 5

func newSAPM(w *world) *sapm {
	s := &sapm{world: w, open: map[string]*batch{}}
	s.again()
	return s
}

// again looks in five minutes or a bit more, since a look takes time.
func (s *sapm) again() {
	s.in(5*time.Minute+between(s.luck, 0, 2*time.Minute), func() {
		s.promote()
		s.again()
	})
}

func (s *sapm) wake() {}

// wishes returns what is to be promoted now.
func (s *sapm) wishes() map[string]wish {
	out := map[string]wish{}
	for _, f := range s.files {
		head := f.repo.head()
		for _, t := range f.cells[1].targets {
			publisher := f.cells[0].targets[t.template]
			r, ok := s.logs[placeOf(publisher)].Records[head]
			if !ok || !r.Success || head == t.ref || f.slo || !matches(t.schedule, s.now) {
				continue
			}
			if since, ok := r.Since(); ok && s.now.Sub(since) < time.Duration(t.soakDays)*24*time.Hour {
				continue
			}
			h := wish{t, head}
			out[h.hash()] = h
		}
	}
	return out
}

// matches reports whether the minute is one of a schedule such as "0 9 * * 1-5".
func matches(schedule string, now time.Time) bool {
	if schedule == "" {
		return true
	}
	words := strings.Fields(schedule)
	minute, _ := strconv.Atoi(words[0])
	hour, _ := strconv.Atoi(words[1])
	isDay := words[4] == "*" || now.Weekday() >= time.Monday && now.Weekday() <= time.Friday
	return now.Minute() == minute && now.Hour() == hour && isDay
}

// promote is one look: merge requests that failed are taken apart, those that are outdated or have
// conflicts are closed, and what is left to promote joins the batch that has room.
func (s *sapm) promote() {
	s.SetTime(s.now)
	wishes := s.wishes()
	alone := map[string]bool{}
	given := map[string]bool{}
	heads := map[int]gitlabtest.MergeRequest{}
	for _, m := range s.OpenMergeRequests() {
		heads[m.IID] = m
	}
	var room *batch
	for _, branch := range keys(s.open) {
		b := s.open[branch]
		m, isOpen := heads[b.iid]
		isOutdated := slices.ContainsFunc(keys(b.contents), func(hash string) bool { _, ok := wishes[hash]; return !ok })
		switch {
		case !isOpen:
			delete(s.open, branch)
		case b.batchable && s.PipelineOf(m.Head) == "failed":
			for hash := range b.contents {
				alone[hash] = true
			}
			s.drop(branch)
		case isOutdated && !b.isScheduled(), s.Conflicts(b.iid):
			s.drop(branch)
		default:
			for hash := range b.contents {
				given[hash] = true
			}
			if b.batchable && len(b.contents) < batchLimit {
				room = b
			}
		}
	}
	s.add(wishes, given, alone, room)
}

// isScheduled reports whether a batch has promotions that were wished for in their minute alone.
// The program of today keeps them; a model that closes them would be unfair.
func (b *batch) isScheduled() bool {
	for _, h := range b.contents {
		if h.target.schedule != "" {
			return true
		}
	}
	return false
}

// add opens merge requests for what has none.
func (s *sapm) add(wishes map[string]wish, given, alone map[string]bool, room *batch) {
	var rest []string
	for _, hash := range keys(wishes) {
		switch {
		case given[hash]:
		case alone[hash]:
			s.submit([]wish{wishes[hash]}, false)
		default:
			rest = append(rest, hash)
		}
	}
	if len(rest) == 0 {
		return
	}
	var list []wish
	for _, hash := range rest {
		list = append(list, wishes[hash])
	}
	if room != nil {
		for _, hash := range keys(room.contents) {
			list = append(list, room.contents[hash])
		}
		for _, branch := range keys(s.open) {
			if s.open[branch] == room {
				s.drop(branch)
			}
		}
	}
	for part := range slices.Chunk(list, batchLimit) {
		s.submit(part, true)
	}
}

func (s *sapm) drop(branch string) {
	if err := s.Close(s.open[branch].iid, gitlabtest.TheBot); err != nil {
		s.t.Fatal(err)
	}
	delete(s.open, branch)
}

// submit opens a merge request on the head of main, with whole files.
func (s *sapm) submit(wishes []wish, batchable bool) {
	s.count++
	b := &batch{contents: map[string]wish{}, batchable: batchable}
	branch := fmt.Sprintf("auto-promotion-%d", s.count)
	files := map[string]string{}
	for _, h := range wishes {
		path := h.target.cell.file.path()
		if files[path] == "" {
			files[path], _ = s.File(gitlabtest.DefaultBranch, path)
		}
		lines := strings.Split(files[path], "\n")
		_, at := find(lines, h.target)
		set(lines, at, h.ref)
		files[path] = flat(strings.Join(lines, "\n")) // a program parses it and writes all of it anew
		b.contents[h.hash()] = h
	}
	s.pushes++
	_, err := s.Commit(gitlabtest.Change{By: gitlabtest.TheBot, Branch: branch, Message: "promote", Files: files})
	if err != nil {
		s.t.Fatal(err)
	}
	b.iid = s.Open(s.t, gitlabtest.MergeRequest{Title: branch, Source: branch, Target: gitlabtest.DefaultBranch,
		By: gitlabtest.TheBot})
	s.Arm(b.iid)
	s.open[branch] = b
}

func placeOf(publisher *target) promotion.RecordPlace {
	return promotion.RecordPlace{Channel: channel(publisher), UID: publisher.uid}
}

// keys returns the keys of a map, sorted.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
