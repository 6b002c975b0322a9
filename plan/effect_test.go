package plan

import "testing"

func TestCountOfEffects(t *testing.T) {
	e := &Effects{
		Items: []Effect{
			{Kind: EffectDelete, Subject: "a", Since: SinceChange},
			{Kind: EffectDelete, Subject: "b", Since: SinceGone},
			{Kind: EffectDelete, Subject: "c", Since: SinceBase, Times: 3},
			{Kind: EffectCreate, Subject: "d"},
		},
		Beyond: map[EffectKind]int{EffectDelete: 5},
	}
	want := map[EffectKind]int{EffectDelete: 9, EffectCreate: 1, EffectChange: 0, EffectOther: 0}
	for _, kind := range EffectKinds() {
		if got := e.Count(kind); got != want[kind] {
			t.Errorf("%d of kind %s, want %d", got, kind, want[kind])
		}
	}
}
