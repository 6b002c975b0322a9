package threeway_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// A create-only value that the data did not change never makes a replacement, whatever is allowed, and no remedy that is
// told would make one.
func TestDriftNeverDestroys(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		applied, desired, live object
		isNew                  bool // it was never applied
		want                   threeway.Action
	}{
		"the data changed it":                  {object{"a": "1"}, object{"a": "2"}, object{"a": "1"}, false, threeway.Replace},
		"the data changed it, and live too":    {object{"a": "1"}, object{"a": "2"}, object{"a": "3"}, false, threeway.Replace},
		"the data cleared it":                  {object{"a": "1"}, object{"a": nil}, object{"a": "1"}, false, threeway.Replace},
		"drift":                                {object{"a": "1"}, object{"a": "1"}, object{"a": "2"}, false, threeway.Blocked},
		"it vanished":                          {object{"a": "1"}, object{"a": "1"}, object{"n": "1"}, false, threeway.Blocked},
		"drift beside a change of another one": {object{"a": "1", "n": "1"}, object{"a": "1", "n": "2"}, object{"a": "2", "n": "1"}, false, threeway.Blocked},
		"drift beside a replacement":           {object{"a": "1", "b": "1"}, object{"a": "1", "b": "2"}, object{"a": "2", "b": "1"}, false, threeway.Replace},
		"it is taken":                          {nil, object{"a": "1"}, object{"a": "2"}, true, threeway.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{rules.Declared, rules.Inferred} {
				of := rules.Table{{At: "/a", Rule: rules.Rule{CreateOnly: kind}}, {At: "/b", Rule: rules.Rule{CreateOnly: kind}}}
				p := threeway.Make(threeway.Input{Applied: c.applied, WasApplied: !c.isNew, Desired: c.desired, Live: c.live, IsThere: true, Rules: of, AllowReplace: true})
				if p.Action != c.want {
					t.Fatalf("%s: the plan is %s, want %s: %+v", kind, p.Action, c.want, p.Changes)
				}
				for _, v := range p.Violations {
					if c.want == threeway.Blocked && (strings.Contains(v.Message, "allowReplace") || !strings.Contains(v.Message, `ignore: ["/a"]`)) {
						t.Errorf("%s: the message is %q", kind, v.Message)
					}
				}
			}
		})
	}
}
