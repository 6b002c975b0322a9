package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The parameters of a stream. Ranges have a least and a largest value.
type parameters struct {
	Hours       float64    `json:"hours"`
	Arrivals    []float64  `json:"arrivals"` // an hour
	Pipeline    [2]float64 `json:"pipeline_minutes"`
	Machine     float64    `json:"machine_minutes"` // of a whole pipeline
	Startup     float64    `json:"startup_minutes"` // of a run of a delta
	PeerLoop    float64    `json:"peer_loop_minutes"`
	Loop        float64    `json:"loop_minutes"`
	Merge       float64    `json:"merge_minutes"` // a rebase and a merge by the API
	SerialLimit int        `json:"serial_limit"`
	LabelsLimit int        `json:"labels_limit"`
	TrainWidth  int        `json:"train_width"`
	Tenants     int        `json:"tenants"`
	NoTenant    float64    `json:"without_tenant"`
	Several     float64    `json:"several_tenants"`
	Hidden      float64    `json:"hidden"`
	Flakes      float64    `json:"flakes"` // of whole pipelines
	Tasks       [2]int     `json:"tasks"`
	Differs     relation   `json:"differs"` // how likely a merge changes what a task sees
	Breaks      relation   `json:"breaks"`  // how likely two break together
	Young       float64    `json:"young"`
	YoungAge    [2]float64 `json:"young_minutes"`
	OldAge      [2]float64 `json:"old_hours"`
	Depth       int        `json:"depth"`
	GuessChance float64    `json:"guess_chance"`
	GuessBudget float64    `json:"guess_budget"`
}

// A relation has a chance for requests of one tenant, for those that share something, and for others.
type relation struct {
	Same   float64 `json:"same"`
	Shared float64 `json:"shared"`
	Other  float64 `json:"other"`
}

//go:embed stream.json
var streamJSON []byte

func readParameters(raw []byte) (p parameters, err error) {
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("the parameters: %w", err)
	}
	if p.Hours <= 0 || p.Loop <= 0 || p.PeerLoop <= 0 || p.Tenants < 1 || p.Tasks[0] < 1 || p.Tasks[1] < p.Tasks[0] {
		return p, fmt.Errorf("the parameters: hours, loops, tenants and tasks must be above 0")
	}
	return p, nil
}

// A request is one of the stream. Times are minutes.
type request struct {
	id        int
	at        float64 // approved
	class     int
	tenants   []int
	isHidden  bool
	tasks     int
	pipeline  float64 // how long one takes
	ownAt     float64 // when its own pipeline ended
	ownMerges int     // how many had been merged then
}

// A stream is all requests, and what they do to each other.
type stream struct {
	parameters
	seed     uint64
	requests []*request
}

func newStream(p parameters, seed uint64, perHour float64) *stream {
	r := rand.New(rand.NewPCG(seed, uint64(perHour*100)))
	s := &stream{parameters: p, seed: seed}
	between := func(of [2]float64) float64 { return of[0] + r.Float64()*(of[1]-of[0]) }
	var zipf []float64
	sum := 0.0
	for i := range p.Tenants {
		sum += 1 / float64(i+1)
		zipf = append(zipf, sum)
	}
	tenant := func() int { i, _ := slices.BinarySearch(zipf, r.Float64()*sum); return min(i, p.Tenants-1) }
	for at := 0.0; ; {
		if at += -math.Log(1-r.Float64()) * 60 / perHour; at > p.Hours*60 {
			return s
		}
		m := &request{id: len(s.requests), at: at, class: r.IntN(9), isHidden: r.Float64() < p.Hidden,
			tasks: p.Tasks[0] + r.IntN(p.Tasks[1]-p.Tasks[0]+1), pipeline: between(p.Pipeline)}
		if r.Float64() >= p.NoTenant {
			m.tenants = append(m.tenants, tenant())
		}
		if r.Float64() < p.Several {
			m.tenants = append(m.tenants, tenant())
		}
		m.ownAt = at - between(p.YoungAge)
		if r.Float64() >= p.Young {
			m.ownAt = at - 60*between(p.OldAge)
		}
		s.requests = append(s.requests, m)
	}
}

