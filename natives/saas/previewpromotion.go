package saas

import (
	"fmt"
	"slices"
	"strings"
)

// promotes reports whether promotions are made for a target.
func (t *Target) promotes() bool {
	return t != nil && t.Promotion != nil && t.Promotion.Auto && len(t.Promotion.Subscribe) > 0 && !t.Disable &&
		!t.Delete &&
		t.Broken == "" && t.Template.File.Broken == "" && !t.Template.File.Deprecated
}

// promotion says what becomes of the promotion of a target of head.
func (p *previewer) promotion(t *Target) {
	old := p.before[t.place()]
	line := PreviewLine{Subject: t.Label(), Place: t.Place}
	switch {
	case t.promotes() && !old.promotes():
		line.Verb, line.Reasons = VerbOpen,
			[]string{"it follows " + strings.Join(t.Promotion.Subscribe, ", ") + " from now on"}
	case !t.promotes() && old.promotes():
		line.Verb, line.Reasons = VerbDrop, []string{notPromoted(t)}
	case t.promotes():
		line.Verb, line.Reasons = VerbChange, p.promotionChanges(old, t)
		if moved := p.publishedCommits(t); len(moved) > 0 {
			if len(line.Reasons) == 0 {
				line.Verb = VerbOpen
			}
			line.Reasons = append(line.Reasons, moved...)
		}
	}
	if len(line.Reasons) > 0 {
		p.out.Promotions = append(p.out.Promotions, line)
	}
}

// notPromoted returns why no promotions are made for a target.
func notPromoted(t *Target) string {
	switch {
	case t.Broken != "" || t.Template.File.Broken != "":
		return "it is held: " + t.Broken + t.Template.File.Broken
	case t.Template.File.Deprecated:
		return "its saas file is deprecated"
	case t.Disable:
		return "it is disabled"
	case t.Delete:
		return "it says delete"
	}
	return "it says no auto promotion any more"
}

// promotionChanges returns what a change does to the promotion of a target.
func (p *previewer) promotionChanges(old, t *Target) []string {
	var out []string
	differ := func(name, before, after string) {
		if before != after {
			out = append(out, fmt.Sprintf("%s from %s to %s", name, orNone(before), orNone(after)))
		}
	}
	differ("ref", short(old.Ref), short(t.Ref))
	differ("subscribe", sortedText(old.Promotion.Subscribe), sortedText(t.Promotion.Subscribe))
	differ("soakDays", fmt.Sprint(old.Promotion.SoakDays), fmt.Sprint(t.Promotion.SoakDays))
	differ("schedule", old.Promotion.Schedule, t.Promotion.Schedule)
	differ("redeployOnPublisherConfigChange", fmt.Sprint(old.Promotion.Redeploy), fmt.Sprint(t.Promotion.Redeploy))
	before, after := p.base.Component(old), p.head.Component(t)
	differ("blockedVersions", sortedText(before.Blocked), sortedText(after.Blocked))
	differ("hotfixVersions", sortedText(before.Hotfix), sortedText(after.Hotfix))
	for _, channel := range t.Promotion.Subscribe {
		if !old.Subscribes(channel) {
			continue
		}
		differ("publishers of "+channel, labels(p.base.Publishers(channel)), labels(p.head.Publishers(channel)))
	}
	return out
}

// publishedCommits returns which commits a target could be promoted to because the change makes a
// publisher deploy them: those that the data name. Where branches go the data do not say. It also
// tells of publishers whose configuration changes, if the target follows that.
func (p *previewer) publishedCommits(t *Target) []string {
	var out []string
	for _, channel := range t.Promotion.Subscribe {
		for _, from := range p.head.Publishers(channel) {
			old := p.before[from.place()]
			switch {
			case old == nil || from.Hash() == old.Hash():
			case from.Ref != old.Ref && IsCommit(from.Ref) && from.Ref != t.Ref:
				out = append(out, fmt.Sprintf("to %s, once %s runs it", short(from.Ref), from.Label()))
			case from.Ref == old.Ref && t.Promotion.Redeploy:
				out = append(out, fmt.Sprintf("with the new configuration of %s, once that runs", from.Label()))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gone tells of a target that head does not have.
func (p *previewer) gone(t *Target) {
	if of := p.head.File(t.Template.File.Name); of != nil && of.Broken != "" {
		return // that was told
	}
	if t.promotes() {
		p.out.Promotions = append(p.out.Promotions, PreviewLine{Subject: t.Label(), Verb: VerbDrop, Place: t.Place,
			Reasons: []string{"it is gone from the data"}})
	}
	if !t.Delete && !t.Disable {
		p.unknown(t.Label(), t.Place.File, "it is gone from the data without delete: true before, so nothing starts, and "+
			"its objects stay")
	}
}

// labels returns the names of targets for people, sorted.
func labels(targets []*Target) string {
	var out []string
	for _, t := range targets {
		out = append(out, t.Label())
	}
	return sortedText(out)
}

// sortedText returns texts as one, sorted.
func sortedText(list []string) string {
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

// orNone returns a text, or a word for none.
func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
