package settings

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Condition is a field of pr_check that changes how the dry-run is started. Its value
// is the name of the field.
type Condition string

// The conditions. EarlyExit and AffectedOnly hold only for a task that may leave out
// work that it proves unaffected. AffectedOnly holds only together with EarlyExit.
const (
	State        Condition = "state"
	SQS          Condition = "sqs"
	Unenforced   Condition = "no_validate_schemas"
	EarlyExit    Condition = "early_exit"
	AffectedOnly Condition = "check_only_affected_shards"
)

// Conditions returns all conditions, in the order in which their additions are applied.
func Conditions() []Condition {
	return []Condition{State, SQS, Unenforced, EarlyExit, AffectedOnly}
}

// An ExecAddition is added to an Exec if a condition holds.
type ExecAddition struct {
	Flags   []string // arguments that replace {flags}
	Env     map[string]string
	PassEnv []string
}

// ForConditions returns the Exec of a task for which the given conditions hold: with their
// additions, and with {flags} and {image_ref} replaced. imageRef is the image of the
// definition; "" means the usual image. The result has no conditions.
func (e Exec) ForConditions(conditions []Condition, imageRef string) Exec {
	var flags []string
	env, pass := maps.Clone(e.Env), slices.Clone(e.PassEnv)
	for _, c := range Conditions() {
		addition, ok := e.When[c]
		if !ok || !slices.Contains(conditions, c) {
			continue
		}
		flags = append(flags, addition.Flags...)
		pass = append(pass, addition.PassEnv...)
		if env == nil && len(addition.Env) > 0 {
			env = map[string]string{}
		}
		maps.Copy(env, addition.Env)
	}
	image := e.ImageRef
	if imageRef != "" {
		image = EscapePlaceholders(imageRef)
	}
	var argv []string
	for _, word := range e.Argv {
		words := []string{word}
		if word == "{flags}" {
			words = flags
		}
		for _, w := range words {
			argv = append(argv, strings.ReplaceAll(w, "{image_ref}", image))
		}
	}
	e.Argv, e.Env, e.PassEnv, e.When = argv, env, pass, nil
	return e
}

// UsesImage reports whether the Exec uses {image_ref}.
func (e Exec) UsesImage() bool { return e.uses("{image_ref}") }

var (
	openingBrace          = lazyregexp.New(`\{([A-Za-z])`)
	envPlaceholderPattern = lazyregexp.New(`\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// EscapePlaceholders escapes the placeholders of a text, so that a task gets the text
// itself: {word} becomes {lbrace}word}.
func EscapePlaceholders(text string) string { return openingBrace.ReplaceAllString(text, "{lbrace}$1") }

// EnvPlaceholder returns the placeholder of a variable of the runner's environment, such
// as {env.HOME}.
func EnvPlaceholder(name string) string { return "{env." + name + "}" }

// EnvPlaceholderNames returns the names of the variables whose placeholders are in the
// texts, sorted.
func EnvPlaceholderNames(texts ...string) []string {
	var names []string
	for _, text := range texts {
		for _, m := range envPlaceholderPattern.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// readWhen reads the key when: the additions by condition.
func (r *reader) readWhen(n *yaml.Node, at string) map[Condition]ExecAddition {
	var known []string
	for _, c := range Conditions() {
		known = append(known, string(c))
	}
	additions := map[Condition]ExecAddition{}
	nodes := r.readObject(n, at, known...)
	for _, name := range known {
		n, at := nodes[name], at+"."+name
		if n == nil {
			continue
		}
		keys := r.readObject(n, at, "flags", "env", "pass_env")
		var a ExecAddition
		if n := keys["flags"]; n != nil {
			a.Flags = r.readFlags(n, at+".flags")
		}
		if n := keys["env"]; n != nil {
			a.Env = r.readEnv(n, at+".env", envPlaceholders)
		}
		if n := keys["pass_env"]; n != nil {
			a.PassEnv = r.readPassEnv(n, at+".pass_env")
		}
		additions[Condition(name)] = a
	}
	return additions
}

// readFlags reads a list of arguments.
func (r *reader) readFlags(n *yaml.Node, at string) []string {
	var flags []string
	for i, n := range r.readNonEmptyList(n, at) {
		word, ok := r.readString(n, at+indexSuffix(i))
		if ok {
			r.checkPlaceholders(n, at+indexSuffix(i), flagPlaceholders)
			flags = append(flags, word)
		}
	}
	return flags
}

// checkFlagsAreUsed notes a mistake if a condition has flags but argv has no {flags}.
func (r *reader) checkFlagsAreUsed(n *yaml.Node, at string, e Exec) {
	if e.Argv == nil || slices.Contains(e.Argv, "{flags}") {
		return
	}
	for _, c := range Conditions() {
		if len(e.When[c].Flags) > 0 {
			r.fail(n.Line, at, "when.%s.flags are never used, since argv has no {flags}; add it, or set when without flags here",
				c)
		}
	}
}

// checkSetOnce notes a mistake for each variable that is set in two places.
func (r *reader) checkSetOnce(n *yaml.Node, keys map[string]*yaml.Node, at string, e Exec) {
	placeOf := map[string]string{} // by name of the variable
	note := func(place string, names []string) {
		line := n.Line
		key, _, _ := strings.Cut(place, ".")
		if keys[key] != nil {
			line = keys[key].Line
		}
		for _, name := range names {
			if first, ok := placeOf[name]; ok && first != place {
				r.fail(line, at+"."+place, "%q is set in %s too; keep one of them", name, first)
			}
			placeOf[name] = place
		}
	}
	note("env", slices.Sorted(maps.Keys(e.Env)))
	note("pass_env", e.PassEnv)
	for _, c := range Conditions() {
		note("when."+string(c)+".env", slices.Sorted(maps.Keys(e.When[c].Env)))
		note("when."+string(c)+".pass_env", e.When[c].PassEnv)
	}
}
