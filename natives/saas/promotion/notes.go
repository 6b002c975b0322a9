package promotion

import (
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/natives/saas"
)

// A Note is the configuration of a publisher that a target notes for a channel.
type Note struct{ Channel, Saas, Hash string }

// Notes returns the promotion data of a target one by one.
func Notes(data []saas.ChannelData) []Note {
	var out []Note
	for _, d := range data {
		for _, p := range d.Parents {
			out = append(out, Note{d.Channel, p.Saas, p.Hash})
		}
	}
	return out
}

// Differs reports whether a target must be changed to have a commit and notes. Notes that are not
// wanted do no harm.
func Differs(ref string, has []Note, wantRef string, want []Note) bool {
	return ref != wantRef || slices.ContainsFunc(want, func(n Note) bool { return !slices.Contains(has, n) })
}

// with returns the subject as it is after a promotion to a commit.
func (q Question) with(commit string) Subject {
	s := q.Subject
	s.Ref = commit
	notes, _ := q.notes(commit) // what is not known closes the gate itself
	s.Data = Noted(s.Data, notes)
	return s
}

// Noted returns promotion data with notes: in place of the hash that is there for a channel and a
// saas file, or else at the end.
func Noted(data []saas.ChannelData, notes []Note) []saas.ChannelData {
	out := slices.Clone(data)
	for _, n := range notes {
		found := false
		for i, d := range out {
			if d.Channel != n.Channel {
				continue
			}
			out[i].Parents = slices.Clone(d.Parents)
			for j, p := range d.Parents {
				if p.Saas == n.Saas {
					out[i].Parents[j].Hash = n.Hash
					found = true
				}
			}
		}
		if !found {
			out = append(out, saas.ChannelData{Channel: n.Channel, Parents: []saas.ParentConfig{{Saas: n.Saas, Hash: n.Hash}}})
		}
	}
	return out
}

// notes returns what a target is to note about the publishers of its channels at a commit. A
// target that is to be promoted when a publisher's configuration changes notes the first publisher
// of each channel, as qontract-reconcile does. Another target keeps its notes up to date when its
// commit changes, since the gate would refuse old ones.
//
// The error says which record is not known; then the note stays as it is.
func (q Question) notes(commit string) (out []Note, err error) {
	for _, c := range q.Channels {
		has := q.noted(c.Name)
		wants := q.Redeploy
		if !wants && has != nil && commit != q.Ref {
			wants = !sameConfig(q.Subject, c, commit, q.Logs).Open
		}
		if !wants || len(c.Publishers) == 0 {
			continue
		}
		r, unknown := q.Logs.record(RecordPlace{c.Name, c.Publishers[0]}, commit)
		if unknown != nil {
			err = errors.Join(err, fmt.Errorf("the record of %.12s at %s in the channel %s: %w", commit, c.Publishers[0], c.Name,
				unknown))
		}
		switch {
		case r != nil && r.Success && r.Hash != nil && r.Saas != nil && *r.Hash != "" && *r.Saas != "":
			out = append(out, Note{c.Name, *r.Saas, *r.Hash})
		case has != nil:
			out = append(out, *has)
		}
	}
	return out, err
}

// noted returns the first note of a channel, nil if there is none.
func (q Question) noted(channel string) *Note {
	for _, n := range Notes(q.Data) {
		if n.Channel == channel {
			return &n
		}
	}
	return nil
}

// Pin returns the commit below which a target is pinned: it had another commit when it was looked
// at last, and now has one that is older, so somebody went back by hand. The pin of before stays
// until the target has something newer. It is "" if nothing pins it.
func Pin(pinned, was, is string, branches [][]string) string {
	if was == is || was == "" {
		return pinned
	}
	for _, b := range branches {
		i, j := slices.Index(b, was), slices.Index(b, is)
		switch {
		case i < 0 || j < 0:
			continue
		case i < j: // newest first, so it went back
			if k := slices.Index(b, pinned); k >= 0 && k < i {
				return pinned
			}
			return was
		}
	}
	if newer(pinned, is, branches) {
		return pinned
	}
	return ""
}

// newer reports whether a commit comes after another one on any branch.
func newer(commit, than string, branches [][]string) bool {
	for _, b := range branches {
		if i, j := slices.Index(b, commit), slices.Index(b, than); i >= 0 && j > i {
			return true
		}
	}
	return false
}
