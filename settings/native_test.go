package settings

import (
	"reflect"
	"strings"
	"testing"
)

var nativeMistakes = []mistake{
	{"native as list", inIntegration("native: [x]"), "4: integrations.a.native: must be a string, got a list"},
	{"native of no name", inIntegration("native: ''"), "4: integrations.a.native: is empty"},
	{"settings as text", inIntegration("settings: x"),
		`4: integrations.a.settings: must be a mapping, got the string "x"`},
	{"settings of nothing", inIntegration("settings:"), "4: integrations.a.settings: must be a mapping, got nothing"},
	{"setting twice", inIntegration("settings:\n  x: {y: 1,\n    y: 2}"),
		`6: integrations.a.settings.x: duplicate key "y", first on line 5`},
	{"number as setting", inIntegration("settings:\n  x: [{1: 2}]"),
		`5: integrations.a.settings.x[0]: a key must be a string, got the number "1"`},
	{"alias in settings", inIntegration("settings:\n  x: &x {y: 1}\n  z: [*x]"),
		"6: integrations.a.settings.z[0]: must be a string, a number, a truth value, a list or a mapping, got an alias (*x), which is not supported"},
	{"merge key in settings", inIntegration("settings:\n  x: &x {y: 1}\n  z: {<<: *x}"),
		"6: integrations.a.settings.z: merge keys (<<) are not supported; write the keys out"},
	{"tag in settings", inIntegration("settings: {x: !!binary aGk=}"),
		"4: integrations.a.settings.x: must be a string, a number, a truth value, a list or a mapping, got a binary"},
	{"no number in settings", inIntegration("settings: {x: .nan}"),
		`4: integrations.a.settings.x: must be a string, a number, a truth value, a list or a mapping, got the number ".nan"`},

	{"deletes as number", inIntegration("deletes: 3"), `4: integrations.a.deletes: must be a mapping, got the number "3"`},
	{"misspelt deletes", inIntegration("deletes: {precent: 3}"),
		`4: integrations.a.deletes: unknown key "precent" (did you mean "percent"?)`},
	{"negative deletes", inIntegration("deletes: {max: -1}"),
		"4: integrations.a.deletes.max: must be from 0 to 1000000, got -1"},
	{"too many percent", inIntegration("deletes: {percent: 101}"),
		"4: integrations.a.deletes.percent: must be from 0 to 100, got 101"},
	{"percent as text", inIntegration("deletes: {percent: 20%}"),
		`4: integrations.a.deletes.percent: must be a whole number, got the string "20%"`},
	{"floor as fraction", inIntegration("deletes: {floor: 1.5}"),
		`4: integrations.a.deletes.floor: must be a whole number, got the number "1.5"`},
	{"off as word", inIntegration("deletes: {off: yes}"),
		`4: integrations.a.deletes.off: must be true or false, got the string "yes"`},
	{"approved as mapping", inIntegration("deletes: {approved: {a: 2026-01-31}}"),
		"4: integrations.a.deletes.approved: must be a list, got a mapping"},
	{"approved without a day", inIntegration("deletes:\n  approved:\n    - key: x"),
		"6: integrations.a.deletes.approved[0]: until is missing"},
	{"approved for ever", inIntegration("deletes:\n  approved:\n    - key: x\n      until: for ever"),
		`7: integrations.a.deletes.approved[0].until: must be a day such as 2026-01-31, got the string "for ever"`},
	{"no day of the year", inIntegration("deletes: {approved: [{key: x, until: 2026-02-30}]}"),
		`4: integrations.a.deletes.approved[0].until: must be a day such as 2026-01-31, got the string "2026-02-30"`},
	{"a short day", inIntegration("deletes: {approved: [{key: x, until: 2026-2-3}]}"),
		`4: integrations.a.deletes.approved[0].until: must be a day such as 2026-01-31, got a timestamp`},
	{"day and hour", inIntegration("deletes: {approved: [{key: x, until: 2026-02-03T10:00:00Z}]}"),
		"4: integrations.a.deletes.approved[0].until: must be a day such as 2026-01-31, got a timestamp"},
	{"day as list", inIntegration("deletes: {approved: [{key: x, until: [2026-02-03]}]}"),
		"4: integrations.a.deletes.approved[0].until: must be a day such as 2026-01-31, got a list"},
	{"approved nothing", inIntegration("deletes: {approved: [{until: 2026-02-03}]}"),
		"4: integrations.a.deletes.approved[0]: key is missing"},
	{"approved twice",
		inIntegration("deletes:\n  approved:\n    - {key: x, until: 2026-02-03}\n    - {key: x, until: 2027-02-03}"),
		`7: integrations.a.deletes.approved[1]: "x" is already approved on line 6`},
	{"approved a long key", inIntegration("deletes: {approved: [{until: 2026-02-03, key: " + strings.Repeat("x", 1025) +
		"}]}"), "4: integrations.a.deletes.approved[0].key: is longer than 1024 bytes"},

	{"adopt as text", inIntegration("adopt: '**'"), `4: integrations.a.adopt: must be a list, got the string "**"`},
	{"adopt nothing", inIntegration("adopt: []"), "4: integrations.a.adopt: is empty; it needs at least one entry"},
	{"adopt by a bad pattern", inIntegration("adopt: [ok, 'a[']"), `4: integrations.a.adopt: pattern "a[" is malformed`},
	{"adopt by a costly pattern", inIntegration("adopt: ['" + strings.Repeat("{a,b}", 5) + "']"),
		`4: integrations.a.adopt: pattern "{a,b}{a,b}{a,b}{a,b}{a,b}" has more than 4 groups of alternatives`},
	{"take over by a long pattern", inIntegration("take_over: [" + strings.Repeat("x", 1025) + "]"),
		`4: integrations.a.take_over: pattern "` + strings.Repeat("x", 80) + `"… is longer than 1024 bytes`},
	{"take over by many patterns", inIntegration("take_over: [" + strings.Repeat("x, ", 101) + "]"),
		"4: integrations.a.take_over: has more than 100 patterns"},
	{"take over from itself", inIntegration("take_over_from: a"),
		"4: integrations.a.take_over_from: names this integration; name another one, whose things it takes over"},
	{"take over from a list", inIntegration("take_over_from: [b]"),
		"4: integrations.a.take_over_from: must be a string, got a list"},
	{"server dry run as word", inIntegration("server_dry_run: yes"),
		`4: integrations.a.server_dry_run: must be true or false, got the string "yes"`},
	{"server dry run as list", inIntegration("server_dry_run: [true]"),
		`4: integrations.a.server_dry_run: must be true or false, got a list`},
	{"general server dry run", "version: 1\nserver_dry_run: true\n", `2: unknown key "server_dry_run"`},
	{"general deletes", "version: 1\ndeletes: {max: 1}\n", `2: unknown key "deletes"`},
}

