package settings

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/plan"
)

// The names of the ready rules: sets of rules that prcheck has for programs that many
// people use.
const (
	EffectsOfReconcile    = "qontract-reconcile"
	EffectsOfTerraform    = "terraform"
	EffectsOfVaultManager = "vault-manager"
	EffectsOfKubectl      = "kubectl"
)

// readyRules lists the ready rules in the order of the documentation.
var readyRules = []string{EffectsOfReconcile, EffectsOfTerraform, EffectsOfVaultManager, EffectsOfKubectl}

// readyVersion is a part of the digest of effect rules. A change of the ready rules
// increases it, because effects that were found by older rules must not be reused.
const readyVersion = 1

// An EffectRule finds effects in the lines that a dry run prints. It is either a ready
// rule or a pattern.
type EffectRule struct {
	Ready   string          // name of the ready rules; "" for a pattern
	Match   *regexp.Regexp  // matches a line
	Kind    plan.EffectKind // "" means that a matching line is no effect
	Subject string          // what the effect is about, with $name for a group of the pattern
	Line    int
}

// EffectPolicy says what happens with the effects that were found.
type EffectPolicy struct {
	Compare bool                       // whether tasks run on base, too, to tell drift from what the change does
	Budget  time.Duration              // how long these runs on base may take together
	Labels  map[plan.EffectKind]string // the label that a merge request needs for effects of a kind
}

// DefaultEffectBudget is the value of effects.budget if the settings do not set it.
const DefaultEffectBudget = 5 * time.Minute

// effectSettings are the general effects: the rules and what happens with effects.
type effectSettings struct {
	rules  []EffectRule
	policy EffectPolicy
}

// EffectPolicy returns what happens with the effects that were found.
func (s *Settings) EffectPolicy() EffectPolicy {
	p := s.effects.policy
	if p.Budget == 0 {
		p.Budget = DefaultEffectBudget
	}
	return p
}

// FindsEffects reports whether effects are looked for in what the integration prints, or in
// the file {effects} that it may write.
func (it Integration) FindsEffects() bool { return len(it.Effects) > 0 || it.Exec.WritesEffects() }

// WritesEffects reports whether a process gets the path of a file for its effects.
func (e Exec) WritesEffects() bool { return e.uses("{effects}") }

// EffectsDigest returns the digest of all that decides which effects are found in an
// output and whether they are compared, or "" if nobody looks for effects.
func (it Integration) EffectsDigest() string {
	if !it.FindsEffects() {
		return ""
	}
	raw, err := json.Marshal([]any{readyVersion, it.Exec.WritesEffects(), it.CompareEffects, effectRuleTexts(it.Effects)})
	if err != nil {
		panic(err) // texts and numbers always have a form in JSON
	}
	return digest(raw)
}

// effectRuleTexts returns the rules as texts, without lines.
func effectRuleTexts(rules []EffectRule) [][]string {
	var out [][]string
	for _, rule := range rules {
		text := []string{rule.Ready}
		if rule.Match != nil {
			text = []string{"", rule.Match.String(), string(rule.Kind), rule.Subject}
		}
		out = append(out, text)
	}
	return out
}

// Limits of the settings of effects.
const (
	maxEffectRules  = 100 // of one list
	maxEffectBytes  = 500 // length of a pattern and of a subject
	maxEffectBudget = 24 * time.Hour
	maxLabelBytes   = 255 // as in GitLab
)

var (
	effectComparisons = []string{"none", "base"}
	groupReference    = lazyregexp.New(`\$(?:\$|([\pL\p{Nd}_]+)|\{([\pL\p{Nd}_]+)\})?`)
	// everyLine holds lines with nothing in common. A pattern that matches all of them
	// matches every line.
	everyLine = []string{"x", "7", "-", "[ok] ready", "Done.", `{"a": null}`, "\tüber 3 %"}
)

