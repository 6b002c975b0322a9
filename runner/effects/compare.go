package effects

import "github.com/app-sre/prcheck/plan"

// Compare returns head's effects with the sides on which each is announced. Effects count as
// often as they are announced: what head announces twice and base once is pending once and
// new once. Effects that base alone announces come last. What the data of both sides alone say is new
// already.
//
// If one side is unknown, or is not complete, head's effects are returned as they are, with
// the reason.
func Compare(head, base *plan.Effects) *plan.Effects {
	switch {
	case head == nil || head.Unknown != "":
		return head
	case base == nil:
		return Uncompared(head, "nobody looked for effects on base")
	case base.Unknown != "":
		return Uncompared(head, "on base: "+base.Unknown)
	case len(head.Beyond)+len(base.Beyond) > 0:
		return Uncompared(head, "there are too many effects to compare")
	}
	onBase := map[plan.Effect]int{}
	for _, item := range base.Items {
		onBase[nameOf(item)] += max(1, item.Times)
	}
	out := *head
	out.Compared, out.Uncompared, out.Items = true, "", []plan.Effect{}
	add := func(item plan.Effect, since plan.Since, times int) {
		if times <= 0 {
			return
		}
		item.Since, item.Times = since, 0
		if times > 1 {
			item.Times = times
		}
		out.Items = append(out.Items, item)
	}
	for _, item := range head.Items {
		times := max(1, item.Times)
		if item.Known.How == plan.KnownData {
			add(item, plan.SinceChange, times)
			continue
		}
		pending := min(times, onBase[nameOf(item)])
		onBase[nameOf(item)] -= pending
		add(item, plan.SinceBase, pending)
		add(item, plan.SinceChange, times-pending)
	}
	for _, item := range base.Items {
		add(item, plan.SinceGone, onBase[nameOf(item)])
		onBase[nameOf(item)] = 0
	}
	return &out
}

// nameOf returns what makes two effects the same effect.
func nameOf(e plan.Effect) plan.Effect {
	return plan.Effect{Kind: e.Kind, Subject: e.Subject, Digest: e.Digest}
}

// Uncompared returns a copy of effects that says why they were not compared with base.
func Uncompared(e *plan.Effects, why string) *plan.Effects {
	out := *e
	out.Uncompared = why
	return &out
}
