package simulation

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// A size says how large a world is and how much happens in it.
type size struct {
	files, targets, days int
	merges, commits      int // a day
}

// quarter is the world of the acceptance.
var quarter = size{files: 300, targets: 3000, days: 90, merges: 40, commits: 200}

// How likely things go wrong.
const (
	redBuild   = 0.12
	failedRun  = 0.04
	failedCall = 0.02  // a request that creates a run
	killed     = 0.005 // after a run was created
)

// indenting is among how many files there is one whose people indent lists.
const indenting = 4

// A repo is the repository of a service, with its builds and images.
type repo struct {
	url     string
	commits []string // newest last
	builds  []services.Build
	images  map[string]bool // commits with an image
	weight  float64         // how busy it is
}

func (r *repo) head() string { return r.commits[len(r.commits)-1] }

// A file is a saas file.
type file struct {
	name  string
	repo  *repo
	cells []*cell // stage and production
	slo   bool    // its service misses its objectives
	seen  string  // text on main
	// indents says that people indent lists in this file.
	indents bool
}

// A cell is what one run deploys.
type cell struct {
	file    *file
	env     string
	targets []*target
	live    []*run
	merges  []*merge // that no run has deployed yet
}

func (c *cell) key() string { return c.file.name + "/" + c.env }

// A target deploys a template.
type target struct {
	cell     *cell
	uid      string
	template int
	follows  decide.Kind // Config: it does not follow anything
	version  int         // of what people write about it
	ref      string      // of production; stage follows the branch
	soakDays int
	schedule string
	asked    time.Time // when a promotion was decided on last
	opens    time.Time // when it is to be decided on again
	deployed snapshot
	since    time.Time // when the run started that deployed it
}

// A snapshot is what a run deploys of a target.
type snapshot struct {
	config, follows string
	commit          string
}

// config returns the digest of what the data say about a target.
func (t *target) config() string { return fmt.Sprintf("%s v%d %s", t.uid, t.version, t.ref) }

// green returns the newest build that succeeded.
func (r *repo) green() (services.Build, bool) {
	for i := len(r.builds) - 1; i >= 0; i-- {
		if r.builds[i].Result == "SUCCESS" {
			return r.builds[i], true
		}
	}
	return services.Build{}, false
}

// now returns what a run would deploy of a target at this moment. An image is there or the one
// that is deployed stays.
func (t *target) now() snapshot {
	r := t.cell.file.repo
	s := snapshot{config: t.config(), commit: t.ref}
	switch t.follows {
	case decide.Commit:
		s.follows, s.commit = r.head(), r.head()
	case decide.Upstream:
		if b, ok := r.green(); ok {
			s.follows = strconv.Itoa(b.Number)
		}
		s.commit = r.head()
	case decide.Image:
		s.follows, s.commit = t.deployed.follows, t.deployed.commit
		if r.images[r.head()] {
			s.follows, s.commit = r.head(), r.head()
		}
	}
	return s
}

// A merge is a change of the data that a cell has to deploy.
type merge struct {
	at   time.Time
	runs int // that started until the first one ended
}

// A run deploys a cell.
type run struct {
	cell    *cell
	started time.Time
	holds   map[*target]snapshot
	id      string // of the intent
	name    string
	isLive  bool
	isGood  bool
}

// A world is an installation.
type world struct {
	clock
	size
	events *rand.Rand // of what people and builds do: the same for each system
	luck   *rand.Rand // of runs and requests
	repos  []*repo
	files  []*file
	all    []*target
	figures
	system
	promoter
	*data
	shas int
}

// A system decides about runs and promotions.
type system interface {
	// changed tells that something of a file may differ from what is deployed.
	changed(f *file, kinds ...decide.Kind)
	// ended tells that a run ended.
	ended(r *run)
	// believes reports whether the system has a target for deployed as it should be, and why it is
	// not if the system says that.
	believes(t *target) (done bool, why string)
}

