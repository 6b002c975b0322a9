package planner_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/trace"
)

// numbered are settings that hand over image and numbers; more are those of "it".
func numbered(more string) string {
	return `version: 1
exec: {argv: [run, "img:{image_ref}", "{cmd}", "{shard_args}"], image_ref: usual, env: {SHARDS: "{shards}", SHARD_ID: "{shard_id}"}}
integrations: {it: {` + more + "}}\n"
}

const asDeployed = "shards: {strategy: managed}"

// clusters makes two clusters and an element of managed for them, with overrides.
func clusters(overrides ...object) func(*side) {
	return func(s *side) {
		for _, name := range []string{"one", "two"} {
			s.data["/c/"+name+".yml"] = object{"$schema": "/openshift/cluster-1.yml", "name": name}
		}
		element(s, object{"strategy": "per-openshift-cluster", "shardSpecOverrides": overrides})
	}
}

// element adds an element of managed.
func element(s *side, sharding any) {
	managed, _ := s.at("/it.yml")["managed"].(list)
	s.at("/it.yml")["managed"] = append(managed, object{"sharding": sharding})
}

func override(shard string, more object) object {
	o := object{"shard": object{"$ref": "/c/" + shard + ".yml"}}
	for k, v := range more {
		o[k] = v
	}
	return o
}

func subshards(n any) object { return object{"subSharding": object{"strategy": "static", "shards": n}} }

func numbers(n any) func(*side) {
	return func(s *side) { element(s, object{"strategy": "static", "shards": n}) }
}

