package classes

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatTransitionRulesLeaveFree(t *testing.T) {
	for _, c := range []struct {
		rule       string
		set, unset bool
	}{
		{"self.x == oldSelf.x", false, false},
		{"!has(oldSelf.x) || self.x == oldSelf.x", true, false},
		{"!has(self.x) || self.x == oldSelf.x", false, true},
		{"!has(self.x) || !has(oldSelf.x) || oldSelf.x == self.x", true, true},
		{"has(self.x) == has(oldSelf.x)", false, false},
		{"!has(oldSelf.x) || has(self.x)", true, false},
		{"has(self.x) || !has(oldSelf.x)", true, false},
		{"has(self.x) || !has(oldSelf.x) || self.y == 1", false, false},
		{"self.y == oldSelf.y", true, true},
		{"has(self.x) && self.x > 3", true, true},
		{"self.all(k, k in oldSelf)", false, false},
		{"self.y == oldSelf.y && (!has(oldSelf.x) || self.x == oldSelf.x)", true, false},
		{"self.x == oldSelf.x" + strings.Repeat(" ", maxRule), false, false},
	} {
		if set, unset := leaves(c.rule, ".x"); set != c.set || unset != c.unset {
			t.Errorf("%.60q: got %t, %t", c.rule, set, unset)
		}
	}
	if set, unset := leaves("self == oldSelf", ""); !set || !unset {
		t.Error("a rule at the value counts only while the value is there")
	}
}

func TestTransitionRules(t *testing.T) {
	for _, c := range []struct {
		rule string
		want []string
	}{
		{"self == oldSelf", []string{""}},
		{"oldSelf==self", []string{""}},
		{"self.zone == oldSelf.zone", []string{".zone"}},
		{"self.a.b == oldSelf.a.b && oldSelf.c == self.c", []string{".a.b", ".c"}},
		{"!has(oldSelf.x) || self.x == oldSelf.x", []string{".x"}},
		{"(!has(self.x) || self.x == oldSelf.x) && has(self.y) == has(oldSelf.y)", []string{".x"}},
		{"has(self.y) == has(oldSelf.y)", nil},
		{"self.x == oldSelf.y", nil},
		{"self.x == oldSelf.x || self.y", nil},
		{"self.x >= oldSelf.x", nil},
		{"self.x == oldSelf.x && self.y > 3", nil},
		{"!(self == oldSelf)", nil},
		{"self.all(x, x == oldSelf)", nil},
		{"", nil},
		{"self.x == oldSelf.x" + strings.Repeat(" ", maxRule), nil},
	} {
		if got := keeps(c.rule); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.rule, got, c.want)
		}
	}
}
