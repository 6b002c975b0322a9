package promotions

import (
	"encoding/json"
	"strings"
	"testing"
)

// The shop of most timelines: stage, then canary, then production after a day.
const (
	shopFile  = `"app":"shop","file":"shop"`
	stage     = `{"name":"stage","follows":"main",` + shopFile + `}`
	canary    = `{"name":"canary","after":["stage"],"ref":"A",` + shopFile + `}`
	slowly    = `{"name":"production","after":["canary"],"ref":"A","soak_days":1,` + shopFile + `}`
	directly  = `{"name":"production","after":["stage"],"ref":"A",` + shopFile + `}`
	regions   = `{"name":"eu","after":["stage"],"ref":"A","approvers":"p",` + shopFile + `},{"name":"us","after":["s2"],"ref":"A","approvers":"p",` + shopFile + `}`
	secondOne = `{"name":"s2","follows":"main",` + shopFile + `}`
	began     = `["-240h","run","stage","A","ok"],["-240h","run","production","A","ok"],["-1h","loop","begin"],["0h","commit","shop","B"],["0h","run","stage","B","ok"],["0h","loop","first"]`
	janes     = `"settings":{"may":{"production":["jane"],"stage":["jane"],"eu":["jane"]}}`
)

// Each timeline follows from the words of the rule, see docs/saas.md.
func TestLedgerRules(t *testing.T) {
	for name, c := range map[string]struct{ input, expected string }{
		"a rollback of the publisher closes what it undid": {
			`{"targets":[` + stage + `,` + canary + `,` + slowly + `],"steps":[["-240h","run","canary","A","ok"],` + began + `,
			["1h","merge","canary"],["1h","run","canary","B","ok"],["26h","loop","L1"],["27h","edit","canary","A"],["27h","run","canary","A","ok"],
			["28h","loop","L2"],["28h","gate","production","B","G1"]]}`,
			`{"L1":{"production":"propose B"},"L2":{"production":"held B bad","requests":[]},"G1":"closed bad"}`},
		"a failed rollback of the publisher is one as well": {
			`{"targets":[` + stage + `,` + canary + `,` + slowly + `],"steps":[["-240h","run","canary","A","ok"],` + began + `,
			["1h","merge","canary"],["1h","run","canary","B","ok"],["2h","loop","L0"],["27h","edit","canary","A"],["27h","run","canary","A","failed"],["28h","loop","L1"]]}`,
			`{"L1":{"production":"held B bad"}}`},
		"a newer commit that fails stops the clock and takes nothing back": {
			`{"targets":[` + stage + `,{"name":"production","after":["stage"],"ref":"A","soak_days":1,` + shopFile + `}],"steps":[` + began + `,
			["20h","commit","shop","C"],["20h","run","stage","C","failed"],["30h","commit","shop","D"],["30h","run","stage","D","ok"],
			["31h","loop","L1"],["34h","loop","L2"]]}`,
			`{"L1":{"production":"held B soak until 06-02T18:00"},"L2":{"production":"propose B"}}`},
		"what is due for another target of the stage is added at once": {
			`{"targets":[` + stage + `,` + secondOne + `,` + regions + `],"steps":[["-240h","run","s2","A","ok"],["-240h","run","eu","A","ok"],["-240h","run","us","A","ok"],
			["-240h","run","stage","A","ok"],["-1h","loop","begin"],["0h","commit","shop","B"],["0h","run","stage","B","ok"],["0h","loop","L1"],
			["0h10m","run","s2","B","ok"],["0h10m","loop","L2"]]}`,
			`{"L1":{"requests":[["eu"]]},"L2":{"requests":[["eu","us"]]}}`},
		"what was rejected is no passenger of something newer": {
			`{"targets":[` + stage + `,` + secondOne + `,` + regions + `],"steps":[["-240h","run","s2","A","ok"],
			["-240h","run","stage","A","ok"],["-1h","loop","begin"],["0h","commit","shop","B"],["0h","run","stage","B","ok"],["0h","run","s2","B","ok"],["0h","loop","L1"],
			["1h","close","us"],["1h","loop","L2"],["2h","commit","shop","C"],["2h","run","stage","C","ok"],["2h","loop","L3"],["3h","merge","eu"],["3h","loop","L4"]]}`,
			`{"L1":{"requests":[["eu","us"]]},"L2":{"eu":"held B rejected","us":"held B rejected"},
			"L3":{"eu":"propose C","us":"held B rejected","requests":[["eu"]]},"L4":{"us":"held B rejected","requests":[]}}`},
		"two stages of one file are merged one after the other": {
			`{"targets":[` + stage + `,` + canary + `,` + directly + `],"steps":[["-240h","run","canary","A","ok"],` + began + `,
			["0h","loop","L1"],["1h","merge","canary"],["1h","merge","production"],["1h","loop","L2"]]}`,
			`{"L1":{"requests":[["canary"],["production"]]},"L2":{"canary":"nothing","production":"nothing","requests":[]}}`},
		"a command rejects one of two": {
			`{"targets":[` + stage + `,` + secondOne + `,` + regions + `],` + janes + `,"steps":[["-240h","run","s2","A","ok"],
			["-240h","run","stage","A","ok"],["-1h","loop","begin"],["0h","commit","shop","B"],["0h","run","stage","B","ok"],["0h","run","s2","B","ok"],["0h","loop","L1"],
			["1h","command","reject eu B","jane"],["1h","loop","L2"],["2h","close","us"],["2h","loop","L3"]]}`,
			`{"L1":{"requests":[["eu","us"]]},"L2":{"eu":"held B rejected","requests":[["us"]]},"L3":{"eu":"held B rejected","us":"held B rejected"},
			"ledger":["rejected eu B jane 1h","rejected us B somebody 2h"]}`},
		"nothing older comes when the newer one is rejected and blocked": {
			`{"targets":[` + stage + `,` + directly + `],"steps":[["-240h","run","stage","A","ok"],["-1h","loop","begin"],["0h","commit","shop","B"],["0h","run","stage","B","ok"],
			["1h","commit","shop","C"],["1h","run","stage","C","ok"],["1h","loop","L1"],["2h","close","production"],["2h","loop","L2"],["3h","block","shop","C"],["3h","loop","L3"]]}`,
			`{"L1":{"production":"propose C"},"L2":{"production":"held C rejected"},"L3":{"production":"held C blocked","requests":[]}}`},
		"a person pins, and takes it back": {
			`{"targets":[` + stage + `,` + directly + `],` + janes + `,"steps":[` + began + `,["1h","command","pin production","jane"],["1h","loop","L1"],
			["2h","command","unpin production","jane"],["2h","loop","L2"]]}`,
			`{"L1":{"production":"held B pinned","requests":[]},"L2":{"production":"propose B"},"ledger":["pinned production A jane 1h","unpinned production  jane 2h"]}`},
		"a person holds: nothing is proposed or run": {
			`{"targets":[` + stage + `,` + directly + `],` + janes + `,"steps":[` + began + `,["1h","command","hold production","jane"],["1h","loop","L1"],
			["1h","gate","production","A","G1"],["1h","gate","stage","B","G2"],["2h","command","hold stage","jane"],["2h","gate","stage","B","G3"],
			["3h","command","unhold production","jane"],["3h","loop","L2"],["3h","gate","production","A","G4"]]}`,
			`{"L1":{"production":"held B pinned","requests":[]},"L2":{"production":"propose B"},"G1":"closed pinned","G2":"open","G3":"closed pinned","G4":"open"}`},
		"a retry is an entry": {
			`{"targets":[` + stage + `,` + directly + `],` + janes + `,"steps":[` + began + `,["1h","commit","shop","C"],["1h","run","stage","C","failed"],
			["2h","command","retry stage","jane"],["2h","command","retry stage","joe"]]}`,
			`{"ledger":["retried stage C jane 2h","refused stage C joe 2h"],"runs":{"stage":["B ok 0h","C failed 1h"]}}`},
		"settings of a merge request are not read": {
			`{"targets":[` + stage + `,` + directly + `],` + janes + `,"steps":[` + began + `,["1h","branch_settings","may: {production: [joe]}"],
			["1h","command","reject production B","joe"],["1h","loop","L1"]]}`,
			`{"L1":{"production":"propose B"},"ledger":["refused production B joe 1h"]}`},
		"a branch of a person is left alone": {
			`{"targets":[` + stage + `,` + directly + `],"steps":[` + began + `,["0h10m","push","production"],["0h20m","edit_comment","production"],["0h20m","loop","L1"]]}`,
			`{"L1":{"production":"propose B","waits":["production B queued"]}}`},
		"one outage is one line, and closes nothing": {
			`{"targets":[` + stage + `,` + secondOne + `,` + regions + `],"steps":[["-240h","run","s2","A","ok"],["-240h","run","stage","A","ok"],["-1h","loop","begin"],
			["0h","commit","shop","B"],["0h","run","stage","B","ok"],["0h","run","s2","B","ok"],["0h","loop","L1"],["1h","down","records"],["2h","loop","L2"],["3h","up","records"],["3h","down","forge"],["3h","loop","L3"],
			["4h","up","forge"],["4h","down","code"],["4h","loop","L4"]]}`,
			`{"L2":{"requests":[["eu","us"]],"outages":1},"L3":{"requests":[["eu","us"]],"outages":1},"L4":{"requests":[["eu","us"]],"outages":1}}`},
		"soak: own counts its own alone": {
			`{"targets":[` + stage + `,{"name":"production","after":["stage"],"ref":"A","soak_days":1,` + shopFile + `}],"settings":{"soak":"own"},"steps":[` + began + `,
			["12h","commit","shop","C"],["12h","run","stage","C","ok"],["25h","loop","L1"],["36h","loop","L2"]]}`,
			`{"L1":{"production":"held C soak until 06-02T20:00"},"L2":{"production":"propose C"}}`},
		"a verification that finds a commit bad proposes the one before, and says so": {
			`{"targets":[` + stage + `,{"name":"production","after":["stage"],"ref":"A","verify":{"for":"30m","measure":"errors","back":true},` + shopFile + `}],
			"steps":[` + began + `,["1h","merge","production"],["1h","run","production","B","ok"],["1h10m","measure","production","bad"],["1h11m","loop","L1"],
			["2h","close","production"],["2h","loop","L2"]]}`,
			`{"L1":{"production":"propose A"},"L2":{"requests":[]}}`},
		"a verification that nobody answers is not good, and soak begins after it": {
			`{"targets":[` + stage + `,{"name":"canary","after":["stage"],"ref":"A","verify":{"for":"30m","measure":"errors"},` + shopFile + `},` + slowly + `],"steps":[
			["-240h","run","canary","A","ok"],` + began + `,["1h","merge","canary"],["1h","run","canary","B","ok"],["1h","measure","canary","unknown"],["2h","loop","L1"],
			["3h","measure","canary","good"],["4h","loop","L2"],["27h30m","loop","L3"]]}`,
			`{"L1":{"production":"held B verify"},"L2":{"production":"held B soak until 06-02T11:30"},"L3":{"production":"propose B"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var in timelineCase
			var expected map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.input), &in); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.expected), &expected); err != nil {
				t.Fatal(err)
			}
			in.Start = "2026-06-01T08:00Z"
			p := newTimeline(t, in)
			p.holds(expected)
			for _, m := range p.forge.requests {
				p.explains(m.Description)
			}
		})
	}
}

// explains holds that a merge request says why it promotes what is not usual, and nothing that is not so.
func (p *timeline) explains(text string) {
	b, _ := readBlock(text)
	for _, e := range b.Entries {
		back := strings.Contains(text, "it goes back, since a verification found")
		if want := e.Ref == commitOfLetter("shop", "A"); back != want {
			p.t.Errorf("the merge request says\n%s", text)
		}
	}
}
