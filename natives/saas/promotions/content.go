package promotions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/saas/edit"
)

// contentDigest returns what identifies the content of a merge request: what it does to which
// targets, whatever else the files have.
func contentDigest(entries []entry) string {
	raw, err := json.Marshal(entries)
	if err != nil {
		return "" // entries are texts
	}
	return shortDigest(string(raw))
}

func shortDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// A block is what the description of a merge request and the message of its commit say to
// programs.
type block struct {
	Version int     `json:"version"`
	Content string  `json:"content"`
	Entries []entry `json:"promotions"`
}

// What stands around a block. Both lines are part of the contract with earlier merge requests.
const (
	blockBegin = "```json saas-promotion\n"
	blockEnd   = "\n```"
)

// maxBlock is the size of the largest block that is read, in bytes.
const maxBlock = 1 << 20

// blockOf returns the block for entries, as text.
func blockOf(entries []entry) string {
	raw, err := json.MarshalIndent(block{1, contentDigest(entries), entries}, "", " ")
	if err != nil {
		return ""
	}
	return blockBegin + escaped(string(raw)) + blockEnd
}

// escaped returns JSON in which characters that reorder text are escaped.
func escaped(raw string) string {
	var out strings.Builder
	for _, c := range raw {
		if one := string(c); c > 0x7f && c <= 0xffff && sanitize.Text(one) != one {
			fmt.Fprintf(&out, `\u%04x`, c)
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

// readBlock returns the block of a text. It is not there if its content is not what it says.
func readBlock(text string) (block, bool) {
	var b block
	text = strings.ReplaceAll(text, "\r\n", "\n")
	_, rest, ok := strings.Cut(text, blockBegin)
	raw, _, closed := strings.Cut(rest, blockEnd)
	if !ok || !closed || len(raw) > maxBlock || json.Unmarshal([]byte(raw), &b) != nil || b.Version != 1 {
		return block{}, false
	}
	return b, b.Content == contentDigest(b.Entries) && b.Content != ""
}

// maxTitle is the length of the longest title, in runes. GitLab takes 255.
const maxTitle = 200

// describe returns the title and the description of a merge request.
func (k *keeper) describe(entries []entry) services.MergeText {
	files := map[string]bool{}
	var lines []string
	for _, e := range entries {
		files[e.File] = true
		line := fmt.Sprintf("- %s: %s", code(e.label), code(e.Ref))
		if e.was != "" && e.was != e.Ref {
			line = fmt.Sprintf("- %s: from %s to %s", code(e.label), code(e.was), code(e.Ref))
		}
		if e.why != "" {
			line += ": " + sanitize.Line(e.why)
		}
		lines = append(lines, line)
		if k.background != nil {
			for _, more := range k.background(e) {
				lines = append(lines, "  - "+more)
			}
		}
	}
	first := entries[0].File
	title := fmt.Sprintf("Promote %d targets in %s", len(entries), first)
	if len(entries) == 1 {
		title = fmt.Sprintf("Promote %s to %.12s", entries[0].label, entries[0].Ref)
	}
	if n := len(files) - 1; n > 0 {
		title += fmt.Sprintf(" and %d more files", n)
	}
	intro := "These targets can be promoted: all publishers of their channels ran the commits with success, and for long " +
		"enough."
	if slices.ContainsFunc(entries, func(e entry) bool { return e.why != "" }) {
		intro = "These targets can be promoted. Where nothing else is said, all publishers of their channels ran the commits " +
			"with success, and for long enough."
	}
	text := intro + "\n\n" +
		strings.Join(lines, "\n") + "\n\nThis merge request is kept up to date, and closed when it is not needed any more. " +
		"A commit of somebody else on its branch stops that. Closing it rejects each commit at its target, until somebody takes " +
		"that back.\n\n" + blockOf(entries) +
		"\n"
	title = sanitize.Line(title)
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle-1]) + "…"
	}
	return services.MergeText{Branch: k.branch, Target: k.settings.Branch, Title: title, Description: text,
		Labels: k.settings.Labels}
}