// A full run is divided as the definition deploys the integration.
func TestDivision(t *testing.T) {
	img := func(tag string) object { return object{"imageRef": tag} }
	tests := []struct {
		name, settings string
		base, head     []func(*side)
		want           string // tasks: id and command
		reason         string
	}{
		{"by cluster", numbered(asDeployed), []func(*side){clusters()}, nil,
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:usual it --cluster-name two",
			"fanned out over its 2 shards"},
		{"an image of its own", numbered(asDeployed), []func(*side){clusters(override("two", img("img2")))}, nil,
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:img2 it --cluster-name two",
			"fanned out over its 2 shards"},
		{"before that of pr_check", numbered(asDeployed), []func(*side){clusters(override("two", img("img2"))),
			func(s *side) { s.check()["imageRef"] = "other" }}, nil,
			"it-wrapper/one: run img:other it --cluster-name one; it-wrapper/two: run img:img2 it --cluster-name two", ""},
		{"no tag", numbered(asDeployed), []func(*side){clusters(override("two", img("a/b:c")))}, nil,
			`it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: blocked: the imageRef "a/b:c" of its shard in managed is not the tag of an image`, ""},
		{"head's image does not count", numbered(asDeployed), []func(*side){clusters(override("two", img("img2")))},
			[]func(*side){clusters(override("two", img("evil")), override("one", img("evil")))},
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:img2 it --cluster-name two",
			"its own definition changed (managed)"},
		{"head's object does not take an image from another", numbered(asDeployed),
			[]func(*side){clusters(override("two", img("img2")))},
			[]func(*side){clusters(override("two", img("img2"))), func(s *side) {
				s.data["/c/two.yml"] = object{"$schema": "/openshift/cluster-1.yml", "name": "one"}
			}},
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:img2 it --cluster-name two", ""},
		{"head's new name has the image of its object", numbered(asDeployed),
			[]func(*side){clusters(override("two", img("img2")))},
			[]func(*side){clusters(override("two", img("img2"))), func(s *side) { s.at("/c/two.yml")["name"] = "new" }},
			"it-wrapper/new: run img:img2 it --cluster-name new; it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:img2 it --cluster-name two", ""},
		{"disabled there, still checked", numbered(asDeployed),
			[]func(*side){clusters(override("two", object{"disabled": true}))}, nil,
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:usual it --cluster-name two", ""},
		{"disabled for the integration on both sides", numbered(asDeployed), []func(*side){clusters(), disable("two")},
			[]func(*side){clusters(), disable("two")},
			"it-wrapper/one: run img:usual it --cluster-name one", "fanned out over its 1 shards"},
		{"disabled for the integration on head", numbered(asDeployed), []func(*side){clusters()},
			[]func(*side){clusters(), disable("two")},
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:usual it --cluster-name two",
			"fanned out over its 2 shards"},
		{"two images", numbered(asDeployed), []func(*side){clusters(override("two", img("a"))),
			clusters(override("two", img("b")))}, nil,
			"it: run img:usual it", `not fanned out: its definition gives its shard "two" the image "a", and "b"`},
		{"an image in one of two places", numbered(asDeployed),
			[]func(*side){clusters(), clusters(override("two", img("b")))}, nil,
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:b it --cluster-name two", ""},

		{"divided further", numbered(asDeployed), []func(*side){clusters(override("two", subshards(2)))}, nil,
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two{1/2}: run img:usual it --cluster-name two; it-wrapper/two{2/2}: run img:usual it --cluster-name two",
			"fanned out over its 2 shards, in 3 tasks"},
		{"numbers go nowhere", perCluster, []func(*side){clusters(override("two", subshards(2)))}, nil,
			"it-wrapper/one: run it --cluster-name one; it-wrapper/two: run it --cluster-name two",
			"fanned out over its 2 shards; its static shards stay together, since exec does not hand over both {shards} and {shard_id}"},
		{"one of the numbers goes nowhere", strings.Replace(numbered(asDeployed), `SHARDS: "{shards}", `, "", 1),
			[]func(*side){numbers(2)}, nil,
			"it: run img:usual it", "its static shards stay together"},
		{"numbers of another word are none", strings.Replace(numbered(asDeployed), `{shards}`, "{lbrace}shards}", 1),
			[]func(*side){numbers(2)}, nil,
			"it: run img:usual it", "its static shards stay together"},
		{"two numbers", numbered(asDeployed), []func(*side){clusters(override("two", subshards(2))),
			clusters(override("two", subshards(3)))}, nil,
			"it: run img:usual it", `not fanned out: its definition gives its shard "two" 2 static shards, and 3`},
		{"too many", numbered(asDeployed),
			[]func(*side){clusters(override("one", subshards(250)), override("two", subshards(251)))}, nil,
			"it: run img:usual it", "not fanned out: that would be 501 tasks, more than 500"},
		{"no number", numbered(asDeployed), []func(*side){clusters(override("two", subshards("many")))}, nil,
			"it: run img:usual it", "not fanned out: it: two: the number of shards must be from 1 to 1000"},

		{"static", strings.Replace(numbered(asDeployed), "argv: [run", "argv: [run, '{shard_id}-of-{shards}'", 1),
			[]func(*side){numbers(2)}, nil,
			"it-wrapper/{1/2}: run 0-of-2 img:usual it; it-wrapper/{2/2}: run 1-of-2 img:usual it",
			"fanned out over its 2 static shards"},
		{"static, as base has it", numbered(asDeployed), []func(*side){numbers(2)}, []func(*side){numbers(3)},
			"it-wrapper/{1/2}: run img:usual it; it-wrapper/{2/2}: run img:usual it", "fanned out over its 2 static shards"},
		{"static, and only one", numbered(asDeployed), []func(*side){numbers(1)}, nil, "it: run img:usual it",
			"no queries to look closer"},
		{"static, by the settings", numbered("shards: {strategy: static}"), []func(*side){numbers(2), clusters()}, nil,
			"it-wrapper/{1/2}: run img:usual it; it-wrapper/{2/2}: run img:usual it", "fanned out over its 2 static shards"},
		{"static, by the settings alone", numbered("shards: {strategy: static}"), []func(*side){clusters()}, nil,
			"it: run img:usual it", "not fanned out: its definition has no static shards"},
		{"static, twice", numbered(asDeployed), []func(*side){numbers(2), numbers(3)}, nil, "it: run img:usual it",
			"not fanned out: its definition gives it 2 static shards, and 3"},
		{"static, too many", numbered(asDeployed), []func(*side){numbers(501)}, nil, "it: run img:usual it",
			"not fanned out: that would be 501 tasks, more than 500"},
		{"static, far too many", numbered(asDeployed), []func(*side){numbers(1_000_000_000)}, nil, "it: run img:usual it",
			"not fanned out: the number of shards must be from 1 to 1000"},

		{"the settings name another strategy", numbered("shards: {strategy: per-aws-account}"),
			[]func(*side){accounts, clusters(override("one", img("img2")))}, nil,
			"it-wrapper/one: run img:usual it --account-name one; it-wrapper/two: run img:usual it --account-name two",
			"fanned out over its 2 shards"},
		{"the settings name the same strategy", numbered("shards: {strategy: per-openshift-cluster}"),
			[]func(*side){numbers(3), clusters(override("one", img("img2")))}, nil,
			"it-wrapper/one: run img:img2 it --cluster-name one; it-wrapper/two: run img:usual it --cluster-name two",
			"fanned out over its 2 shards"},
		{"no shards", numbered("shards: {strategy: per-ocm-organization}"), []func(*side){clusters()}, nil,
			"it: run img:usual it", "not fanned out: it has no shards"},
		{"only head defines it", numbered("shards: {strategy: per-openshift-cluster}") + "trust: {new_integrations: true}\n",
			[]func(*side){clusters(), func(s *side) { delete(s.data, "/it.yml") }},
			[]func(*side){
				clusters(override("one", object{"imageRef": "evil", "subSharding": object{"strategy": "static", "shards": 2}}))},
			"it-wrapper/one: run img:usual it --cluster-name one; it-wrapper/two: run img:usual it --cluster-name two",
			"it is new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			for _, change := range tt.base {
				change(base)
			}
			if tt.head == nil {
				tt.head = tt.base
			}
			for _, change := range tt.head {
				change(head)
			}
			rename(nil, head)
			in := input(t, base, head, tt.settings)
			p := made(t, in)
			var got []string
			for _, task := range p.Tasks {
				command := strings.Join(task.Argv, " ")
				if task.Blocked != "" {
					command = "blocked: " + task.Blocked
				}
				got = append(got, task.ID+": "+command)
			}
			if got := strings.Join(got, "; "); got != tt.want || !strings.Contains(p.Integrations[0].Reason, tt.reason) {
				t.Errorf("got  %s\n     %s\nwant %s\n     %s", got, p.Integrations[0].Reason, tt.want, tt.reason)
			}
			laws(t, in, p)
			differ(t, p)
		})
	}
}

const perCluster = exec + "integrations: {it: {shards: {strategy: per-openshift-cluster}}}\n"

func disable(shard string) func(*side) {
	return func(s *side) { s.at("/c/" + shard + ".yml")["disable"] = object{"integrations": list{"it"}} }
}

// differ holds that no task speaks for another one: neither what it is started as
// nor what it does is the same.
func differ(t *testing.T, p *plan.Plan) {
	t.Helper()
	for _, digest := range []func(plan.Task) string{
		func(t plan.Task) string { return t.Inputs },
		func(t plan.Task) string { return t.Command + t.Shard },
	} {
		seen := map[string]string{}
		for _, task := range p.Tasks {
			if other, twice := seen[digest(task)]; twice {
				t.Errorf("%s and %s have the same digest", other, task.ID)
			}
			seen[digest(task)] = task.ID
		}
	}
}

// An image or a number that changes makes another command, and other inputs.
func TestDivisionCounts(t *testing.T) {
	first := func(managed ...func(*side)) plan.Task {
		base, head := world(), world()
		for _, change := range managed {
			change(base)
			change(head)
		}
		rename(nil, head)
		return made(t, input(t, base, head, numbered(asDeployed))).Tasks[0]
	}
	plain := first(clusters())
	for name, other := range map[string]plan.Task{
		"image":  first(clusters(override("one", object{"imageRef": "x"}))),
		"number": first(clusters(override("one", subshards(2)))),
		"others": first(clusters(override("one", subshards(3)))),
	} {
		if other.Command == plain.Command || other.Inputs == plain.Inputs {
			t.Errorf("%s does not count", name)
		}
	}
}

// Whatever the objects, the overrides and the settings: the parts are the whole of
// both sides, each once, and whatever is lost of them is a gap.
func TestDivisionIsTheWhole(t *testing.T) {
	settings := []string{numbered(asDeployed), numbered("shards: {strategy: per-openshift-cluster}"), perCluster}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		base, head := world(), world()
		want := map[string]bool{}
		for _, s := range []*side{base, head} {
			for i := range r.IntN(6) {
				name := fmt.Sprint("c", r.IntN(8))
				o := object{"$schema": "/openshift/cluster-1.yml", "name": name}
				if off := r.IntN(5) == 0; off {
					o["disable"] = object{"integrations": list{"it", "that"}}
				} else {
					want[name] = true
				}
				s.data[fmt.Sprintf("/c/%d.yml", i)] = o
			}
		}
		for range 1 + r.IntN(2) {
			var overrides []object
			for range r.IntN(4) {
				more := object{"disabled": r.IntN(2) == 0}
				if r.IntN(2) == 0 {
					more["imageRef"] = fmt.Sprint("i", r.IntN(2))
				}
				if r.IntN(3) > 0 {
					more["subSharding"] = object{"strategy": "static", "shards": min(r.IntN(20), 2)} // zero is a mistake
				}
				overrides = append(overrides, override(fmt.Sprint(r.IntN(7)), more))
			}
			rule := object{"strategy": "per-openshift-cluster", "shardSpecOverrides": overrides}
			element(base, rule)
			if r.IntN(4) > 0 {
				element(head, rule)
			}
		}
		rename(nil, head)
		in := input(t, base, head, settings[r.IntN(len(settings))])
		p := made(t, in)
		everything(t, p, want)
		laws(t, in, p)
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, p.Integrations[0].Reason)
		}
	}
}