// newWorld makes a world.
func newWorld(seed uint64, s size) *world {
	w := &world{size: s, events: rand.New(rand.NewPCG(seed, 1)), luck: rand.New(rand.NewPCG(seed, 2))}
	w.now = begin
	w.lost, w.forgotten, w.unnamed, w.forever, w.conflicting = map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}, map[string]bool{}
	each := s.targets / s.files / 2
	for i := range s.files {
		r := &repo{url: fmt.Sprintf("https://git.test/service-%03d", i), images: map[string]bool{},
			weight: 1 / float64(i/4+1)}
		f := &file{name: fmt.Sprintf("service-%03d", i), repo: r, indents: i%indenting == indenting-1}
		for _, env := range []string{"stage", "production"} {
			f.cells = append(f.cells, &cell{file: f, env: env})
		}
		w.repos, w.files = append(w.repos, r), append(w.files, f)
		first := w.sha()
		r.commits, r.builds, r.images[first] = []string{first},
			[]services.Build{{Number: 1, Result: "SUCCESS", Commit: first}}, true
		for j := range each {
			for k, c := range f.cells {
				t := &target{cell: c, uid: fmt.Sprintf("%s-%d-%s", f.name, j, c.env), template: j, follows: decide.Config,
					ref: "main"}
				if k == 1 {
					t.ref, t.soakDays = first, []int{0, 0, 1, 2, 0, 3, 0, 1}[(i+j)%8]
					if (i+j)%5 == 0 {
						t.schedule = "0 9 * * 1-5"
					}
				} else {
					t.follows = []decide.Kind{decide.Upstream, decide.Image, decide.Commit}[min(j, 2)]
				}
				t.deployed = t.now()
				c.targets, w.all = append(c.targets, t), append(w.all, t)
			}
		}
	}
	return w
}

// sha returns a new commit.
func (w *world) sha() string {
	w.shas++
	return fmt.Sprintf("%08x%032x", w.shas*2654435761%(1<<32), w.shas)
}

// play lets a system live in the world for all days, and then for two quiet days.
func (w *world) play(s system) {
	w.system = s
	total := 0.0
	for _, r := range w.repos {
		total += r.weight
	}
	for day := range w.days {
		for range w.commits {
			w.at(w.working(day), func() { w.commit(total) })
		}
		for range w.merges {
			w.at(w.working(day), w.mergeByPerson)
		}
		for range 1 + w.size.files/50 {
			w.at(w.working(day), w.breach)
		}
		w.at(begin.AddDate(0, 0, day+1).Add(5*time.Hour), w.look) // the next morning
	}
	w.run(begin.AddDate(0, 0, w.days+2))
	w.look()
}

// working returns a time at which people work.
func (w *world) working(day int) time.Time {
	return begin.AddDate(0, 0, day).Add(8*time.Hour + time.Duration(w.events.Int64N(int64(12*time.Hour))))
}

// between returns a time of a length.
func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// commit lets somebody commit to a service. A build follows, which may be red.
func (w *world) commit(total float64) {
	at := w.events.Float64() * total
	i := 0
	for ; i < len(w.repos)-1 && at > w.repos[i].weight; i++ {
		at -= w.repos[i].weight
	}
	r, f := w.repos[i], w.files[i]
	id := w.sha()
	r.commits = append(r.commits, id)
	isRed, takes := w.events.Float64() < redBuild, between(w.events, 5*time.Minute, 25*time.Minute)
	w.changed(f, decide.Commit, decide.Image)
	w.in(time.Minute, func() {
		r.builds = append(r.builds, services.Build{Number: len(r.builds) + 1, Commit: id})
		n := len(r.builds) - 1
		w.changed(f, decide.Upstream)
		w.in(takes, func() {
			r.builds[n].Result = map[bool]string{true: "FAILURE", false: "SUCCESS"}[isRed]
			if !isRed {
				r.images[id] = true
			}
			w.changed(f, decide.Upstream, decide.Image)
		})
	})
}

// mergeByPerson lets somebody change a file, a template of it, or one target.
func (w *world) mergeByPerson() {
	f := w.files[w.events.IntN(len(w.files))]
	template, one := w.events.IntN(w.targets/w.size.files/2), w.events.IntN(2)
	what := w.events.IntN(10)
	var changed []*target
	for k, c := range f.cells {
		isTouched := false
		for _, t := range c.targets {
			if what < 5 || what < 8 && t.template == template || t.template == template && k == one {
				t.version++
				isTouched = true
				changed = append(changed, t)
			}
		}
		if isTouched {
			c.merges = append(c.merges, &merge{at: w.now})
		}
	}
	if w.data != nil {
		w.commitByPerson(f, changed)
	}
	w.changed(f, decide.Config)
}

// breach lets a service miss its objectives for some hours.
func (w *world) breach() {
	f := w.files[w.events.IntN(len(w.files))]
	f.slo = true
	w.in(between(w.events, time.Hour, 6*time.Hour), func() {
		f.slo = false
		w.changed(f, decide.Config)
		if w.promoter != nil {
			w.wake()
		}
	})
}
