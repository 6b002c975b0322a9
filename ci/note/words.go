package note

import (
	"fmt"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// actions says what the author must do, one line each, and what became better.
func (s sorted) actions(rep *report.Report, before *run) []string {
	var out []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, "- "+fmt.Sprintf(format, args...))
		}
	}
	if rep.Verdict == report.Passed {
		add(1, "**Nothing to do.**")
	}
	if rep.Verdict == report.NotChecked {
		add(1, "**Nothing was checked**, so this does not pass: %s.", md.Escape(rep.NotChecked))
	}
	fresh := len(s.fresh) - s.freshTransient
	look := len(s.fresh) + len(s.still) - s.transient
	news := "."
	if s.compared {
		news = fmt.Sprintf(": %s since %s.", phrases(", ", amount(fresh, "new"), amount(look-fresh, "still failing")), before.called())
	}
	add(look, "**Look at %s** below%s", number(look, "failure"), news)
	add(s.transient, "**Try %s again**: %s.", number(s.transient, "task"), plural(s.transient, "it looks", "they look")+" like passing trouble")
	add(len(s.unjudged), "**%s gave no answer**; why stands below.", number(len(s.unjudged), "task"))
	add(len(s.unchecked), "**Not checked:** %s, since %s; try again when %s back.", number(len(s.unchecked), "task"),
		plural(targets(s.unchecked), "a target is unavailable", "targets are unavailable"), plural(targets(s.unchecked), "it is", "they are"))
	add(len(s.baseline), "**Not your change:** %s failed on base already.", number(len(s.baseline), "task"))
	if s.compared {
		add(len(s.fixed), "✅ %s fixed since %s.", number(len(s.fixed), "failure"), before.called())
		add(s.vanished, "%s of %s not planned any more.", number(s.vanished, "failure"), before.called())
	}
	add(len(rep.Warnings), "⚠️ %s below.", number(len(rep.Warnings), "warning"))
	return out
}

// targets counts the targets that tasks were not run for.
func targets(tasks []report.Task) int {
	names := map[string]bool{}
	for _, t := range tasks {
		names[t.Unavailable] = true
	}
	return len(names)
}

// plural returns one or many.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// called returns how a note speaks of the run before.
func (r *run) called() string {
	if r.Commit == "" {
		return "the run before"
	}
	return md.Code(r.Commit)
}

// said returns what a task said in a few words: "failed: exit code 3".
func said(t report.Task) string {
	text := strings.ReplaceAll(string(t.Status), "_", " ")
	switch {
	case t.Reason == "" || t.Reason == text:
		return text
	case strings.HasPrefix(t.Reason, text):
		return t.Reason
	}
	return text + ": " + t.Reason
}

// tail returns the last lines of an output, each bounded.
func tail(text string, most int) []string {
	text = text[max(0, len(text)-maxOutput):]
	text = strings.TrimSpace(sanitize.Text(text))
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if runes := []rune(line); len(runes) > maxWidth {
			line = string(runes[:maxWidth]) + "…"
		}
		lines[i] = line
	}
	return lines
}

// maxWord bounds the last line of a task in a table, in characters.
const maxWord = 100

// lastLine returns the last line of a task's output: most say there what is
// wrong, or what they would change.
func lastLine(text string) string {
	lines := tail(text[max(0, len(text)-maxOutput/4):], 1)
	if len(lines) == 0 {
		return ""
	}
	last := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if len(last) > maxWord {
		return string(last[:maxWord]) + "…"
	}
	return string(last)
}

// The bounds of what is shown of a decision's evidence.
const (
	maxPlaces = 3 // files
	maxFields = 3 // of each
)

// places returns which changes made a task run: files, and the fields in them.
func (n Note) places(d plan.Decision) string {
	var files []string
	fields := map[string][]string{}
	add := func(file string, more ...string) {
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		for _, field := range more {
			if !slices.Contains(fields[file], field) {
				fields[file] = append(fields[file], field)
			}
		}
	}
	for _, q := range d.Evidence.Queries {
		for _, at := range q.Fields {
			file, field, _ := strings.Cut(at, "#")
			add(file, field)
		}
	}
	for _, file := range d.Evidence.Paths {
		if len(fields) == 0 || !slices.Contains(files, file) {
			add(file, n.fields(file)...)
		}
	}
	if len(d.Evidence.Fields) > 0 {
		for _, file := range d.Evidence.Definition {
			add(file, d.Evidence.Fields...)
		}
	}
	var out []string
	for _, file := range files[:min(len(files), maxPlaces)] {
		out = append(out, name(file)+some(fields[file], " at ", maxFields))
	}
	if more := len(files) - maxPlaces; more > 0 {
		out = append(out, fmt.Sprintf("and %s", number(more, "more file")))
	}
	return strings.Join(out, ", ")
}

// some shows at most so many values after a word.
func some(values []string, word string, most int) string {
	var out []string
	for _, value := range values {
		if text := md.Code(value); text != "" {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	if more := len(out) - most; more > 0 {
		return word + strings.Join(out[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return word + strings.Join(out, ", ")
}

// fields returns the changed fields of a datafile.
func (n Note) fields(path string) []string {
	for _, file := range n.Plan.Changes.Datafiles {
		if file.Path == path {
			return file.Fields
		}
	}
	return nil
}
