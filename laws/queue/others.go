package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/peer"
)

// A whole is a pipeline of a request over all of its tasks, on what it was rebased on.
type whole struct {
	on    []*request // what it has beside its own change
	ends  float64
	fails bool
}

// run runs a whole pipeline.
func (s *stream) run(m *request, n int, now float64, on []*request, a *account) *whole {
	a.machine += s.Machine
	return &whole{on: slices.Clone(on), ends: now + m.pipeline, fails: s.flakes(m, n) || a.broken(s, m, on) != nil}
}

// broken returns the first of some requests with which another one fails, without those that were merged before its own
// pipeline: that one is green.
func (a *account) broken(s *stream, m *request, with []*request) *request {
	return s.broken(m, slices.DeleteFunc(slices.Clone(with), func(b *request) bool {
		at, isMerged := a.mergedAt[b.id]
		return isMerged && at <= m.ownAt
	}))
}

// A lane is a request in another way of merging.
type lane struct {
	*request
	tries   int
	tested  *whole // the newest pipeline, nil is its own, which is green
	rebased int    // how many were merged when it was rebased last; -1 is never
	labels  []string
}

// A peerLoop is the stream merged by the loops of package peer.
type peerLoop struct {
	*stream
	rules  peer.Rules
	now    float64
	merged []*request
	lanes  []*lane
	leads  []*lane // merged ones that lead a group
	out    account
}

// loops merges a stream by the rules of the peer, with or without groups.
func loops(s *stream, groups bool) *account {
	w := &peerLoop{stream: s, rules: peer.Defaults()}
	w.rules.Rebase, w.rules.Groups, w.rules.Strategy = true, groups, peer.ActiveCap
	w.rules.RebaseLimit, w.rules.MergeLimit = s.SerialLimit, s.SerialLimit
	if groups {
		w.rules.RebaseLimit, w.rules.MergeLimit, w.rules.Strategy = s.LabelsLimit, s.LabelsLimit, peer.ActiveCapGroups
	}
	next := 0
	for w.now = 0; next < len(s.requests) || len(w.lanes) > 0; w.now += s.PeerLoop {
		for ; next < len(s.requests) && s.requests[next].at <= w.now; next++ {
			w.lanes = append(w.lanes, &lane{request: s.requests[next], rebased: -1})
		}
		w.drop()
		for _, a := range peer.MergeAll(w.snapshot()).Actions {
			w.act(a)
		}
		for _, a := range peer.RebaseAll(w.snapshot()).Actions {
			w.act(a)
		}
		w.leads = slices.DeleteFunc(w.leads, func(l *lane) bool { return len(l.labels) == 0 })
		if w.now > 60*s.Hours*40 {
			break
		}
	}
	return &w.out
}

// drop takes out the requests whose pipeline failed since they break with what was merged: their authors have to work.
func (w *peerLoop) drop() {
	w.lanes = slices.DeleteFunc(w.lanes, func(l *lane) bool {
		isOut := l.tested != nil && l.tested.ends <= w.now && l.tested.fails &&
			w.out.broken(w.stream, l.request, l.tested.on) != nil
		if isOut {
			w.out.refused++
		}
		return isOut
	})
}

// snapshot returns what the peer finds.
func (w *peerLoop) snapshot() peer.Snapshot {
	s := peer.Snapshot{Rules: w.rules, Now: timeOf(w.now), Target: strconv.Itoa(len(w.merged)),
		Contains: func(string, string) bool { return true }}
	for _, l := range w.lanes {
		m := peer.Listed{Request: queue.Request{Number: l.id + 1, Head: "h", Labels: w.labelsOf(l)},
			IsRebased: l.rebased == len(w.merged)}
		m.Events = []queue.LabelEvent{{Label: queue.Classes[l.class], By: "bot", At: timeOf(l.at)}}
		p := peer.Pipeline{Status: "success", SHA: "h", CreatedAt: timeOf(l.ownAt), UpdatedAt: timeOf(l.ownAt)}
		if t := l.tested; t != nil {
			p.CreatedAt, p.UpdatedAt = timeOf(t.ends-l.pipeline), timeOf(t.ends-l.pipeline)
			switch {
			case t.ends > w.now:
				p.Status = "running"
			case t.fails:
				p.Status = "failed"
			}
		}
		m.Pipelines = []peer.Pipeline{p}
		s.Requests = append(s.Requests, m)
	}
	for _, l := range w.leads {
		at := w.out.mergedAt[l.id]
		s.Requests = append(s.Requests, peer.Listed{Request: queue.Request{Number: l.id + 1, Labels: w.labelsOf(l)},
			State: "merged", MergedAt: timeOf(at), UpdatedAt: timeOf(at), MergeCommit: s.Target})
	}
	return s
}

