package settings

import (
	"encoding/json"
	"regexp"
	"time"

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
