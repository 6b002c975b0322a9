package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// data is the repository with the saas files, and the merge requests that change them.
type data struct {
	*gitlabtest.Repository
	t      testing.TB
	logs   promotion.Logs // records of promotions
	since  map[*target]time.Time
	merged map[string]bool // heads of merge requests that are ours and were merged
}

// path returns where a saas file is. Folders keep trees of git small.
func (f *file) path() string {
	return fmt.Sprintf("data/%s/%s.yml", f.name[len(f.name)-2:], f.name)
}

// text writes a saas file as people do.
func (f *file) text() string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"---\n$schema: /app-sre/saas-file-2.yml\n\n# who reads this file: ask the team\nname: %s\nresourceTemplates:\n",
		f.name)
	for j, stage := range f.cells[0].targets {
		production := f.cells[1].targets[j]
		fmt.Fprintf(&b,
			"- name: t-%d\n  url: %s\n  path: /openshift/t-%d.yaml\n  parameters:\n    REPLICAS: 1 # see the dashboard\n  targets:\n", j, f.repo.url, j)
		for _, t := range []*target{stage, production} {
			fmt.Fprintf(&b,
				"  - namespace:\n      $ref: /services/%s/namespaces/%s.yml\n    parameters:\n      VERSION: %d\n    ref: %s\n    promotion:\n", f.name, t.cell.env, t.version, t.ref)
			if t == stage {
				fmt.Fprintf(&b, "      publish:\n      - %s\n", channel(t))
				continue
			}
			fmt.Fprintf(&b, "      auto: true\n      subscribe:\n      - %s\n", channel(t))
			if t.soakDays > 0 {
				fmt.Fprintf(&b, "      soakDays: %d\n", t.soakDays)
			}
			if t.schedule != "" {
				fmt.Fprintf(&b, "      schedule: \"%s\"\n", t.schedule)
			}
		}
	}
	return b.String()
}

// asPeopleWrite returns a text of a file in the style of its people.
func (f *file) asPeopleWrite(text string) string {
	if f.indents {
		return indented(text)
	}
	return text
}

// channel returns the channel of a template.
func channel(t *target) string { return fmt.Sprintf("%s-%d", t.cell.file.name, t.template) }

// find returns the lines of a text that have the version and the ref of a target.
func find(lines []string, t *target) (version, ref int) {
	at := ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch key, value, _ := strings.Cut(line, ": "); {
		case strings.HasPrefix(line, "- name: t-"):
			at = strings.TrimPrefix(line, "- name: ")
		case key == "$ref":
			at, _, _ = strings.Cut(at, "/")
			at += "/" + strings.TrimSuffix(value[strings.LastIndex(value, "/")+1:], ".yml")
		case at != fmt.Sprintf("t-%d/%s", t.template, t.cell.env):
		case key == "VERSION":
			version = i
		case key == "ref":
			ref = i
		}
	}
	return version, ref
}

// set replaces the value of a line.
func set(lines []string, i int, value string) {
	key, _, _ := strings.Cut(lines[i], ": ")
	lines[i] = key + ": " + value
}

// openData makes the repository of the data.
func (w *world) openData(t testing.TB) {
	files := map[string]string{}
	for _, f := range w.files {
		files[f.path()] = f.asPeopleWrite(f.text())
	}
	w.data = &data{Repository: gitlabtest.NewRepository(t, files), t: t, logs: promotion.Logs{},
		since: map[*target]time.Time{}, merged: map[string]bool{}}
	w.Pipelines = true
	if w.size.files < quarter.files {
		w.AskGit = 20
	}
	w.Started = func(commit string) {
		w.in(between(w.luck, 20*time.Minute, time.Hour), func() { w.check(commit, w.luck.Float64() > redCheck) })
	}
	w.Ended = func(m gitlabtest.MergeRequest) { w.in(0, func() { w.mergeRequestEnded(m) }) }
	for _, t := range w.all {
		if t.cell.env == "stage" {
			w.record(t, t.deployed, true)
		}
	}
}

