package jobs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// text returns the config of a text.
func text(kind, name, content string) Config {
	return Config{File: "/" + name + ".yml", Name: name, Type: kind, App: "app-of-" + name, Text: content}
}

// list returns all that is known of jobs, a line for each.
func list(found Jobs) string {
	var out []string
	for name, all := range found.Jobs {
		for _, j := range all {
			out = append(out, fmt.Sprintf("%s %s %s", name, j.URL, j.Branch))
		}
	}
	for _, p := range found.Problems {
		out = append(out, "? "+p.File+" "+p.Message)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// builds is a template that builds a branch of a repository.
const builds = `
- job-template:
    name: '{gh_org}-{gh_repo}-gh-build-{branch}'
    display-name: 'Build of {gh_repo}'
    branch: main
    properties:
    - github:
        url: https://github.com/{gh_org}/{gh_repo}/
    scm:
    - git:
        url: 'https://github.com/{gh_org}/{gh_repo}'
        branches: ['origin/{branch}']
`

// The jobs of definitions.
func TestExpand(t *testing.T) {
	for name, c := range map[string]struct {
		configs []Config
		want    string
	}{
		"nothing": {nil, ""},
		"a template and a project": {[]Config{text("jobs", "p",
			"- project: {name: p, gh_org: acme, gh_repo: shop, jobs: ['{gh_org}-{gh_repo}-gh-build-{branch}']}"),
			text("job-templates", "t", builds)},
			"acme-shop-gh-build-main https://github.com/acme/shop main"},
		"a value of an entry": {[]Config{text("job-templates", "t", builds),
			text("jobs", "p",
				"- project: {name: p, gh_org: acme, gh_repo: shop, branch: x, jobs: [{'{gh_org}-{gh_repo}-gh-build-{branch}': {branch: stable}}]}")},
			"acme-shop-gh-build-stable https://github.com/acme/shop stable"},
		"lists": {[]Config{text("job-templates", "t", builds),
			text("jobs", "p",
				"- project:\n    name: p\n    gh_org: acme\n    gh_repo: [shop, cart: {branch: old}]\n    branch: [main, dev]\n    exclude: [{gh_repo: shop, branch: dev}]\n    jobs: ['{gh_org}-{gh_repo}-gh-build-{branch}']")},
			"acme-cart-gh-build-dev https://github.com/acme/cart dev\nacme-cart-gh-build-main https://github.com/acme/cart main\nacme-shop-gh-build-main https://github.com/acme/shop main"},
		"a group": {[]Config{text("job-templates", "t", builds),
			text("jobs", "p",
				"- job-group: {name: g, branch: '{stem}-1', jobs: ['{gh_org}-{gh_repo}-gh-build-{branch}']}\n- project: {name: p, stem: v, gh_org: acme, gh_repo: shop, jobs: [g]}")},
			"acme-shop-gh-build-v-1 https://github.com/acme/shop v-1"},
		"a group against its project": {[]Config{text("job-templates", "t", builds),
			text("jobs", "p",
				"- job-group: {name: g, branch: a, jobs: ['{gh_org}-{gh_repo}-gh-build-{branch}']}\n- project: {name: p, branch: b, gh_org: acme, gh_repo: shop, jobs: [g]}")},
			`? /p.yml the jobs "{gh_org}-{gh_repo}-gh-build-{branch}" of the project "p" are not all known: {branch} is not known: the project "p" and the group "g" both set it`},
		"defaults": {
			[]Config{text("defaults", "d",
				"- defaults: {name: global, gh_org: acme, scm: [{git: {branches: ['{branch}']}}]}\n- defaults: {name: other, gh_org: other}"),
				text("job-templates", "t",
					"- job-template: {name: '{gh_org}-{name}', branch: main}\n- job-template: {name: 'o-{gh_org}-{name}', defaults: other}"),
				text("jobs", "p", "- project: {name: p, jobs: ['{gh_org}-{name}', 'o-{gh_org}-{name}']}")},
			"acme-p  main\no-other-p  "},
		"a job of its own": {[]Config{text("jobs", "p",
			"- job: {name: x, properties: [{build-discarder: {}}, {github: {url: 'https://github.com/acme/shop.git'}}], scm: [{git: {branches: [main]}}]}\n- project: {name: p, jobs: [x]}")},
			"x https://github.com/acme/shop main"},
		"what is no branch": {[]Config{text("jobs", "p",
			"- job: {name: a, scm: [{git: {branches: ['**']}}]}\n- job: {name: b, scm: [macro]}\n- job: {name: c, scm: [{git: {branches: [a, b]}}]}\n- job: {name: d, scm: [{git: {branches: ['{x}']}}]}")},
			"a  \nb  \nc  \nd  "},
		"definitions as JSON": {
			[]Config{text("job-templates", "t", strings.ReplaceAll(builds, "{gh_repo}-gh", "{app_name}-{n}-gh")),
				{File: "/p.yml", Name: "p", Type: "jobs", App: "a",
					JSON: json.RawMessage(`[{"project":{"name":"p","n":3,"gh_org":"acme","gh_repo":"shop","jobs":[{"{gh_org}-{app_name}-{n}-gh-build-{branch}":{}}]}}]`)}},
			"acme-a-3-gh-build-main https://github.com/acme/shop main"},
		"a name for another text": {
			[]Config{text("base-templates", "b",
				"- .base: &base\n    properties: [{github: {url: 'https://github.com/acme/{name}'}}]"),
				text("job-templates", "t", "- job-template:\n    <<: *base\n    name: '{name}-build'"),
				text("jobs", "p", "- project: {name: p, jobs: ['{name}-build']}")},
			"p-build https://github.com/acme/p "},
		"braces": {
			[]Config{text("jobs", "p", "- job-template: {name: 'a{{{name}}}'}\n- project: {name: p, jobs: ['a{{{name}}}']}")},
			"a{p}  "},
		"an object, a default, truth and numbers": {[]Config{text("jobs", "p",
			"- job-template: {name: '{a|x}-{b}-{c}-{d}', scm: '{obj:s}'}\n- project: {name: p, b: yes, c: 1.5, d: '007', s: [{git: {branches: ['{a|x}']}}], jobs: ['{a|x}-{b}-{c}-{d}']}")},
			"x-True-1.5-007  x"},
		"what makes no jobs": {
			[]Config{text("jobs", "p", "- builder: {name: b}\n- view: {name: v}\n- wrapper: {name: 5}\n- x: 1\n  y: 2\n")}, ""},

		"a tag": {[]Config{text("jobs", "p",
			"- job: {name: !include x.txt}\n- job: {name: y, properties: !include-raw: p.yml}\n- !include: other.yml")},
			"? /p.yml a definition job has no name that can be read\n? /p.yml an entry of its definitions cannot be read\ny  "},
		"a value that nobody sets": {
			[]Config{text("jobs", "p", "- job-template: {name: 'a-{x}'}\n- project: {name: p, jobs: ['a-{x}']}")},
			`? /p.yml the jobs "a-{x}" of the project "p" are not all known: nobody sets {x}`},
		"a number that Python writes otherwise": {
			[]Config{text("jobs", "p", "- job-template: {name: 'a-{x}'}\n- project: {name: p, x: 010, jobs: ['a-{x}']}")},
			`? /p.yml the jobs "a-{x}" of the project "p" are not all known: {x} is not known: the number 010 is written in another way`},
		"no template": {[]Config{text("jobs", "p", "- project: {name: p, jobs: [nosuch]}")},
			`? /p.yml the project "p" names "nosuch", and there is no such template, group or job`},
		"no defaults": {[]Config{text("jobs", "p", "- job: {name: j, defaults: nosuch}")},
			`? /p.yml the defaults "nosuch" of job "j" are not known`},
		"two of one name": {[]Config{text("jobs", "p", "- job: {name: j}\n- job: {name: j, scm: []}")},
			"? /p.yml there are two definitions job \"j\"\nj  "},
		"no YAML": {[]Config{text("job-templates", "t", builds), text("jobs", "p", "- project: {name: p"),
			text("jobs", "q", "- job: {name: j}")},
			"? /p.yml its definitions cannot be read: yaml: line 1: did not find expected ',' or '}'"},
		"no list": {[]Config{text("jobs", "p", "job: {name: j}")},
			"? /p.yml its definitions cannot be read: it is no list of definitions"},
		"no JSON": {[]Config{{File: "/p.yml", Type: "jobs", JSON: json.RawMessage(`{}`)}},
			"? /p.yml its config is no list of definitions"},
		"a circle": {[]Config{text("jobs", "p",
			"- job-template: {name: 'a-{x}'}\n- project: {name: p, x: '{y}', y: '{x}', jobs: ['a-{x}']}")},
			`? /p.yml the jobs "a-{x}" of the project "p" are not all known: values are nested too deeply, or in a circle`},
		"bad braces": {
			[]Config{text("jobs", "p", "- job-template: {name: 'a-{x[0]}'}\n- project: {name: p, x: [1], jobs: ['a-{x[0]}']}")},
			`? /p.yml the jobs "a-{x[0]}" of the project "p" are not all known: "a-{x[0]}": {x[0]} cannot be read`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := list(Expand(c.configs)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Definitions that grow without end are cut, and that is told.
func TestBombs(t *testing.T) {
	many := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	nested := ""
	for i := range 10 {
		nested += fmt.Sprintf("v%d: '%s', ", i, strings.Repeat(fmt.Sprintf("{v%d}", i+1), 50))
	}
	objects := ""
	for i := range 10 {
		objects += fmt.Sprintf("v%d: [%s], ", i, many(50, fmt.Sprintf("'{obj:v%d}'", i+1)))
	}
	anchors := "- a0: &a0 [x]\n"
	for i := range 12 {
		anchors += fmt.Sprintf("- a%d: &a%d [%s]\n", i+1, i+1, many(10, fmt.Sprintf("*a%d", i)))
	}
	for name, content := range map[string]string{
		"lists": fmt.Sprintf("- job-template: {name: '{a}{b}{c}'}\n- project: {name: p, a: [%[1]s], b: [%[1]s], c: [%[1]s], exclude: [{a: x}], jobs: ['{a}{b}{c}']}", many(300, "x")),
		"jobs": fmt.Sprintf(
			"- job-template: {name: '{a}{b}'}\n- project: {name: p, a: [%[1]s], b: [%[1]s], jobs: ['{a}{b}']}", many(300, "x")),
		"texts": "- job-template: {name: '{v0}'}\n- project: {name: p, " + nested + "v10: '', jobs: ['{v0}']}",
		"objects": "- job-template: {name: 'x', scm: '{obj:v0}'}\n- project: {name: p, " + objects + "v10: '', jobs: [" +
			many(30, "x") + "]}",
		"anchors": anchors,
		"depth":   "- job: {name: j, scm: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}",
		"length":  strings.Repeat("#", maxText+1),
	} {
		found := Expand([]Config{text("jobs", "p", content)})
		// these are not known in places that make no jobs
		if len(found.Problems) == 0 && name != "objects" && name != "depth" {
			t.Errorf("%s: nothing is told, and there are %d jobs", name, len(found.Jobs))
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add(builds+
		"- project: {name: p, gh_org: acme, gh_repo: [a, {b: {c: d}}], jobs: ['{gh_org}-{gh_repo}-gh-build-{branch}']}",
		`[{"project":{"name":"p"}}]`)
	f.Add("- job-group: {name: g, jobs: [x]}\n- &a job: {<<: *a}", "[]")
	f.Fuzz(func(t *testing.T, content, config string) {
		first := list(Expand([]Config{text("jobs", "p", content),
			{File: "/q.yml", Type: "jobs", JSON: json.RawMessage(config)}}))
		if again := list(Expand([]Config{text("jobs", "p", content),
			{File: "/q.yml", Type: "jobs", JSON: json.RawMessage(config)}})); again != first {
			t.Errorf("got %s and then %s", first, again)
		}
	})
}
