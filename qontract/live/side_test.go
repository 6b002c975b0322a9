package live_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
)

// No root field lists the type Hidden_v1, so its field followers cannot be recognized as one
// of back references. If the answers of the server have errors, package affected then cannot
// know which parts of them the change can reach, and says so.
func TestUnknownBackReferences(t *testing.T) {
	withFollowers := func(name string) object {
		w := world()
		user := at(w, "/users/ana.yml")
		user["name"], user["hidden"] = name, object{"$ref": "/hidden/1.yml"}
		for _, c := range w["graphql"].(object)["confs"].(list) {
			if kind := c.(object); kind["name"] == "Hidden_v1" {
				kind["fields"] = append(kind["fields"].([]object), object{"name": "followers", "type": "User_v1", "isList": true,
					"synthetic": object{"schema": "/user-1.yml", "subAttr": "hidden"}})
			}
		}
		return w
	}
	const query = `{ roles { hidden { followers { name } } } resources { backrefs { type } } }`
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [run]}\nintegrations: {it-00: {queries: [q]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	base := parse(t, written(t, withFollowers("ana")), nil)
	from, to := serve(t, base, parse(t, written(t, withFollowers("anna")), base))
	b, err := live.Open(t.Context(), from, to, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), planner.Input{
		Base: b.Base, Head: b.Head, BaseServer: b.BaseSide, HeadServer: b.HeadSide,
		Settings: rules, ReadQuery: func(string) ([]byte, error) { return []byte(query), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	d, _ := p.Decision("it-00")
	if d.Decision != plan.Run || !strings.Contains(d.Reason, "does not tell what the change can reach") {
		t.Errorf("got %s: %s, want that it runs since the server does not tell what the change can reach", d.Decision, d.Reason)
	}
	if !b.BaseSide.Vague([]string{"Hidden_v1"}) || b.BaseSide.Vague([]string{"User_v1"}) {
		t.Error("not exactly the back references of Hidden_v1 are unknown")
	}
}