// code returns a text in the way of code in Markdown.
func code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// A rendering is the files of a merge request.
type rendering struct {
	entries []entry // that change something
	changes []services.FileChange
	before  [][]byte // the files of the changes as they are
	dropped []error  // entries that cannot be made
	moved   []string
	content string // digest of the entries
	digest  string // of the files
}

// render makes the changes of entries on the head of main. All changes of a file are made on one
// version of it. What cannot be made is left out.
func (k *keeper) render(ctx context.Context, entries []entry) (rendering, error) {
	var out rendering
	var files []string
	for _, e := range entries {
		if !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	slices.Sort(files)
	for _, file := range files {
		is, err := k.forge.File(ctx, k.settings.Branch, file)
		if errors.Is(err, services.ErrNotThere) {
			out.dropped = append(out.dropped, fmt.Errorf("%s is not there on %s, so its targets are not promoted", file,
				k.settings.Branch))
			continue
		}
		if err != nil {
			return out, err
		}
		content := edit.File{Text: is.Content}
		for _, e := range entries {
			if e.File != file {
				continue
			}
			before := content.Text
			err := content.Apply(e.change())
			var refused *edit.Refusal
			switch {
			case errors.As(err, &refused) && refused.Moved:
				out.moved = append(out.moved, fmt.Sprintf("%s: %s; it waits for the data", e.label, refused.Reason))
			case err != nil:
				out.dropped = append(out.dropped, fmt.Errorf("%s in %s: %w", e.label, file, err))
			case string(before) != string(content.Text):
				out.entries = append(out.entries, e)
			}
		}
		if string(content.Text) != string(is.Content) {
			out.changes = append(out.changes, services.FileChange{Path: file, Content: content.Text, Version: is.Version})
			out.before = append(out.before, is.Content)
		}
	}
	out.content = contentDigest(out.entries)
	out.digest = filesDigest(out.changes)
	return out, nil
}

// filesDigest returns what identifies the files of a commit, in the order of their paths.
func filesDigest(changes []services.FileChange) string {
	var all strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&all, "%d:%s%d:%s", len(c.Path), c.Path, len(c.Content), c.Content)
	}
	return shortDigest(all.String())
}

// isOurs reports whether the head of the branch is a commit of ours, and if so, the digest of its
// files. It is if it is the one that was pushed last, or if it is the only commit that main does
// not have and changes exactly what its message says: a forge may have put it on a newer main.
func (k *keeper) isOurs(ctx context.Context) (digest string, ours bool, err error) {
	if k.head == k.memory.Pushed && k.head != "" {
		return k.memory.Rendered, true, nil
	}
	ahead, err := k.forge.Ahead(ctx, k.settings.Branch, k.head)
	if err != nil {
		return "", false, err
	}
	switch {
	case len(ahead.Commits) == 0:
		return "", true, nil // main has everything
	case len(ahead.Commits) > 1 || len(ahead.Commits[0].Parents) != 1:
		return "", false, nil
	}
	b, ok := readBlock(ahead.Commits[0].Message)
	if !ok {
		return "", false, nil
	}
	var changes []services.FileChange
	for _, path := range ahead.Paths {
		was, err := k.forge.File(ctx, ahead.Commits[0].Parents[0], path)
		if errors.Is(err, services.ErrNotThere) {
			return "", false, nil
		}
		is, errIs := k.forge.File(ctx, k.head, path)
		if errors.Is(errIs, services.ErrNotThere) {
			return "", false, nil
		}
		if err := errors.Join(err, errIs); err != nil {
			return "", false, err
		}
		want := was.Content
		for _, e := range b.Entries {
			if e.File == path {
				if want, err = edit.Apply(want, e.change()); err != nil {
					return "", false, nil //nolint:nilerr // so the commit is not what its message says
				}
			}
		}
		if string(want) != string(is.Content) {
			return "", false, nil
		}
		changes = append(changes, services.FileChange{Path: path, Content: is.Content})
	}
	return filesDigest(changes), true, nil
}