func (w *peerLoop) labelsOf(l *lane) []string {
	out := append([]string{queue.Classes[l.class]}, l.labels...)
	for _, t := range l.tenants {
		out = append(out, "tenant-"+strconv.Itoa(t))
	}
	return out
}

// act carries an action out.
func (w *peerLoop) act(a peer.Action) {
	i := slices.IndexFunc(w.lanes, func(l *lane) bool { return l.id == a.Of-1 })
	if i < 0 {
		if j := slices.IndexFunc(w.leads, func(l *lane) bool { return l.id == a.Of-1 }); j >= 0 {
			w.leads[j].label(a.Do)
		}
		return
	}
	l := w.lanes[i]
	switch a.Do {
	case peer.Merge:
		var saw []*request // by the newest pipeline
		if l.tested != nil {
			saw = l.tested.on
		}
		unseen := slices.DeleteFunc(slices.Clone(w.merged), func(m *request) bool {
			return slices.Contains(saw, m)
		})
		if w.out.broken(w.stream, l.request, unseen) != nil {
			w.out.breaks++
		}
		w.out.merge(l.request, w.now, w.Hours*60)
		w.merged = append(w.merged, l.request)
		w.lanes = slices.Delete(w.lanes, i, i+1)
		w.leads = append(w.leads, l)
	case peer.Rebase:
		l.tries++
		l.rebased, l.tested = len(w.merged), w.run(l.request, l.tries, w.now, w.merged, &w.out)
	case peer.RebaseQuiet:
		l.rebased = len(w.merged)
	default:
		l.label(a.Do)
	}
}

// label adds or removes a label.
func (l *lane) label(do string) {
	if label, ok := strings.CutPrefix(do, "add "); ok {
		l.labels = append(l.labels, label)
	} else if label, ok := strings.CutPrefix(do, "remove "); ok {
		l.labels = slices.DeleteFunc(l.labels, func(o string) bool { return o == label })
	}
}

// parallel merges a stream by whole pipelines on what is ahead: on all of it as a train does, or on what an analyzer
// says that it meets.
func parallel(s *stream, width int, isAhead func(m, other *request) bool) *account {
	var out account
	var merged []*request
	var lanes []*lane
	next := 0
	for now := 0.0; next < len(s.requests) || len(lanes) > 0; now += s.Loop {
		for ; next < len(s.requests) && s.requests[next].at <= now; next++ {
			lanes = append(lanes, &lane{request: s.requests[next]})
		}
		var ahead []*request
		var left []*lane
		for i, l := range lanes {
			if i >= width {
				left = append(left, lanes[i:]...)
				break
			}
			var near []*request
			for _, m := range ahead {
				if isAhead(l.request, m) {
					near = append(near, m)
				}
			}
			on := append(slices.Clone(merged), near...)
			isStale := l.tested != nil && slices.ContainsFunc(on, func(m *request) bool {
				return isAhead(l.request, m) && !slices.Contains(l.tested.on, m)
			}) || l.tested != nil && slices.ContainsFunc(l.tested.on, func(m *request) bool { return !slices.Contains(on, m) })
			if l.tested == nil || isStale {
				l.tries++
				l.tested = s.run(l.request, l.tries, now, on, &out)
			}
			switch isDone := l.tested.ends <= now; {
			case isDone && l.tested.fails && out.broken(s, l.request, merged) != nil:
				out.refused++
				continue
			case isDone && l.tested.fails && out.broken(s, l.request, l.tested.on) == nil:
				l.tested = nil // a flake: again
			case isDone && !l.tested.fails && len(near) == 0:
				if out.broken(s, l.request, merged) != nil {
					out.breaks++
				}
				out.merge(l.request, now, s.Hours*60)
				merged = append(merged, l.request)
				continue
			}
			ahead, left = append(ahead, l.request), append(left, l)
		}
		lanes = left
		if now > 60*s.Hours*40 {
			break
		}
	}
	return &out
}
