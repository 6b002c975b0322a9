package promotion

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
)

// A Verdict says whether a target may run a commit.
type Verdict struct {
	Open   bool
	Code   Code   // why not, "" if it is open
	Reason string // why not, for people; "" if it is open
	// Opens is when the gate opens if nothing else happens. It is zero if that is not known.
	Opens time.Time
	// Err says that nobody knows whether the gate is open, so it is closed.
	Err error
}

// Gate says whether a subject may run a commit. The steps are those of qontract-reconcile, in its order: a target that
// subscribes to nothing may run everything; a blocked commit is refused; a hotfix is let through; each publisher must
// have run the commit with success; the promotion data of the target must name the configuration of a publisher; the
// commit must have soaked. Before them stand mistakes in the data and the word of a person who holds the target, which
// allow nothing. What the target itself ran well needs no publisher and no soak. What a publisher found bad, or still
// verifies, is not let through; a commit that a person promoted needs no soak.
func Gate(s Subject, commit string, logs Logs, now time.Time) Verdict {
	return gate(s, commit, &soaking{Subject: s, logs: logs}, now)
}

func gate(s Subject, commit string, soak *soaking, now time.Time) Verdict {
	logs := soak.logs
	if s.Broken != "" {
		return closed(Unknown, "the target cannot be used: %s", s.Broken)
	}
	if s.OwnErr != nil {
		return unknown(s.OwnErr)
	}
	if hold := s.Own.Standing().Hold; hold != nil {
		return closed(Pinned, "%s holds the target since %s", hold.Who, when(hold.At))
	}
	if len(s.Channels) == 0 {
		return Verdict{Open: true}
	}
	if slices.Contains(s.Blocked, commit) {
		return closed(Blocked, "the commit %.12s is blocked", commit)
	}
	if slices.Contains(s.Hotfix, commit) || s.Own.Ran(commit) {
		return Verdict{Open: true}
	}
	for _, c := range s.Channels {
		if v := s.published(c, commit, logs); !v.Open {
			return v
		}
		if v := sameConfig(s, c, commit, logs); !v.Open {
			return v
		}
	}
	if v := soak.found(commit, now); !v.Open {
		return v
	}
	if _, promoted := s.Own.Standing().Promoted[commit]; promoted {
		return Verdict{Open: true}
	}
	return soak.verdict(commit, now)
}

// closed returns a verdict with a reason.
func closed(code Code, format string, args ...any) Verdict {
	return Verdict{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// unknown returns a verdict about something that nobody knows.
func unknown(err error) Verdict {
	return Verdict{Code: Unknown, Reason: "it is not known whether the promotion gate is open: " + err.Error(), Err: err}
}

// when returns a time for people.
func when(at time.Time) string { return at.UTC().Format("2006-01-02 15:04Z") }

// published says whether each publisher of a channel ran a commit with success.
func (s Subject) published(c Channel, commit string, logs Logs) Verdict {
	if len(c.Publishers) == 0 {
		return closed(NotRun, "the channel %s has no publisher", c.Name)
	}
	for _, uid := range c.Publishers {
		switch r, err := logs.record(RecordPlace{c.Name, uid}, commit); {
		case err != nil:
			return unknown(fmt.Errorf("the record of %.12s at %s in the channel %s: %w", commit, s.publisher(uid), c.Name, err))
		case r == nil:
			return closed(NotRun, "the publisher %s of the channel %s did not run %.12s", s.publisher(uid), c.Name, commit)
		case !r.Succeeded():
			return closed(Bad, "the publisher %s of the channel %s failed to run %.12s", s.publisher(uid), c.Name, commit)
		}
	}
	return Verdict{Open: true}
}

// sameConfig says whether the configuration that a target notes for a channel is one with which
// a publisher ran the commit. A target that notes none, and publishers whose records have none,
// are not compared.
func sameConfig(s Subject, c Channel, commit string, logs Logs) Verdict {
	hashes := hashesOf(c, commit, logs)
	noted := notedHash(s.Data, c.Name)
	if len(hashes) == 0 || noted == "" || slices.Contains(hashes, noted) {
		return Verdict{Open: true}
	}
	return closed(NotRun, "the publishers of the channel %s ran %.12s with another configuration (%q) than promotion_data "+
		"says (%q)", c.Name, commit, hashes, noted)
}

// hashesOf returns the config hashes of the publishers of a channel for a commit.
func hashesOf(c Channel, commit string, logs Logs) []string {
	var out []string
	for _, uid := range c.Publishers {
		if r, err := logs.record(RecordPlace{c.Name, uid}, commit); err == nil && r != nil && r.Hash != nil && *r.Hash != "" {
			out = append(out, *r.Hash)
		}
	}
	return out
}

// notedHash returns the config hash that promotion data name for a channel, the last one if
// there are several, as qontract-reconcile does, or "".
func notedHash(data []saas.ChannelData, channel string) string {
	out := ""
	for _, d := range data {
		for _, p := range d.Parents {
			if d.Channel == channel {
				out = p.Hash
			}
		}
	}
	return out
}

// verdict says whether a commit ran for long enough.
func (s *soaking) verdict(commit string, now time.Time) Verdict {
	left, opens, err := s.left(commit, now)
	switch {
	case err != nil:
		return unknown(err)
	case left <= 0:
		return Verdict{Open: true}
	}
	at := cmp.Or(s.Subject.publishers(), "the publishers")
	v := closed(Soaks, "%.12s must run %s longer at %s", commit, rounded(left), at)
	v.Opens = opens
	return v
}

// rounded returns a time in a form for people, in whole minutes, rounded up.
func rounded(d time.Duration) string {
	minutes := (d + time.Minute - 1) / time.Minute
	if minutes < 60 {
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// BranchPrefix begins the names of all branches of promotions.
const BranchPrefix = "saas-promotion/"

// A Component is subscribers that share files, directly or through others. It has one merge
// request, so that two merge requests never change the same file.
type Component struct {
	Subscribers []string // sorted
	Files       []string // sorted
}

// Branch returns the name of the branch of a component, which follows from its files.
func (c Component) Branch() string { return Branch(c.Files) }

// Branch returns the name of the branch for sorted files.
func Branch(files []string) string {
	sum := sha256.Sum256([]byte(strings.Join(files, "\n")))
	return BranchPrefix + hex.EncodeToString(sum[:])[:12]
}

// Components returns the components of subscribers with the files that they change, in the order
// of their first file.
func Components(files map[string][]string) []Component {
	parent := map[string]string{}
	root := func(file string) string {
		for parent[file] != file {
			parent[file] = parent[parent[file]] // half the way for the next one
			file = parent[file]
		}
		return file
	}
	names := sortedKeys(files)
	for _, name := range names {
		for _, f := range files[name] {
			if _, known := parent[f]; !known {
				parent[f] = f
			}
			a, b := root(files[name][0]), root(f)
			parent[max(a, b)] = min(a, b) // so the root is the first file
		}
	}
	by := map[string]*Component{}
	for _, f := range sortedKeys(parent) {
		r := root(f)
		if by[r] == nil {
			by[r] = &Component{}
		}
		by[r].Files = append(by[r].Files, f)
	}
	for _, name := range names {
		if len(files[name]) > 0 {
			c := by[root(files[name][0])]
			c.Subscribers = append(c.Subscribers, name)
		}
	}
	var out []Component
	for _, r := range sortedKeys(by) {
		out = append(out, *by[r])
	}
	slices.SortFunc(out, func(a, b Component) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return out
}
