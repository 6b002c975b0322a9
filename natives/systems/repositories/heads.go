package repositories

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/outward"
)

// fullSha matches the name of a commit.
var fullSha = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Heads implements [services.Repositories]. The sha of a commit stands for itself, and is not
// asked for.
func (r *Repositories) Heads(ctx context.Context, of services.Repository,
	branches []string) (map[string]string, error) {
	out := map[string]string{}
	var asked []string
	for _, branch := range branches {
		switch {
		case fullSha.MatchString(branch):
			out[branch] = branch
		case branch == "" || len(branch) > 500 || strings.ContainsFunc(branch, func(c rune) bool {
			return c <= ' ' || c == 0x7f
		}):
			return nil, wrong("%.100q is no name of a branch", branch)
		default:
			asked = append(asked, branch)
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	found, err := r.heads(ctx, of, asked)
	if err != nil {
		return nil, fmt.Errorf("reading the branches of %.200s: %w", withoutUser(of.URL), err)
	}
	for _, branch := range asked {
		if commit, ok := found[branch]; ok {
			out[branch] = commit
		}
	}
	return out, nil
}

// heads asks a repository for branches. It learns at which address the repository answers.
func (r *Repositories) heads(ctx context.Context, of services.Repository,
	branches []string) (out map[string]string, err error) {
	base, to, err := check(of)
	if err != nil {
		return nil, err
	}
	known := r.place(base)
	address, isOld := r.known(known)
	tries := []string{address}
	if address == "" {
		tries = []string{base + ".git", base}
	}
	for i, try := range tries {
		var at string
		err = r.again(ctx, func(ctx context.Context) (err error) {
			out, at, isOld, err = r.headsAt(ctx, to, try, branches, isOld)
			return err
		})
		if err == nil {
			r.learn(known, at, isOld)
			return out, nil
		}
		// An address that is no repository may answer anything to a request of git.
		if i < len(tries)-1 && (errors.Is(err, services.ErrNotThere) || errors.Is(err, errOther)) {
			continue
		}
		break
	}
	if errors.Is(err, errOther) {
		return nil, lost("%w", err)
	}
	return nil, err
}

func (r *Repositories) known(of *place) (address string, isOld bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return of.address, of.isOld
}

func (r *Repositories) learn(of *place, address string, isOld bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of.address, of.isOld = address, isOld
}

// headsAt asks at one address, by version 2 of the protocol or, if the server does not speak it,
// in the older way.
func (r *Repositories) headsAt(ctx context.Context, to outward.Party, address string, branches []string,
	isOld bool) (map[string]string, string, bool, error) {
	if !isOld {
		raw, at, err := r.ask(ctx, to, address, "/git-upload-pack", listRefs(branches))
		if err == nil {
			out, err := readRefs(raw)
			if err == nil {
				return out, at, false, nil
			}
		}
		if err != nil && !errors.Is(err, errOther) {
			return nil, "", false, err
		}
	}
	raw, at, err := r.ask(ctx, to, address, "/info/refs?service=git-upload-pack", nil)
	if err != nil {
		return nil, "", isOld, err
	}
	out, err := readAdvertisement(raw)
	return out, at, true, err
}

// listRefs returns the request of version 2 for branches and all that begin like them.
func listRefs(branches []string) []byte {
	var out bytes.Buffer
	line := func(text string) { fmt.Fprintf(&out, "%04x%s\n", len(text)+5, text) }
	line("command=ls-refs")
	line("agent=git/2-prcheck")
	out.WriteString("0001")
	for _, branch := range slices.Compact(slices.Sorted(slices.Values(branches))) {
		line("ref-prefix refs/heads/" + branch)
	}
	out.WriteString("0000")
	return out.Bytes()
}

// A packet is a line of git's protocol. A flush ends a list.
type packet struct {
	text    string
	isFlush bool
}

// nextPacket cuts the first packet off.
func nextPacket(raw []byte) (p packet, rest []byte, err error) {
	if len(raw) < 4 {
		return p, nil, errOther
	}
	size, err := strconv.ParseUint(string(raw[:4]), 16, 16)
	switch {
	case err != nil || size > 3 && int(size) > len(raw):
		return p, nil, errOther
	case size == 0:
		return packet{isFlush: true}, raw[4:], nil
	case size < 4:
		return p, nil, errOther
	}
	return packet{text: strings.TrimSuffix(string(raw[4:size]), "\n")}, raw[size:], nil
}

// readRefs reads the answer to listRefs. It must be complete.
func readRefs(raw []byte) (map[string]string, error) {
	out := map[string]string{}
	for {
		p, rest, err := nextPacket(raw)
		if err != nil {
			return nil, err
		}
		if p.isFlush {
			return out, nil
		}
		if err := note(out, p.text); err != nil {
			return nil, err
		}
		raw = rest
	}
}

// readAdvertisement reads the list of all refs with which the older versions begin.
func readAdvertisement(raw []byte) (map[string]string, error) {
	out := map[string]string{}
	p, rest, err := nextPacket(raw)
	if err != nil || p.text != "# service=git-upload-pack" {
		return nil, errOther
	}
	if p, rest, err = nextPacket(rest); err != nil || !p.isFlush {
		return nil, errOther
	}
	for isFirst := true; ; isFirst = false {
		if p, rest, err = nextPacket(rest); err != nil {
			return nil, err
		}
		text, _, _ := strings.Cut(p.text, "\x00") // capabilities follow the first
		switch {
		case p.isFlush:
			return out, nil
		case isFirst && text == "version 1", strings.HasSuffix(text, " capabilities^{}"):
			continue
		case strings.HasPrefix(text, "shallow "):
			continue
		}
		if err := note(out, text); err != nil {
			return nil, err
		}
	}
}

// note adds a line "SHA REF" if it is about a branch.
func note(out map[string]string, line string) error {
	commit, ref, ok := strings.Cut(line, " ")
	if !ok || !fullSha.MatchString(commit) {
		return errOther
	}
	ref, _, _ = strings.Cut(ref, " ") // attributes
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		out[branch] = commit
	}
	return nil
}
