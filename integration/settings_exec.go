package integration

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Exec says how a task becomes a process. Words in braces are filled in, by
// [Exec.Expand] when the plan is made and by the runner when the task starts;
// nothing ever passes through a shell.
type Exec struct {
	Argv    []string
	Config  string            // written to a private file, whose path is {config}
	Env     map[string]string // variables set for the process
	PassEnv []string          // variables handed on from the runner's own environment
	Timeout time.Duration
	Memory  int64               // bytes that a task needs; 0 when nothing is said
	When    map[Condition]Piece // what is added when the definition says so
	// Variables are what pr_check.cmd may name as $NAME, and what they become.
	Variables map[string]string
	ImageRef  string // what {image_ref} is when the definition names none
}

// The placeholders. Only in argv, and only as whole words, stand cmd, flags and
// shard_args, which become any number of words. The text of the config file
// cannot name its own path. {env.NAME} may stand everywhere.
var (
	manyWords    = []string{"cmd", "flags", "shard_args"}
	inConfig     = []string{"name", "shard", "shards", "shard_id", "graphql_url", "base_url", "base_sha", "head_sha", "task", "lbrace"}
	inEnv        = append([]string{"config"}, inConfig...)
	inFlags      = append([]string{"image_ref"}, inEnv...)
	inArgv       = slices.Concat(manyWords, inFlags)
	placeholders = regexp.MustCompile(`\{(?:env\.[^{}]*|[A-Za-z_]+)\}`)
	envName      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Bounds of a timeout.
const (
	minTimeout = time.Second
	maxTimeout = 24 * time.Hour
)

// Expand is the argument vector of a task, with {cmd}, {shard_args}, {name} and
// {shard} filled in. What the runner alone knows stays in braces, and the words
// of cmd stay as they are, see [Literal]. Without a shard, {shard_args} is no
// word at all and {shard} is empty.
func (e Exec) Expand(name string, cmd []string, shardArg, shard string) []string {
	fill := strings.NewReplacer("{name}", Literal(name), "{shard}", Literal(shard))
	var argv []string
	for _, word := range e.Argv {
		switch word {
		case "{cmd}":
			argv = append(argv, cmd...)
		case "{shard_args}":
			argv = append(argv, shardArgs(shardArg, shard)...)
		default:
			argv = append(argv, fill.Replace(word))
		}
	}
	return argv
}

func shardArgs(arg, shard string) []string {
	switch {
	case shard == "":
		return nil
	case strings.HasSuffix(arg, "="):
		return []string{arg + Literal(shard)}
	}
	return []string{arg, Literal(shard)}
}

// exec reads an exec mapping; keys that it does not hold are those of general.
func (r *reader) exec(n *yaml.Node, at string, general Exec) Exec {
	e := general
	keys := r.object(n, at, "argv", "config", "env", "pass_env", "timeout", "memory", "when", "variables", "image_ref")
	if n := keys["argv"]; n != nil {
		e.Argv = r.argv(n, at+".argv")
	}
	if n := keys["config"]; n != nil {
		e.Config, _ = r.str(n, at+".config")
		r.braces(n, at+".config", inConfig)
	}
	if n := keys["env"]; n != nil {
		e.Env = r.env(n, at+".env")
	}
	if n := keys["pass_env"]; n != nil {
		e.PassEnv = r.passEnv(n, at+".pass_env")
	}
	if n := keys["timeout"]; n != nil {
		e.Timeout = r.timeout(n, at+".timeout")
	}
	if n := keys["memory"]; n != nil {
		e.Memory = r.memory(n, at+".memory")
	}
	if n := keys["when"]; n != nil {
		e.When = r.when(n, at+".when")
	}
	if n := keys["variables"]; n != nil {
		e.Variables = r.env(n, at+".variables")
	}
	if n := keys["image_ref"]; n != nil {
		e.ImageRef, _ = r.text(n, at+".image_ref")
		r.braces(n, at+".image_ref", inConfig)
	}
	r.whole(n, keys, at, e)
	return e
}

// whole notes what is wrong with an exec as a whole.
func (r *reader) whole(n *yaml.Node, keys map[string]*yaml.Node, at string, e Exec) {
	if e.Config == "" && e.needs("{config}") {
		r.fail(n.Line, at, "{config} is used, but there is no config")
	}
	if e.ImageRef == "" && e.needs("{image_ref}") {
		r.fail(n.Line, at, "{image_ref} is used, but image_ref does not say what it usually is")
	}
	if keys["argv"] != nil || keys["when"] != nil {
		r.flagsReach(n, at, e)
	}
	if keys["env"] != nil || keys["pass_env"] != nil || keys["when"] != nil {
		r.once(n, keys, at, e)
	}
}

// needs reports whether a placeholder is used in a word or a variable.
func (e Exec) needs(placeholder string) bool {
	return slices.ContainsFunc(e.texts(), func(s string) bool { return strings.Contains(s, placeholder) })
}

// texts are all that may hold placeholders, the config aside.
func (e Exec) texts() []string {
	texts := slices.AppendSeq(slices.Clone(e.Argv), maps.Values(e.Env))
	texts = slices.AppendSeq(texts, maps.Values(e.Variables))
	for _, p := range e.When {
		texts = slices.AppendSeq(append(texts, p.Flags...), maps.Values(p.Env))
	}
	return texts
}

func (r *reader) argv(n *yaml.Node, at string) []string {
	var argv []string
	for i, n := range r.some(n, at) {
		at := at + index(i)
		word, ok := r.str(n, at)
		if !ok {
			continue
		}
		if i == 0 && word == "" {
			r.fail(n.Line, at, "the program to start is empty")
		}
		r.braces(n, at, inArgv)
		for _, name := range manyWords {
			if p := "{" + name + "}"; word != p && strings.Contains(word, p) {
				r.fail(n.Line, at, "%s becomes any number of words, so it must be a word of its own", p)
			}
		}
		argv = append(argv, word)
	}
	return argv
}

func (r *reader) env(n *yaml.Node, at string) map[string]string {
	env := map[string]string{}
	for _, e := range r.entries(n, at) {
		if !envName.MatchString(e.key) {
			r.fail(e.line, at, "%s cannot be the name of a variable", clip(e.key))
			continue
		}
		env[e.key], _ = r.str(e.value, at+"."+e.key)
		r.braces(e.value, at+"."+e.key, inEnv)
	}
	return env
}

func (r *reader) passEnv(n *yaml.Node, at string) []string {
	names := []string{}
	for _, t := range r.texts(r.items(n, at), at) {
		if !envName.MatchString(t.value) {
			r.fail(t.line, at, "%s cannot be the name of a variable", clip(t.value))
		}
		names = append(names, t.value)
	}
	return names
}

func (r *reader) timeout(n *yaml.Node, at string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		r.fail(n.Line, at, "must be a duration such as 90s or 10m, got %s", kind(n))
		return 0
	case d < minTimeout || d > maxTimeout:
		r.fail(n.Line, at, "must be from %s to %s, got %s", minTimeout, maxTimeout, d)
		return 0
	}
	return d
}

// braces notes every word in braces that is not known in its place.
func (r *reader) braces(n *yaml.Node, at string, known []string) {
	for _, p := range placeholders.FindAllString(n.Value, -1) {
		name := strings.Trim(p, "{}")
		if v, ok := strings.CutPrefix(name, "env."); ok && envName.MatchString(v) {
			continue
		}
		if !slices.Contains(known, name) {
			r.fail(n.Line, at, "unknown placeholder %s%s", p, didYouMean(name, known))
		}
	}
}
