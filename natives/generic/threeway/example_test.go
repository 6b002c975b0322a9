package threeway_test

import (
	"fmt"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// The data want another size and no longer have a tag. Somebody else added a tag, which stays.
func ExampleMake() {
	applied, _ := body.Parse([]byte(`{"size": 1, "tags": {"team": "a", "old": "x"}}`))
	desired, _ := body.Parse([]byte(`{"size": 2, "tags": {"team": "a"}}`))
	live, _ := body.Parse([]byte(`{"id": "/x", "size": 1.0, "tags": {"team": "a", "old": "x", "portal": "y"}}`))
	p := threeway.Make(threeway.Input{
		Applied: applied, Desired: desired, Live: live, WasApplied: true, IsThere: true,
		Rules: rules.Table{{At: "/id", Rule: rules.Rule{ReadOnly: true}}},
	})
	fmt.Print(p)
	fmt.Println(body.Text(p.MergePatch))
	fmt.Println(body.Text(p.PutBody))
	// Output:
	// update: 2 changes
	//   ~ size: 1.0 → 2  desired: the data changed
	//   - tags.old: x  removed: the data have it no longer
	// {"size":2,"tags":{"old":null}}
	// {"size":2,"tags":{"portal":"y","team":"a"}}
}