// everything holds that the tasks of a plan are everything, once: all of it, or every
// shard, or all numbers of it.
func everything(t *testing.T, p *plan.Plan, want map[string]bool) {
	t.Helper()
	have := map[string]float64{}
	for _, task := range p.Tasks {
		shards, _ := task.Static.Numbers()
		have[task.Shard] += 1 / float64(shards)
	}
	if have[""] == 1 && len(have) == 1 {
		return
	}
	if len(have) != len(want) {
		t.Errorf("got %v, want %v", have, want)
	}
	for key, sum := range have {
		if !want[key] || sum < 0.999 || sum > 1.001 {
			t.Errorf("shard %q is there %v times, wanted %v", key, sum, want[key])
		}
	}
}

// A plan that lost or changed a static shard does not verify.
func TestVerifyStatic(t *testing.T) {
	base, head := world(), world()
	both(clusters(override("two", subshards(3))), rename)(base, head)
	in := input(t, base, head, numbered(asDeployed))
	p := made(t, in)
	for name, change := range map[string]func(*plan.Task){
		"of another number": func(task *plan.Task) { task.Static.Of = 4 },
		"twice":             func(task *plan.Task) { task.Static.Part = 1 },
		"of another shard":  func(task *plan.Task) { task.Shard = "one" },
		"of no shard":       func(task *plan.Task) { task.Shard = "" },
	} {
		bad := clone(p)
		change(&bad.Tasks[2]) // two{2/3}
		if gaps := verify(t, in, bad); len(gaps) != 1 || !strings.Contains(gaps[0].Why, `two{2/3}" is not started as`) {
			t.Errorf("%s: got %v", name, gaps)
		}
	}
	two, err := planner.Task(in, "it", "two")
	if err != nil {
		t.Fatal(err)
	}
	all := clone(p)
	all.Tasks = []plan.Task{p.Tasks[0], two}
	if gaps := verify(t, in, all); len(gaps) != 0 {
		t.Errorf("all static shards in one: got %v", gaps)
	}
}