// A question is what is drawn once and for all.
type question uint64

// The questions.
const (
	doesBreak question = iota + 1
	whichTask
	doesDiffer
	isFlaky
	isFlakyTask
	howLong
)

// draw returns a number from 0 to 1 that is always the same for the same question.
func (s *stream) draw(q question, n ...int) float64 {
	x := mix(s.seed ^ uint64(q)<<32)
	for _, i := range n {
		x = mix(x ^ uint64(i))
	}
	return float64(x>>11) / (1 << 53)
}

// mix is the step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// of returns the chance of a relation for two requests.
func (of relation) of(a, b *request) float64 {
	switch {
	case slices.ContainsFunc(a.tenants, func(t int) bool { return slices.Contains(b.tenants, t) }):
		return of.Same
	case a.isHidden || b.isHidden || len(a.tenants) == 0 || len(b.tenants) == 0:
		return of.Shared
	}
	return of.Other
}

// breaks returns the task of a request that fails with another one; -1 is none.
func (s *stream) breaks(a, b *request) int {
	if x, y := min(a.id, b.id), max(a.id, b.id); s.draw(doesBreak, x, y) >= s.Breaks.of(a, b) {
		return -1
	}
	return int(s.draw(whichTask, a.id, b.id) * float64(a.tasks))
}

// differs reports whether the merge of another request changes what a task sees.
func (s *stream) differs(a *request, task int, b *request) bool {
	return s.draw(doesDiffer, a.id, task, b.id) < s.Differs.of(a, b) || s.breaks(a, b) == task
}

// meets reports whether the merge of one request changes what any task of the other one sees.
func (s *stream) meets(a, b *request) bool {
	one := func(a, b *request) bool {
		for task := range a.tasks {
			if s.differs(a, task, b) {
				return true
			}
		}
		return false
	}
	return one(a, b) || one(b, a)
}

// broken returns the first of some requests with which another one fails; nil is none.
func (s *stream) broken(a *request, with []*request) *request {
	for _, b := range with {
		if s.breaks(a, b) >= 0 {
			return b
		}
	}
	return nil
}

// flakes reports whether the n-th whole pipeline of a request fails for no reason.
func (s *stream) flakes(a *request, n int) bool { return s.draw(isFlaky, a.id, n) < s.Flakes }

// An account is what a way of merging did.
type account struct {
	merged, refused, breaks int             // breaks is how often the branch was broken
	mergedAt                map[int]float64 // by request
	inTime                  int             // merged while requests arrived
	waits                   []float64
	machine                 float64
	wasted                  float64 // machine minutes whose results nothing rests on
	dropped                 float64 // of these, since something that was expected to merge was refused
}

func (a *account) merge(m *request, at, until float64) {
	if a.mergedAt == nil {
		a.mergedAt = map[int]float64{}
	}
	a.merged++
	a.mergedAt[m.id] = at
	a.waits = append(a.waits, at-m.at)
	if at <= until {
		a.inTime++
	}
}

// quantile returns a quantile of the waits.
func (a *account) quantile(q float64) float64 {
	if len(a.waits) == 0 {
		return 0
	}
	all := slices.Clone(a.waits)
	slices.Sort(all)
	return all[min(int(q*float64(len(all))), len(all)-1)]
}

// add adds another account.
func (a *account) add(b *account) {
	a.merged, a.refused, a.breaks, a.inTime = a.merged+b.merged, a.refused+b.refused, a.breaks+b.breaks, a.inTime+b.inTime
	a.waits = append(a.waits, b.waits...)
	a.machine, a.wasted, a.dropped = a.machine+b.machine, a.wasted+b.wasted, a.dropped+b.dropped
}
