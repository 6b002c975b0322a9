package integration

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Condition is what the pr_check of a definition may say about the way its
// dry-run is started. It has the name of the field.
type Condition string

// The conditions. EarlyExit and AffectedOnly hold only for a task that may
// leave out what it proves unaffected, and AffectedOnly only with EarlyExit.
const (
	State        Condition = "state"
	SQS          Condition = "sqs"
	Unenforced   Condition = "no_validate_schemas"
	EarlyExit    Condition = "early_exit"
	AffectedOnly Condition = "check_only_affected_shards"
)

// Conditions lists all of them, in the order in which their pieces are added.
func Conditions() []Condition {
	return []Condition{State, SQS, Unenforced, EarlyExit, AffectedOnly}
}

// Conditions returns the conditions that hold for a task. mayLeaveOut tells
// that the task may leave out what it proves unaffected by itself.
func (c *Check) Conditions(mayLeaveOut bool) []Condition {
	if c == nil {
		return nil
	}
	holds := map[Condition]bool{
		State: c.State, SQS: c.SQS, Unenforced: c.Unenforced,
		EarlyExit:    c.EarlyExit && mayLeaveOut,
		AffectedOnly: c.AffectedOnly && c.EarlyExit && mayLeaveOut,
	}
	return slices.DeleteFunc(Conditions(), func(c Condition) bool { return !holds[c] })
}

// A Piece is what a condition adds to an Exec.
type Piece struct {
	Flags   []string // words that take the place of {flags}
	Env     map[string]string
	PassEnv []string
}

// With is the Exec of a task for which these conditions hold: their pieces
// added, and {flags} and {image_ref} filled in. imageRef is what the definition
// asks for, "" for the usual image. The result has no conditions left.
func (e Exec) With(conditions []Condition, imageRef string) Exec {
	var flags []string
	env, pass := maps.Clone(e.Env), slices.Clone(e.PassEnv)
	for _, c := range Conditions() {
		p, ok := e.When[c]
		if !ok || !slices.Contains(conditions, c) {
			continue
		}
		flags = append(flags, p.Flags...)
		pass = append(pass, p.PassEnv...)
		if env == nil && len(p.Env) > 0 {
			env = map[string]string{}
		}
		maps.Copy(env, p.Env)
	}
	image := e.ImageRef
	if imageRef != "" {
		image = Literal(imageRef)
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

// UsesImage reports whether the image that a definition asks for is used.
func (e Exec) UsesImage() bool { return e.needs("{image_ref}") }

var (
	opening = regexp.MustCompile(`\{([A-Za-z])`)
	fromEnv = regexp.MustCompile(`\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// Literal writes a text down so that the runner fills in nothing there.
func Literal(text string) string { return opening.ReplaceAllString(text, "{lbrace}$1") }

// FromEnv is the placeholder of a variable of the runner's environment.
func FromEnv(name string) string { return "{env." + name + "}" }

// NamesFromEnv lists the variables of the runner's environment whose
// placeholders stand in the texts, sorted.
func NamesFromEnv(texts ...string) []string {
	var names []string
	for _, text := range texts {
		for _, m := range fromEnv.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// when reads what the conditions add.
func (r *reader) when(n *yaml.Node, at string) map[Condition]Piece {
	var known []string
	for _, c := range Conditions() {
		known = append(known, string(c))
	}
	pieces := map[Condition]Piece{}
	nodes := r.object(n, at, known...)
	for _, name := range known {
		n, at := nodes[name], at+"."+name
		if n == nil {
			continue
		}
		keys := r.object(n, at, "flags", "env", "pass_env")
		var p Piece
		if n := keys["flags"]; n != nil {
			p.Flags = r.flags(n, at+".flags")
		}
		if n := keys["env"]; n != nil {
			p.Env = r.env(n, at+".env")
		}
		if n := keys["pass_env"]; n != nil {
			p.PassEnv = r.passEnv(n, at+".pass_env")
		}
		pieces[Condition(name)] = p
	}
	return pieces
}

func (r *reader) flags(n *yaml.Node, at string) []string {
	var flags []string
	for i, n := range r.some(n, at) {
		word, ok := r.str(n, at+index(i))
		if ok {
			r.braces(n, at+index(i), inFlags)
			flags = append(flags, word)
		}
	}
	return flags
}

// flagsReach notes flags that reach no process.
func (r *reader) flagsReach(n *yaml.Node, at string, e Exec) {
	if e.Argv == nil || slices.Contains(e.Argv, "{flags}") {
		return
	}
	for _, c := range Conditions() {
		if len(e.When[c].Flags) > 0 {
			r.fail(n.Line, at, "when.%s.flags are never used, since argv has no {flags}; add it, or set when without them here", c)
		}
	}
}

// once notes variables that are set in two places.
func (r *reader) once(n *yaml.Node, keys map[string]*yaml.Node, at string, e Exec) {
	first := map[string]string{} // the place by variable
	note := func(place string, names []string) {
		line := n.Line
		key, _, _ := strings.Cut(place, ".")
		if keys[key] != nil {
			line = keys[key].Line
		}
		for _, name := range names {
			if was, ok := first[name]; ok && was != place {
				r.fail(line, at+"."+place, "%q is set in %s too; keep one of them", name, was)
			}
			first[name] = place
		}
	}
	note("env", slices.Sorted(maps.Keys(e.Env)))
	note("pass_env", e.PassEnv)
	for _, c := range Conditions() {
		note("when."+string(c)+".env", slices.Sorted(maps.Keys(e.When[c].Env)))
		note("when."+string(c)+".pass_env", e.When[c].PassEnv)
	}
}