// redCheck is how many pipelines of merge requests fail though nothing is wrong.
const redCheck = 0.05

// check ends the checks of a commit. Somebody looks at red ones and lets them run again.
func (w *world) check(commit string, isGreen bool) {
	w.SetTime(w.now)
	if isGreen {
		w.EndPipeline(commit, "success")
		return
	}
	w.EndPipeline(commit, "failed")
	w.wake()
	w.in(between(w.luck, 2*time.Hour, 6*time.Hour), func() {
		for _, m := range w.OpenMergeRequests() {
			if m.Head == commit {
				w.check(commit, true)
			}
		}
	})
}

// commitByPerson writes what a person changed into the data on main.
func (w *world) commitByPerson(f *file, changed []*target) {
	w.SetTime(w.now)
	text, _ := w.File(gitlabtest.DefaultBranch, f.path())
	lines := strings.Split(text, "\n")
	for _, t := range changed {
		at, _ := find(lines, t)
		set(lines, at, fmt.Sprint(t.version))
	}
	w.commitOnMain(f, f.asPeopleWrite(strings.Join(lines, "\n")))
	w.countConflicts(false)
}

func (w *world) commitOnMain(f *file, text string) {
	_, err := w.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: gitlabtest.DefaultBranch,
		Message: "change " + f.name, Files: map[string]string{f.path(): text}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// record writes the records of a publisher after a run, as a deployment does.
func (w *world) record(t *target, held snapshot, isGood bool) {
	at := promotion.RecordPlace{Channel: channel(t), UID: t.uid}
	log, ok := w.logs[at]
	if !ok {
		log = promotion.Log{Records: map[string]promotion.Record{}}
		w.logs[at] = log
	}
	var old *promotion.Record
	if r, ok := log.Records[held.commit]; ok {
		old = &r
	}
	if old != nil && old.Success && isGood {
		return // it runs already
	}
	name := t.cell.file.name
	w.forgetOld(t, log)
	log.Records[held.commit] = promotion.Result{Success: isGood, Saas: name, Hash: held.config, At: w.now}.Next(old)
}

// forgetOld forgets records of commits that nobody looks at any more. The product reads those of as
// many commits of the branch.
func (w *world) forgetOld(t *target, log promotion.Log) {
	if len(log.Records) < promotion.MaxCommits {
		return
	}
	commits := t.cell.file.repo.commits
	commits = commits[max(0, len(commits)-promotion.MaxCommits):]
	maps.DeleteFunc(log.Records, func(c string, _ promotion.Record) bool { return !slices.Contains(commits, c) })
}

// mergeRequestEnded takes over what a merge request of a promotion changed.
func (w *world) mergeRequestEnded(m gitlabtest.MergeRequest) {
	if m.Merged != "" {
		w.mergeRequests++
		changed := w.Changed(w.Parents(m.Merged)[0], m.Merged)
		for _, f := range w.files {
			if slices.Contains(changed, f.path()) {
				w.takeOver(f)
			}
		}
		w.countConflicts(true)
	}
	w.wake()
}

// takeOver reads the refs of a file from main.
func (w *world) takeOver(f *file) {
	text, _ := w.File(gitlabtest.DefaultBranch, f.path())
	if text == f.seen {
		return
	}
	f.seen = text
	lines := strings.Split(text, "\n")
	c, isNew := f.cells[1], false
	for _, t := range c.targets {
		_, at := find(lines, t)
		ref := strings.Trim(strings.TrimPrefix(strings.TrimSpace(lines[at]), "ref: "), "'") // 1e10 is no text
		if !slices.Contains(f.repo.commits, ref) {
			w.t.Fatalf("%s has the ref %q, which is no commit", t.uid, ref)
		}
		if ref == t.ref {
			continue
		}
		t.ref, isNew = ref, true
		w.promotions++
		if since, ok := w.since[t]; ok {
			w.waits = append(w.waits, w.now.Sub(since))
			delete(w.since, t)
		}
	}
	if isNew {
		c.merges = append(c.merges, &merge{at: w.now})
		w.changed(f, kinds[0])
	}
}