// A plan in which a task does something else than it says does not verify.
func TestVerifyCommands(t *testing.T) {
	base, head := world(), world()
	both(clusters(override("two", object{"imageRef": "img2", "subSharding": subshards(2)["subSharding"]})), rename)(base,
		head)
	in := input(t, base, head, numbered(asDeployed))
	p := made(t, in)
	for name, change := range map[string]func(one, two *plan.Task){
		"another program":        func(one, _ *plan.Task) { one.Argv = []string{"true"} },
		"an option more":         func(one, _ *plan.Task) { one.Argv = append(slices.Clone(one.Argv), "--help") },
		"another shard's":        func(one, two *plan.Task) { one.Argv = two.Argv },
		"the command of another": func(one, two *plan.Task) { one.Command = two.Command },
		"native":                 func(one, _ *plan.Task) { one.Native = true },
		"not to be started":      func(one, _ *plan.Task) { one.Blocked = "trust me" },
		"with a condition":       func(one, _ *plan.Task) { one.When = []string{"state"} },
	} {
		bad := clone(p)
		change(&bad.Tasks[0], &bad.Tasks[1])
		want := []proof.Gap{{Integration: "it",
			Why: `its task "it-wrapper/one" is not started as the settings and its definition say`}}
		if gaps := verify(t, in, bad); !slices.Equal(gaps, want) {
			t.Errorf("%s: got %v", name, gaps)
		}
	}
}

