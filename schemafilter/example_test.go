package schemafilter_test

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// A user changes. The integration users may read users, the others may not or
// have no dry-run.
func ExampleFilter() {
	const text = `{"data":{
		"/i/dns.yml":   {"$schema":"/app-sre/integration-1.yml","name":"dns","schemas":["/zone-1.yml"],"pr_check":{"cmd":"dns"}},
		"/i/users.yml": {"$schema":"/app-sre/integration-1.yml","name":"users","schemas":["/user-1.yml"],"pr_check":{"cmd":"users"}},
		"/i/watch.yml": {"$schema":"/app-sre/integration-1.yml","name":"watch","schemas":["/user-1.yml"]},
		"/ana.yml":     {"$schema":"/user-1.yml","roles":[]}},"resources":{}}`
	base, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	head, err := bundle.Parse([]byte(strings.Replace(text, `"roles":[]`, `"roles":["dev"]`, 1)), base)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := schemafilter.Input{
		Settings: &settings.Settings{},
		Changes: schemafilter.Collect(base, head, bundle.Compare(base, head),
			func() *bundle.Mentions { return bundle.IndexMentions(base, head) }),
	}
	if in.Base, err = integration.List(base, nil); err != nil {
		fmt.Println(err)
		return
	}
	if in.Head, err = integration.List(head, nil); err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range schemafilter.Filter(in) {
		fmt.Printf("%s: %s at %s, %s\n", o.Name, o.Conclusion.Action, o.Conclusion.Rung, o.Conclusion.Sentence())
	}
	// Output:
	// dns: skip at schema, no changed file has /zone-1.yml, all that it may read
	// users: run at schema, it may read /ana.yml, which changed, and has no queries to look closer
	// watch: skip at definition, it has no pr_check
}
