package promotion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Root is the folder of the records, as qontract-reconcile has it.
const Root = "state/openshift-saas-deploy/promotions_v2/"

// Records reads the records of promotions. What was read once is not read again, so one Records
// is for one loop. Several goroutines may use it at once.
type Records struct {
	bucket  integration.BucketReader
	workers int

	mu    sync.Mutex
	lists map[RecordPlace]*listing
	lines map[RecordPlace]*lining
	read  map[string]*reading // by key
}

// A listing is the commits of a place.
type listing struct {
	once    sync.Once
	commits []string
	err     error
}

// A lining is the timeline of a place.
type lining struct {
	once sync.Once
	runs []Run
	err  error
}

// A reading is one record; found is false if there is none.
type reading struct {
	once   sync.Once
	record Record
	found  bool
	err    error
	wrong  bool // err is about what the record says
}

// NewRecords returns the records of a bucket. It reads with so many workers at once, at least
// one.
func NewRecords(bucket integration.BucketReader, workers int) *Records {
	return &Records{bucket: bucket, workers: max(workers, 1), lists: map[RecordPlace]*listing{},
		lines: map[RecordPlace]*lining{},
		read:  map[string]*reading{}}
}

// Key returns the key of a record.
func Key(at RecordPlace, commit string) (string, error) {
	for _, part := range []string{at.Channel, at.UID, commit} {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/\x00") {
			return "", fmt.Errorf("%.60q cannot be part of the key of a record: it is empty or has a slash", part)
		}
	}
	return Root + at.Channel + "/" + at.UID + "/" + commit, nil
}

// Read returns what a gate or a decision about commits of a subject needs. A subject without
// soak time needs the records of these commits alone. Errors stand in the logs.
func (r *Records) Read(ctx context.Context, s Subject, commits ...string) Logs {
	out := Logs{}
	for _, at := range s.places() {
		if _, done := out[at]; done {
			continue
		}
		if s.SoakTime > 0 {
			out[at] = r.Log(ctx, at)
			continue
		}
		out[at] = r.some(ctx, at, commits)
	}
	return out
}

// ReadAmong returns what decisions need of some commits alone, such as those of a branch. With a
// soak time a gate needs more: other commits may have run in between, see [Records.Read]. So it is
// for a loop that looks at many commits often, before a gate is asked.
func (r *Records) ReadAmong(ctx context.Context, s Subject, commits ...string) Logs {
	out := Logs{}
	for _, at := range s.places() {
		if _, done := out[at]; done {
			continue
		}
		log := r.some(ctx, at, commits)
		if s.SoakTime > 0 {
			line, err := r.timeline(ctx, at)
			log.Runs, log.Err = line, errors.Join(log.Err, err)
		}
		out[at] = log
	}
	return out
}

// Log returns all records of a place.
func (r *Records) Log(ctx context.Context, at RecordPlace) Log {
	commits, err := r.list(ctx, at)
	if err != nil {
		return Log{Err: err}
	}
	out := r.get(ctx, at, commits)
	line, err := r.timeline(ctx, at)
	out.Runs, out.Err = line, errors.Join(out.Err, err)
	return out
}

// some returns the records of some commits of a place.
func (r *Records) some(ctx context.Context, at RecordPlace, commits []string) Log {
	if len(commits) <= 1 {
		return r.get(ctx, at, commits)
	}
	there, err := r.list(ctx, at)
	if err != nil {
		return Log{Err: err}
	}
	var both []string
	is := map[string]bool{}
	for _, c := range there {
		is[c] = true
	}
	for _, c := range commits {
		if is[c] {
			both = append(both, c)
			is[c] = false // once
		}
	}
	return r.get(ctx, at, both)
}

// list returns the commits that have records at a place.
func (r *Records) list(ctx context.Context, at RecordPlace) ([]string, error) {
	r.mu.Lock()
	l := r.lists[at]
	if l == nil {
		l = &listing{}
		r.lists[at] = l
	}
	r.mu.Unlock()
	l.once.Do(func() {
		prefix, err := Key(at, "x")
		if err != nil {
			l.err = err
			return
		}
		prefix = strings.TrimSuffix(prefix, "x")
		keys, err := r.bucket.Keys(ctx, prefix)
		if err != nil {
			l.err = fmt.Errorf("listing the records of %s in the channel %s: %w", at.UID, at.Channel, err)
			return
		}
		for _, k := range keys {
			if c := strings.TrimPrefix(k, prefix); c != "" && !strings.Contains(c, "/") {
				l.commits = append(l.commits, c)
			}
		}
	})
	return l.commits, l.err
}

// timeline reads the timeline of a place.
func (r *Records) timeline(ctx context.Context, at RecordPlace) ([]Run, error) {
	r.mu.Lock()
	l := r.lines[at]
	if l == nil {
		l = &lining{}
		r.lines[at] = l
	}
	r.mu.Unlock()
	l.once.Do(func() {
		line, _, err := readTimeline(ctx, r.bucket, at)
		l.runs, l.err = line.Runs, err
	})
	return l.runs, l.err
}

// get reads the records of commits, several at once.
func (r *Records) get(ctx context.Context, at RecordPlace, commits []string) Log {
	out := Log{Records: map[string]Record{}, Wrong: map[string]error{}}
	if len(commits) == 0 {
		return out
	}
	errs, err := reconcile.Each(ctx, commits, r.workers, 0, func(ctx context.Context, commit string, _ int) error {
		r.one(ctx, at, commit)
		return nil
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return Log{Err: err}
	}
	for _, commit := range commits {
		f := r.one(ctx, at, commit)
		switch {
		case f.err != nil && f.wrong:
			out.Wrong[commit] = f.err
		case f.err != nil:
			out.Err = errors.Join(out.Err, f.err)
		case f.found:
			out.Records[commit] = f.record
		}
	}
	return out
}

// one reads one record.
func (r *Records) one(ctx context.Context, at RecordPlace, commit string) *reading {
	key, err := Key(at, commit)
	if err != nil {
		return &reading{err: err, wrong: true}
	}
	r.mu.Lock()
	f := r.read[key]
	if f == nil {
		f = &reading{}
		r.read[key] = f
	}
	r.mu.Unlock()
	f.once.Do(func() {
		raw, _, err := r.bucket.Get(ctx, key)
		switch {
		case errors.Is(err, integration.ErrNotThere):
		case err != nil:
			f.err = fmt.Errorf("reading the record of %.12s at %s in the channel %s: %w", commit, at.UID, at.Channel, err)
		default:
			f.record, f.err = ParseRecord(raw)
			f.found, f.wrong = f.err == nil, f.err != nil
		}
	})
	return f
}