// A shard is left out when each of its static shards has a trace that proves it, or
// the whole of it has.
func TestRecallStatic(t *testing.T) {
	parted := clusters(override("two", object{"imageRef": "img2", "subSharding": subshards(2)["subSharding"]}))
	tests := []struct {
		name   string
		recall map[string][]string
		make   func(*side)
		want   string
	}{
		{"all", map[string][]string{"one": {names}, "two{1/2}": {names}, "two{2/2}": {names}}, parted, "skip state"},
		{"one of them", map[string][]string{"one": {names}, "two{1/2}": {names}}, parted,
			"shards shards it/two{1/2} it/two{2/2}"},
		{"the whole shard", map[string][]string{"one": {names}, "two": {names}}, parted, "skip state"},
		{"of another number", map[string][]string{"one": {names}, "two{1/3}": {names}, "two{2/3}": {names},
			"two{3/3}": {names}}, parted,
			"shards shards it/two{1/2} it/two{2/2}"},
		{"none", nil, parted, "run schema it-wrapper/one it-wrapper/two{1/2} it-wrapper/two{2/2}"},
		{"all static ones", map[string][]string{"{1/2}": {names}, "{2/2}": {names}}, numbers(2), "skip state"},
		{"one static one", map[string][]string{"{1/2}": {names}}, numbers(2), "run schema it-wrapper/{1/2} it-wrapper/{2/2}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			both(tt.make, func(_, head *side) { head.at("/users/ana.yml")["email"] = "new" })(base, head)
			in := input(t, base, head, numbered(asDeployed))
			m := storedTraces{traces: map[string][]*trace.Trace{}}
			for label, queries := range tt.recall {
				m.traces[label] = []*trace.Trace{recorded(t, label, queries...)}
			}
			in.Traces = m
			p := made(t, in)
			if got := brief(p.Integrations[0]); got != tt.want {
				t.Errorf("got %s: %s, want %s", got, p.Integrations[0].Reason, tt.want)
			}
			for _, task := range p.Tasks {
				if (task.Shard == "two") != slices.Contains(task.Argv, "img:img2") {
					t.Errorf("%s: got %q", task.ID, task.Argv)
				}
			}
			laws(t, in, p)
		})
	}
}

