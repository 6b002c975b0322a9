package jobs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Config is a datafile with definitions of jobs: as JSON, or as the text of a resource.
type Config struct {
	File, Name, App string
	Type            string          // such as jobs or job-templates
	JSON            json.RawMessage // nil if there is a text
	Text            string
}

// Jobs are the jobs of one build server.
type Jobs struct {
	Jobs map[string][]Job // by name
	// Problems say what cannot be known. With any of them there may be more jobs.
	Problems []Problem
}

// A Job is a job. What is not known of it is "".
type Job struct{ URL, Branch string }

// Builds reports whether a job is known to build a branch of a repository.
func (j Job) Builds(repository, branch string) bool {
	return j.URL != "" && strings.EqualFold(j.URL, plainURL(repository)) && j.Branch == branch && branch != ""
}

// A Problem is what cannot be known because of a datafile.
type Problem struct{ File, Message string }

// The bounds of an expansion.
const (
	maxJobs     = 50_000
	maxProblems = 20
	maxText     = 8 << 20 // bytes of all definitions
)

// order is the order of the types in which qontract-reconcile joins definitions, so that a name
// that stands for another text is defined before it is used.
var order = []string{"defaults", "global-defaults", "views", "secrets", "base-templates", "global-base-templates",
	"job-templates", "jobs"}

// Expand returns the jobs that the definitions of one build server make.
func Expand(configs []Config) Jobs {
	configs = slices.Clone(configs)
	rank := func(c Config) int {
		if i := slices.Index(order, c.Type); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(configs, func(a, b Config) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File))
	})
	e := &expansion{out: Jobs{Jobs: map[string][]Job{}}, named: map[string]map[string]item{}, left: maxParts}
	for _, it := range e.read(configs) {
		e.add(it)
	}
	for _, name := range sortedKeys(e.named["job"]) {
		e.addJob(e.named["job"][name])
	}
	for _, p := range e.projects {
		e.expandProject(p)
	}
	return e.out
}

// An expansion collects definitions and makes jobs of them.
type expansion struct {
	named    map[string]map[string]item // by kind and name
	projects []item
	made     int
	left     int  // steps that may still be made
	isFull   bool // jobs are left out
	out      Jobs
}

// An item is a definition.
type item struct {
	file, kind, name string
	fields           map[string]any
}

// fail notes a problem.
func (e *expansion) fail(file, format string, of ...any) {
	p := Problem{file, fmt.Sprintf(format, of...)}
	if len(e.out.Problems) < maxProblems && !slices.Contains(e.out.Problems, p) {
		e.out.Problems = append(e.out.Problems, p)
	}
}

// add notes a definition.
func (e *expansion) add(it item) {
	switch it.kind {
	case "project":
		e.projects = append(e.projects, it)
	case "job", "job-template", "job-group", "defaults":
		if _, isThere := e.named[it.kind][it.name]; isThere {
			e.fail(it.file, "there are two definitions %s %.100q", it.kind, it.name)
		}
		if e.named[it.kind] == nil {
			e.named[it.kind] = map[string]item{}
		}
		e.named[it.kind][it.name] = it
	}
}

// addJob adds a job that is defined without a template. Its texts are taken as they are.
func (e *expansion) addJob(it item) {
	all, ok := e.withDefaults(it, it.fields["defaults"])
	if !ok {
		return
	}
	if strings.ContainsAny(it.name, "{}") {
		e.fail(it.file, "the name of the job %.100q has braces", it.name)
		return
	}
	e.make(it.name, Job{URL: repository(all["properties"]), Branch: branch(all["scm"])})
}

// make adds a job.
func (e *expansion) make(name string, j Job) {
	if e.made++; e.made > maxJobs {
		e.isFull = true
		return
	}
	if !slices.Contains(e.out.Jobs[name], j) {
		e.out.Jobs[name] = append(e.out.Jobs[name], j)
	}
}

// withDefaults returns the fields of a definition on top of those of its defaults.
func (e *expansion) withDefaults(it item, which any) (map[string]any, bool) {
	name, isText := which.(string)
	if which == nil {
		name, isText = "global", true
	}
	defaults, isThere := e.named["defaults"][name]
	if !isText || !isThere && name != "global" {
		e.fail(it.file, "the defaults %v of %s %.100q are not known", shown(which), it.kind, it.name)
		return nil, false
	}
	return merged(defaults.fields, it.fields), true
}

// expandProject makes the jobs of a project.
func (e *expansion) expandProject(p item) {
	list, isList := p.fields["jobs"].([]any)
	if !isList && p.fields["jobs"] != nil {
		e.fail(p.file, "the jobs of the project %.100q are no list", p.name)
	}
	for _, entry := range list {
		name, values, ok := nameAndValues(entry)
		if !ok {
			e.fail(p.file, "an entry of the jobs of the project %.100q cannot be read", p.name)
			continue
		}
		if _, isJob := e.named["job"][name]; isJob {
			continue // it is made anyway
		}
		own := merged(p.fields, values)
		if group, isGroup := e.named["job-group"][name]; isGroup {
			e.expandGroup(p, group, own)
			continue
		}
		e.expandTemplate(p, name, own)
	}
}

// expandGroup makes the jobs of a group for a project. Versions of jenkins-job-builder differ in
// whose value wins where both set one, so it is not known.
func (e *expansion) expandGroup(p, group item, own map[string]any) {
	list, isList := group.fields["jobs"].([]any)
	if !isList {
		e.fail(group.file, "the group %.100q has no list of jobs", group.name)
	}
	for _, entry := range list {
		name, values, ok := nameAndValues(entry)
		if !ok {
			e.fail(group.file, "an entry of the jobs of the group %.100q cannot be read", group.name)
			continue
		}
		if _, isJob := e.named["job"][name]; isJob {
			continue
		}
		all := merged(own, nil)
		for key, v := range merged(group.fields, values) {
			if was, isThere := own[key]; isThere && key != "name" && key != "jobs" && !isSame(was, v) {
				v = unknown(fmt.Sprintf("the project %.60q and the group %.60q both set it", p.name, group.name))
			}
			if key != "name" {
				all[key] = v
			}
		}
		e.expandTemplate(p, name, all)
	}
}

// expandTemplate makes the jobs of a template for a project.
func (e *expansion) expandTemplate(p item, name string, own map[string]any) {
	template, isThere := e.named["job-template"][name]
	if !isThere {
		e.fail(p.file, "the project %.100q names %.100q, and there is no such template, group or job", p.name, name)
		return
	}
	fields, ok := e.withDefaults(template, template.fields["defaults"])
	if !ok {
		return
	}
	if own["defaults"] != nil {
		e.fail(p.file, "the project %.100q chooses defaults of its own", p.name)
		return
	}
	excluded, ok := own["exclude"].([]any)
	if !ok && own["exclude"] != nil {
		e.fail(p.file, "what the project %.100q excludes cannot be read", p.name)
	}
	values := merged(fields, own)
	err := combinations(name, values, &e.left, func(with map[string]any) error {
		for _, x := range excluded {
			if isExcluded(with, x) {
				return nil
			}
		}
		f := formatter{values: with, left: &e.left}
		job, err := f.text(name)
		if err != nil {
			return err
		}
		e.make(job, Job{URL: repository(f.known(fields["properties"])), Branch: branch(f.known(fields["scm"]))})
		if e.isFull {
			return fmt.Errorf("there are more than %d jobs", maxJobs)
		}
		return nil
	})
	if err != nil {
		e.fail(p.file, "the jobs %.100q of the project %.100q are not all known: %v", name, p.name, err)
	}
}
