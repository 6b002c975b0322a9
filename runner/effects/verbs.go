package effects

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// listVerbs are the first words of the actions in lists, such as delete in delete_user, with
// the kind of their effect.
var listVerbs = kinds(map[plan.EffectKind]string{
	plan.EffectCreate: "add create insert invite grant register assign install provision attach import",
	plan.EffectDelete: "del delete remove destroy revoke unassign purge drop prune uninstall deprovision detach " +
		"unregister deregister terminate unshare replace recreate deactivate erase wipe truncate evict expel kick ban " +
		"demote " +
		"decommission offboard unlink unbind unsubscribe",
	plan.EffectChange: "update apply change set reset patch modify edit enable disable rotate recycle move rename " +
		"resize " +
		"rebase tag untag label annotate replicate write upgrade scale restart lock unlock archive unarchive close reopen " +
		"make transfer publish configure",
	plan.EffectOther: "send trigger share accept merge notify cancel",
})

// The verbs with which a sentence begins that announces an effect: as in "Creating …", as in
// "Created role: …", and as in "add user …".
var (
	gerunds = kinds(map[plan.EffectKind]string{
		plan.EffectCreate: "creating adding inviting granting provisioning installing assigning",
		plan.EffectChange: "updating setting moving enabling disabling resetting rotating recycling renaming resizing " +
			"restarting scaling upgrading patching archiving",
		plan.EffectOther: "sending triggering",
	})
	pasts = kinds(map[plan.EffectKind]string{
		plan.EffectCreate: "created added",
		plan.EffectDelete: "deleted removed destroyed",
		plan.EffectChange: "updated changed enabled disabled",
	})
	imperatives = kinds(map[plan.EffectKind]string{
		plan.EffectCreate: "create add",
		plan.EffectDelete: "delete remove destroy",
		plan.EffectChange: "update set",
	})
)

// gerundKind returns the kind of the first word of a sentence as in "Deleting …". Every verb that
// deletes counts, since a deletion that is missed is worse than one that is none.
func gerundKind(word string) plan.EffectKind {
	if kind := gerunds[word]; kind != "" {
		return kind
	}
	if kind, ok := listKind(word); ok && kind == plan.EffectDelete && strings.HasSuffix(word, "ing") {
		return kind
	}
	return ""
}

// kinds returns the kind of each word.
func kinds(words map[plan.EffectKind]string) map[string]plan.EffectKind {
	out := map[string]plan.EffectKind{}
	for kind, list := range words {
		for _, word := range strings.Fields(list) {
			out[word] = kind
		}
	}
	return out
}

// actionKind returns the kind of an action such as delete_user or "apply". isBare tells
// that the action is nothing but the verb.
func actionKind(action string) (kind plan.EffectKind, isBare, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(action), func(r rune) bool { return r == '_' || r == ' ' })
	if len(words) == 0 || len(action) > maxSubject {
		return "", false, false
	}
	kind, ok = listKind(words[0])
	if slices.Contains(words, "or") { // as in create_or_update
		kind = plan.EffectChange
	}
	return kind, len(words) == 1, ok
}

// listKind returns the kind of the first word of an action in a list, such as delete or
// deleting.
func listKind(word string) (plan.EffectKind, bool) {
	if kind, ok := listVerbs[word]; ok {
		return kind, true
	}
	base, ok := strings.CutSuffix(word, "ing")
	if !ok || len(base) < 2 {
		return "", false
	}
	bases := []string{base, base + "e"}
	if last := len(base) - 1; base[last] == base[last-1] { // as in resetting
		bases = append(bases, base[:last])
	}
	for _, b := range bases {
		if kind, ok := listVerbs[b]; ok {
			return kind, true
		}
	}
	return "", false
}
