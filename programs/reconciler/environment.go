package reconciler

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// minPause is the shortest pause between two rounds, and the shortest wait for a lease.
const minPause = time.Second

// complete fills in from the environment what no flag says, and checks that the options go
// together.
func (f *runFlags) complete(isGiven func(flag string) bool, getenv func(string) string) error {
	for _, fill := range []func(func(string) bool, func(string) string) error{f.fillDryRun, f.fillEvery, f.fillShards} {
		if err := fill(isGiven, getenv); err != nil {
			return err
		}
	}
	return f.check(getenv)
}

// fillDryRun decides whether the rounds write.
func (f *runFlags) fillDryRun(isGiven func(string) bool, getenv func(string) string) error {
	if isGiven("dry-run") || isGiven("no-dry-run") {
		switch {
		case f.dryRun && f.noDryRun:
			return errors.New("--dry-run and --no-dry-run contradict each other: give one of them")
		case !f.dryRun && !f.noDryRun:
			return errors.New("--dry-run and --no-dry-run take no value: give the one that you mean")
		}
		f.Writes = f.noDryRun
		return nil
	}
	switch v := getenv("DRY_RUN"); v {
	case "", "--dry-run", "true":
	case "--no-dry-run", "false":
		f.Writes = true
	default:
		return fmt.Errorf("the variable DRY_RUN must be --dry-run, --no-dry-run, true or false, got %.40q", v)
	}
	return nil
}

// fillEvery decides whether there are several rounds.
func (f *runFlags) fillEvery(isGiven func(string) bool, getenv func(string) string) error {
	if isGiven("every") {
		return nil
	}
	if v := getenv("RUN_ONCE"); v != "" {
		once, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("the variable RUN_ONCE must be true or false, got %.40q", v)
		}
		if once {
			return nil
		}
	}
	if v := getenv("SLEEP_DURATION_SECS"); v != "" {
		seconds, err := strconv.ParseUint(v, 10, 31)
		if err != nil || seconds == 0 {
			return fmt.Errorf("the variable SLEEP_DURATION_SECS must be a number of seconds from 1, got %.40q", v)
		}
		f.Every = time.Duration(seconds) * time.Second
	}
	return nil
}

// fillShards decides which part of the work is done.
func (f *runFlags) fillShards(isGiven func(string) bool, getenv func(string) string) error {
	if !isGiven("shard") {
		f.Shard = getenv("SHARD_KEY")
	}
	shards, id := getenv("SHARDS"), getenv("SHARD_ID")
	if isGiven("static") || isGiven("shard") || shards == "" && id == "" {
		return nil
	}
	of, err := strconv.ParseUint(shards, 10, 31)
	part, err2 := strconv.ParseUint(id, 10, 31)
	if err != nil || err2 != nil || part >= of {
		return fmt.Errorf("the variables SHARDS and SHARD_ID must be a number from 1 and one below it, got %.40q and %.40q",
			shards, id)
	}
	if of == 1 {
		return nil
	}
	if err := f.Static.Set(fmt.Sprintf("%d/%d", part+1, of)); err != nil {
		return fmt.Errorf("the variables SHARDS and SHARD_ID: %w", err)
	}
	return nil
}

// digestForm matches the digest of deletions.
var digestForm = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// check returns an error if options do not go together.
func (f *runFlags) check(getenv func(string) string) error {
	if f.Static.Of == 1 {
		f.Static = plan.Fraction{} // it is the whole
	}
	isRepeated := f.Every != 0
	switch {
	case f.bundle == "":
		return errors.New("--bundle is required: the data that are to become true")
	case f.Writes && (getenv("CI_MERGE_REQUEST_IID") != "" || getenv("CI_PIPELINE_SOURCE") == "merge_request_event"):
		return errors.New("this is the pipeline of a merge request, where only a dry run is possible: what is not merged " +
			"must not become true")
	case isRepeated && f.Every < minPause:
		return errors.New("--every must be at least 1s")
	case f.Timeout < minPause || f.Wait < minPause:
		return errors.New("--timeout and --wait must be at least 1s")
	case f.Workers < 1:
		return errors.New("--jobs must be at least 1")
	case isRepeated && len(f.Approve.Deletions) > 0:
		return errors.New("--confirm-deletions is for one run: leave out --every, or set RUN_ONCE=true")
	case isRepeated && f.AllowOlder:
		return errors.New("--allow-older is for one run: leave out --every, or set RUN_ONCE=true")
	case isRepeated && f.finished:
		return errors.New("--finished is for one run: leave out --every, or set RUN_ONCE=true")
	case f.finished && (f.Writes || f.Approve.Adopt):
		return errors.New("--finished only lists: leave out --no-dry-run and --adopt")
	}
	for _, d := range f.Approve.Deletions {
		if !digestForm.MatchString(d) {
			return fmt.Errorf("--confirm-deletions %.80q is no digest of deletions: copy it from the report of the dry run, "+
				"sha256: and 64 digits", d)
		}
	}
	if f.metrics != "" {
		if _, _, err := net.SplitHostPort(f.metrics); err != nil {
			return fmt.Errorf("--metrics: %w; give HOST:PORT, such as :9090", err)
		}
	}
	return nil
}