// readEffects reads the general key effects: a list of rules, or a mapping.
func (r *reader) readEffects(n *yaml.Node) effectSettings {
	const at = "effects"
	switch n.Kind {
	case yaml.SequenceNode:
		return effectSettings{rules: r.readEffectRules(n, at)}
	case yaml.MappingNode:
	default:
		r.fail(n.Line, at, "must be a list of rules, or a mapping with use and rules, got %s", describeNode(n))
		return effectSettings{}
	}
	keys := r.readObject(n, at, "use", "rules", "compare", "budget", "require")
	s := effectSettings{rules: r.readEffectSources(keys, at)}
	if n := keys["compare"]; n != nil {
		s.policy.Compare = r.readChoice(n, at+".compare", effectComparisons) > 0
	}
	if n := keys["budget"]; n != nil {
		s.policy.Budget = r.readEffectBudget(n, at+".budget")
	}
	if n := keys["require"]; n != nil {
		s.policy.Labels = r.readEffectLabels(n, at+".require")
	}
	if n := keys["budget"]; n != nil && !s.policy.Compare {
		r.fail(n.Line, at+".budget", "is never used without \"compare: base\"")
	}
	r.note(n, constraint{"minProperties": 1})
	if len(keys) == 0 && !r.misspelt[n] {
		r.fail(n.Line, at, "is empty; it needs use or rules")
	}
	return s
}

// readOwnEffects reads the key effects of an integration, and returns its rules before the
// general ones. "none" means no rules.
func (r *reader) readOwnEffects(n *yaml.Node, at string, general []EffectRule) []EffectRule {
	_, none := r.word(n, "none")
	switch {
	case none:
		return nil
	case n.Kind == yaml.SequenceNode:
		return slices.Concat(r.readEffectRules(n, at), general)
	case n.Kind != yaml.MappingNode:
		r.fail(n.Line, at, "must be none, a list of rules, or a mapping with use and rules, got %s", describeNode(n))
		return nil
	}
	keys := r.readObject(n, at, "use", "rules")
	r.note(n, constraint{"minProperties": 1})
	if len(keys) == 0 && !r.misspelt[n] {
		r.fail(n.Line, at, "is empty; it needs use or rules")
	}
	return slices.Concat(r.readEffectSources(keys, at), general)
}

// readEffectSources reads the keys rules and use. The rules come first.
func (r *reader) readEffectSources(keys map[string]*yaml.Node, at string) []EffectRule {
	var out []EffectRule
	if n := keys["rules"]; n != nil {
		out = r.readEffectRules(n, at+".rules")
	}
	if n := keys["use"]; n != nil {
		items := r.readNonEmptyList(n, at+".use")
		r.noteItems(items, constraint{"enum": readyRules})
		for _, t := range r.readUniqueTexts(items, at+".use") {
			if !slices.Contains(readyRules, t.value) {
				r.fail(t.line, at+".use", "there are no ready rules %s%s; there are %s", phrase.Quote(t.value),
					suggest.Hint(t.value, readyRules), strings.Join(readyRules, ", "))
				continue
			}
			out = append(out, EffectRule{Ready: t.value, Line: t.line})
		}
	}
	return out
}

// readEffectRules reads a list of rules.
func (r *reader) readEffectRules(n *yaml.Node, at string) []EffectRule {
	items := r.readNonEmptyList(n, at)
	if !r.checkCount(n, at, maxEffectRules, "rules") {
		return nil
	}
	var out []EffectRule
	for i, n := range items {
		if rule, ok := r.readEffectRule(n, at+indexSuffix(i)); ok {
			out = append(out, rule)
		}
	}
	return out
}

// readEffectRule reads one rule.
func (r *reader) readEffectRule(n *yaml.Node, at string) (EffectRule, bool) {
	rule := EffectRule{Line: n.Line}
	mistakes := len(r.list)
	keys := r.readObject(n, at, "match", "kind", "subject")
	if r.requireKey(n, keys, at, "match") {
		rule.Match = r.readEffectPattern(keys["match"], at+".match")
	}
	if r.requireKey(n, keys, at, "kind") {
		rule.Kind = r.readEffectKind(keys["kind"], at+".kind")
	}
	if n := keys["subject"]; n != nil {
		r.note(n, constraint{"type": "string", "minLength": 1, "maxLength": maxEffectBytes}) // also if it is not read
	}
	switch s := keys["subject"]; {
	case s != nil && rule.Kind == "":
		r.fail(s.Line, at+".subject", "is never used, since kind is none")
	case s != nil && rule.Match != nil:
		rule.Subject = r.readEffectSubject(s, at+".subject", rule.Match)
	case rule.Kind == "" || rule.Match == nil:
	case rule.Match.SubexpIndex("subject") > 0:
		rule.Subject = "$subject"
	default:
		if rule.Match.NumSubexp() > 0 {
			rule.Subject = "$0"
		}
	}
	return rule, len(r.list) == mistakes
}