func TestNativeMistakes(t *testing.T) {
	for _, m := range nativeMistakes {
		t.Run(m.name, func(t *testing.T) {
			s, err := Read("prcheck.yaml", []byte(m.text))
			if err == nil {
				t.Fatalf("read %+v", s.For("a"))
			}
			if want := "prcheck.yaml:" + m.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}

func TestReadNative(t *testing.T) {
	s := read(t, `version: 1
integrations:
  a:
    native: namespaces
    settings: {clusters: [x]}
    deletes:
      max: 0
      percent: 100
      off: true
      approved:
        - {key: "c1/team a", until: 2026-01-31}
        - {key: arn:aws:iam::1:user/x, until: '2024-02-29'}
    adopt: [c1/*, "/subscriptions/**"]
    take_over: ["**"]
    take_over_from: openshift-namespaces
    server_dry_run: true
    shards: {strategy: per-openshift-cluster}
`)
	zero, all := 0, 100
	got := s.For("a")
	want := Deletes{Max: &zero, Percent: &all, Off: true, Approved: []Approval{{"c1/team a", "2026-01-31", 11},
		{"arn:aws:iam::1:user/x", "2024-02-29", 12}}}
	if !reflect.DeepEqual(got.Deletes, want) {
		t.Errorf("got %+v, want %+v", got.Deletes, want)
	}
	if got.Native != "namespaces" || got.TakeOverFrom != "openshift-namespaces" || !got.ServerDryRun ||
		got.Own.Line != 5 || got.Own.At != "integrations.a.settings" {
		t.Errorf("got %+v", got)
	}
	keys := []Name{{"native", 4}, {"settings", 5}, {"deletes", 7}, {"adopt", 13}, {"take_over", 14},
		{"take_over_from", 15}, {"server_dry_run", 16}}
	if !reflect.DeepEqual(got.NativeKeys, keys) {
		t.Errorf("got the keys %v, want %v", got.NativeKeys, keys)
	}
	for key, want := range map[string][2]bool{
		"c1/x": {true, true}, "c1/x/y": {false, true}, "/subscriptions/1/r": {true, true}, "": {false, true},
		"c2/x": {false, true},
	} {
		if adopt, takeOver := got.Claims(key); adopt != want[0] || takeOver != want[1] {
			t.Errorf("%q: got %t, %t, want %v", key, adopt, takeOver, want)
		}
	}
}