// What the images of single shards are not used for is said.
func TestUnusedImages(t *testing.T) {
	const said = `integration "it": its managed[].sharding names images of single shards (img2), which are not used: `
	tests := []struct{ name, settings, want string }{
		{"used", numbered(asDeployed), ""},
		{"not divided", numbered(""), said + "shards.strategy: managed in the settings would run these shards alone"},
		{"divided otherwise", numbered("shards: {strategy: per-aws-account}"),
			said + "no task is for one of these shards alone"},
		{"no place for it", strings.Replace(numbered(asDeployed), `"img:{image_ref}", `, "", 1),
			said + "exec.argv has no {image_ref}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			both(func(s *side) { accounts(s); clusters(override("two", object{"imageRef": "img2"}))(s) }, rename)(base, head)
			if got := strings.Join(made(t, input(t, base, head, tt.settings)).Warnings, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A command that names a shard itself is pointed out, also when the option is that
// of a strategy.
func TestShardTwice(t *testing.T) {
	base, head := world(), world()
	both(func(s *side) { clusters()(s); s.check()["cmd"] = "it --cluster-name one" }, rename)(base, head)
	const want = `integration "it": its pr_check.cmd "it --cluster-name one" has --cluster-name already, which its shards add once more`
	if got := strings.Join(made(t, input(t, base, head, numbered(asDeployed))).Warnings, "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The task of one shard that is recorded alone has the image of the shard.
func TestTaskOfShard(t *testing.T) {
	s := world()
	clusters(override("two", object{"imageRef": "img2", "subSharding": subshards(2)["subSharding"]}))(s)
	in := input(t, s, s, numbered(asDeployed))
	task, err := planner.Task(in, "it", "two")
	if err != nil || task.ID != "it/two" || task.Static != (plan.Fraction{}) || !slices.Contains(task.Argv, "img:img2") {
		t.Errorf("got %+v, %v", task, err)
	}
}

// Every account is run from the image that the reference runs it from. There each
// image has one run over its accounts, here each account has one.
func TestImagesOfShards(t *testing.T) {
	type imageCase struct {
		Name  string
		Input struct {
			Cmd       string
			Overrides []struct{ Shard, ImageRef string }
		}
		Expected json.RawMessage
	}
	const name = "terraform-resources imageRef overrides split into one run per imageRef plus one with --exclude-accounts"
	n := 0
	for _, c := range shared.Cases[imageCase](t, "select_integrations") {
		if c.Name != name {
			continue
		}
		n++
		s := world()
		var overrides list
		want := map[string]string{}
		for _, o := range c.Input.Overrides {
			account := strings.Split(o.Shard, "/")[2]
			s.data[o.Shard] = object{"$schema": "/aws/account-1.yml", "name": account}
			given := object{"shard": object{"$ref": o.Shard}, "imageRef": nil}
			if o.ImageRef != "" {
				given["imageRef"] = o.ImageRef
			}
			overrides, want[account] = append(overrides, given), "usual"
		}
		element(s, object{"strategy": "per-aws-account", "shardSpecOverrides": overrides})
		s.check()["cmd"] = c.Input.Cmd
		var lines []string
		if err := json.Unmarshal(c.Expected, &lines); err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			image := regexp.MustCompile(`IMAGE=(\S+)`).FindStringSubmatch(line)
			for _, account := range regexp.MustCompile(`--account-name (\S+)`).FindAllStringSubmatch(line, -1) {
				want[account[1]] = image[1]
			}
		}
		head := world()
		head.data = map[string]any{}
		for path, o := range s.data {
			head.data[path] = o
		}
		head.data["/users/bob.yml"] = object{"$schema": "/user-1.yml", "name": "rob"}
		got := map[string]string{}
		for _, task := range made(t, input(t, s, head, numbered(asDeployed))).Tasks {
			if got[task.Shard] != "" || !slices.Equal(task.Argv[2:], []string{c.Input.Cmd, "--account-name", task.Shard}) {
				t.Errorf("got %q for %q", task.Argv, task.Shard)
			}
			got[task.Shard] = strings.TrimPrefix(task.Argv[1], "img:")
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if n != 1 {
		t.Errorf("%d cases, want 1", n)
	}
}

// A static shard that passed with the same inputs does not run again; another one
// of the same shard does.
func TestReuseOfStaticShards(t *testing.T) {
	base, head := world(), world()
	both(clusters(override("two", subshards(2))), func(_, head *side) { head.at("/users/ana.yml")["email"] = "new" })(base,
		head)
	in := input(t, base, head, numbered(asDeployed))
	in.Results = results{}
	earlier := made(t, in)
	for _, red := range []string{"it-wrapper/one", "it-wrapper/two{1/2}", "it-wrapper/two{2/2}"} {
		in.Results = passing(earlier, red)
		p := made(t, in)
		if got, want := brief(p.Integrations[0]), "run schema "+red; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if gaps := verify(t, in, p); len(gaps) > 0 {
			t.Errorf("%s failed before, and the gaps are %v", red, gaps)
		}
		dropped(t, in, p, "it", red)
	}
}
