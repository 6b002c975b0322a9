package settings

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
)

// Exec says how a task is started as a process. Its texts may have placeholders, see the
// package documentation. Nothing passes through a shell.
type Exec struct {
	Argv    []string
	Config  string            // text of a private file; {config} is its path
	Env     map[string]string // variables set for the process
	PassEnv []string          // names of variables that the process gets from the runner's environment
	Timeout time.Duration
	Memory  int64                      // bytes that a task needs; 0 if unknown
	When    map[Condition]ExecAddition // additions for definitions with certain fields
	// Variables are the variables that pr_check.cmd may use as $NAME, with their
	// values.
	Variables map[string]string
	ImageRef  string // value of {image_ref} if the definition names no image
}

// The placeholders that are allowed in each text. Those in multiWordPlaceholders become
// any number of arguments: they are allowed in argv only, as whole arguments. {env.NAME}
// is allowed everywhere.
var (
	multiWordPlaceholders = []string{"cmd", "flags", "shard_args"}
	openPlaceholders      = []string{"name", "shard", "shards", "shard_id", "graphql_url", "base_url", "base_sha",
		"head_sha", "task", "lbrace"}
	configPlaceholders = append([]string{GraphQLToken}, openPlaceholders...)
	envPlaceholders    = append([]string{"config", "effects"}, configPlaceholders...)
	// they are arguments, which everybody sees
	variablePlaceholders = append([]string{"config", "effects"}, openPlaceholders...)
	flagPlaceholders     = append([]string{"image_ref"}, variablePlaceholders...)
	argvPlaceholders     = slices.Concat(multiWordPlaceholders, flagPlaceholders)
	placeholderPattern   = lazyregexp.New(`\{(?:env\.[^{}]*|[A-Za-z_]+)\}`)
	envNamePattern       = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// GraphQLToken is the placeholder for the value of the header Authorization that opens the server of a task. The
// server of a task whose settings have it answers nobody else.
const GraphQLToken = "graphql_token"

// Limits of a timeout.
const (
	minTimeout = time.Second
	maxTimeout = 24 * time.Hour
)

// Expand returns the argument vector of a task: Argv with {cmd}, {shard_args}, {name} and
// {shard} replaced. Other placeholders stay, for the runner. The words of cmd are taken
// as they are: the caller escapes them with [EscapePlaceholders]. If shard is "",
// {shard_args} becomes no argument and {shard} becomes "".
func (e Exec) Expand(name string, cmd []string, shardArg, shard string) []string {
	fill := strings.NewReplacer("{name}", EscapePlaceholders(name), "{shard}", EscapePlaceholders(shard))
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

// shardArgs returns the arguments that name a shard.
func shardArgs(arg, shard string) []string {
	switch {
	case shard == "":
		return nil
	case strings.HasSuffix(arg, "="):
		return []string{arg + EscapePlaceholders(shard)}
	}
	return []string{arg, EscapePlaceholders(shard)}
}

// readExec reads an exec mapping. A key that the mapping does not set has the value of
// general.
func (r *reader) readExec(n *yaml.Node, at string, general Exec) Exec {
	e := general
	keys := r.readObject(n, at, "argv", "config", "env", "pass_env", "timeout", "memory", "when", "variables", "image_ref")
	if n := keys["argv"]; n != nil {
		e.Argv = r.readArgv(n, at+".argv")
	}
	if n := keys["config"]; n != nil {
		e.Config, _ = r.readString(n, at+".config")
		r.checkPlaceholders(n, at+".config", configPlaceholders)
	}
	if n := keys["env"]; n != nil {
		e.Env = r.readEnv(n, at+".env", envPlaceholders)
	}
	if n := keys["pass_env"]; n != nil {
		e.PassEnv = r.readPassEnv(n, at+".pass_env")
	}
	if n := keys["timeout"]; n != nil {
		e.Timeout = r.readTimeout(n, at+".timeout")
	}
	if n := keys["memory"]; n != nil {
		e.Memory = r.readMemory(n, at+".memory")
	}
	if n := keys["when"]; n != nil {
		e.When = r.readWhen(n, at+".when")
	}
	if n := keys["variables"]; n != nil {
		e.Variables = r.readEnv(n, at+".variables", variablePlaceholders)
	}
	if n := keys["image_ref"]; n != nil {
		e.ImageRef, _ = r.readText(n, at+".image_ref")
		r.checkPlaceholders(n, at+".image_ref", configPlaceholders)
	}
	r.checkExec(n, keys, at, e)
	return e
}

// checkExec notes mistakes in the relations between the keys of an exec.
func (r *reader) checkExec(n *yaml.Node, keys map[string]*yaml.Node, at string, e Exec) {
	if e.Config == "" && e.uses("{config}") {
		r.fail(n.Line, at, "{config} is used, but there is no config")
	}
	if e.ImageRef == "" && e.uses("{image_ref}") {
		r.fail(n.Line, at, "{image_ref} is used, but image_ref is missing: the image for definitions that name none")
	}
	if keys["argv"] != nil || keys["when"] != nil {
		r.checkFlagsAreUsed(n, at, e)
	}
	if keys["env"] != nil || keys["pass_env"] != nil || keys["when"] != nil {
		r.checkSetOnce(n, keys, at, e)
	}
}

// uses reports whether a placeholder is in an argument or a variable.
func (e Exec) uses(placeholder string) bool {
	return slices.ContainsFunc(e.textsWithPlaceholders(), func(s string) bool { return strings.Contains(s, placeholder) })
}

// textsWithPlaceholders returns all texts that may have placeholders, except Config.
func (e Exec) textsWithPlaceholders() []string {
	texts := slices.AppendSeq(slices.Clone(e.Argv), maps.Values(e.Env))
	texts = slices.AppendSeq(texts, maps.Values(e.Variables))
	for _, p := range e.When {
		texts = slices.AppendSeq(append(texts, p.Flags...), maps.Values(p.Env))
	}
	return texts
}

// readArgv reads the key argv.
func (r *reader) readArgv(n *yaml.Node, at string) []string {
	var argv []string
	for i, n := range r.readNonEmptyList(n, at) {
		at := at + indexSuffix(i)
		word, ok := r.readString(n, at)
		if !ok {
			continue
		}
		if i == 0 && word == "" {
			r.fail(n.Line, at, "the program to start is empty")
		}
		r.checkPlaceholders(n, at, argvPlaceholders)
		for _, name := range multiWordPlaceholders {
			if p := "{" + name + "}"; word != p && strings.Contains(word, p) {
				r.fail(n.Line, at, "%s becomes any number of arguments, so it must be an argument of its own", p)
			}
		}
		argv = append(argv, word)
	}
	return argv
}

// readEnv reads a mapping from names of variables to values, which may have some placeholders.
func (r *reader) readEnv(n *yaml.Node, at string, placeholders []string) map[string]string {
	env := map[string]string{}
	r.note(n, constraint{"propertyNames": constraint{"pattern": envNamePattern.String()}})
	for _, e := range r.readEntries(n, at) {
		if !envNamePattern.MatchString(e.key) {
			r.fail(e.line, at, "%s cannot be the name of a variable", phrase.Quote(e.key))
			continue
		}
		env[e.key], _ = r.readString(e.value, at+"."+e.key)
		r.checkPlaceholders(e.value, at+"."+e.key, placeholders)
	}
	return env
}

// readPassEnv reads a list of names of variables.
func (r *reader) readPassEnv(n *yaml.Node, at string) []string {
	names := []string{}
	items := r.readList(n, at)
	r.noteItems(items, constraint{"pattern": envNamePattern.String()})
	for _, t := range r.readUniqueTexts(items, at) {
		if !envNamePattern.MatchString(t.value) {
			r.fail(t.line, at, "%s cannot be the name of a variable", phrase.Quote(t.value))
		}
		names = append(names, t.value)
	}
	return names
}

// readTimeout reads the key timeout.
func (r *reader) readTimeout(n *yaml.Node, at string) time.Duration {
	r.note(n, durationText)
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		r.fail(n.Line, at, "must be a duration such as 90s or 10m, got %s", describeNode(n))
		return 0
	case d < minTimeout || d > maxTimeout:
		r.fail(n.Line, at, "must be from %s to %s, got %s", minTimeout, maxTimeout, d)
		return 0
	}
	return d
}

// checkPlaceholders notes a mistake for each placeholder in a text that is not in known.
func (r *reader) checkPlaceholders(n *yaml.Node, at string, known []string) {
	for _, p := range placeholderPattern.FindAllString(n.Value, -1) {
		name := strings.Trim(p, "{}")
		if v, ok := strings.CutPrefix(name, "env."); ok && envNamePattern.MatchString(v) {
			continue
		}
		switch {
		case slices.Contains(known, name):
		case name == GraphQLToken:
			r.fail(n.Line, at, "{%s} may stand in env and config alone: everybody on the machine sees arguments", name)
		default:
			r.fail(n.Line, at, "unknown placeholder %s%s", p, suggest.Hint(name, known))
		}
	}
}

// PassesShardNumber reports whether every process gets the number of static shards and
// its own number. Flags and variables of conditions do not count, since a condition
// holds for some definitions only.
func (e Exec) PassesShardNumber() bool {
	texts := slices.AppendSeq(append(slices.Clone(e.Argv), e.Config), maps.Values(e.Env))
	has := func(placeholder string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, placeholder) })
	}
	return has("{shards}") && has("{shard_id}")
}

// ForStaticShard returns the Exec of one static shard: {shards} and {shard_id} are
// replaced everywhere.
func (e Exec) ForStaticShard(shards, id int) Exec {
	fill := strings.NewReplacer("{shards}", strconv.Itoa(shards), "{shard_id}", strconv.Itoa(id)).Replace
	filled := func(in map[string]string) map[string]string {
		out := maps.Clone(in)
		for k, v := range in {
			out[k] = fill(v)
		}
		return out
	}
	e.Argv, e.Config, e.Env, e.Variables = slices.Clone(e.Argv), fill(e.Config), filled(e.Env), filled(e.Variables)
	for i, word := range e.Argv {
		e.Argv[i] = fill(word)
	}
	return e
}