// readEffectPattern reads a regular expression that matches some lines of output.
func (r *reader) readEffectPattern(n *yaml.Node, at string) *regexp.Regexp {
	r.note(n, constraint{"maxLength": maxEffectBytes})
	s, ok := r.readText(n, at)
	if !ok {
		return nil
	}
	p, err := regexp.Compile(s)
	switch {
	case len(s) > maxEffectBytes:
		r.fail(n.Line, at, "pattern %s is longer than %d bytes", phrase.Quote(s), maxEffectBytes)
	case err != nil:
		r.fail(n.Line, at, "pattern %s is no regular expression: %s", phrase.Quote(s), regexpProblem(err))
	case p.MatchString("") || !slices.ContainsFunc(everyLine, func(l string) bool { return !p.MatchString(l) }):
		r.fail(n.Line, at, "pattern %s matches every line, so that every line would be an effect or none", phrase.Quote(s))
	default:
		return p
	}
	return nil
}

// readEffectKind reads the kind of a rule. "none" is read as "".
func (r *reader) readEffectKind(n *yaml.Node, at string) plan.EffectKind {
	words := append(effectKindWords(), "none")
	word := words[r.readChoice(n, at, words)]
	if word == "none" {
		return ""
	}
	return plan.EffectKind(word)
}

// effectKindWords returns the kinds of effects in the order of the documentation.
func effectKindWords() []string {
	return []string{string(plan.EffectCreate), string(plan.EffectChange), string(plan.EffectDelete),
		string(plan.EffectOther)}
}

// readEffectSubject reads the subject of a rule. Its $names must be groups of the pattern.
func (r *reader) readEffectSubject(n *yaml.Node, at string, p *regexp.Regexp) string {
	s, ok := r.readText(n, at)
	if !ok {
		return ""
	}
	if len(s) > maxEffectBytes {
		r.fail(n.Line, at, "is longer than %d bytes", maxEffectBytes)
	}
	for _, m := range groupReference.FindAllStringSubmatch(s, -1) {
		name := m[1] + m[2]
		switch {
		case m[0] == "$$", name != "" && p.SubexpIndex(name) > 0, isGroupNumber(name, p.NumSubexp()):
		case name == "":
			r.fail(n.Line, at, "a $ stands alone; write $$ for a dollar sign, or $name for a group of the pattern")
		default:
			r.fail(n.Line, at, "the pattern has no group %s%s", phrase.Quote(name), suggest.Hint(name, groupNames(p)))
		}
	}
	return s
}

// isGroupNumber reports whether a name is the number of a group; 0 is the whole match.
func isGroupNumber(name string, groups int) bool {
	n, err := strconv.Atoi(name)
	return err == nil && n >= 0 && n <= groups
}

// groupNames returns the names of the groups of a pattern.
func groupNames(p *regexp.Regexp) []string {
	return slices.DeleteFunc(slices.Clone(p.SubexpNames()), func(s string) bool { return s == "" })
}

// readEffectBudget reads how long the runs on base may take together.
func (r *reader) readEffectBudget(n *yaml.Node, at string) time.Duration {
	r.note(n, durationText)
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		r.fail(n.Line, at, "must be a duration such as 90s or 5m, got %s", describeNode(n))
	case d < time.Second || d > maxEffectBudget:
		r.fail(n.Line, at, "must be from 1s to %.0fh, got %s", maxEffectBudget.Hours(), phrase.Quote(n.Value))
	}
	return d
}

// readEffectLabels reads the labels that effects need, by kind.
func (r *reader) readEffectLabels(n *yaml.Node, at string) map[plan.EffectKind]string {
	out := map[plan.EffectKind]string{}
	keys := r.readObject(n, at, effectKindWords()...)
	for _, kind := range slices.Sorted(maps.Keys(keys)) {
		at := at + "." + kind
		r.note(keys[kind], constraint{"pattern": "^[^,]+$", "maxLength": maxLabelBytes})
		label, ok := r.readText(keys[kind], at)
		isBad := func(c rune) bool { return c < ' ' || c == 0x7f || c == ',' }
		switch {
		case !ok:
		case strings.TrimSpace(label) != label || strings.ContainsFunc(label, isBad) || len(label) > maxLabelBytes:
			r.fail(keys[kind].Line, at, "%s cannot be a label: a label has at most %d bytes, no comma, and no blank at its ends",
				phrase.Quote(label), maxLabelBytes)
		default:
			out[plan.EffectKind(kind)] = label
		}
	}
	return out
}
