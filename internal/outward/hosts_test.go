package outward

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/origin"
)

// A list of hosts with a text that names none is refused in one clear line.
func TestHostsMistake(t *testing.T) {
	for text, isFine := range map[string]bool{
		"github.com": true, "github.com:8443": true, "localhost": true, "127.0.0.1": true, "127.0.0.1:8443": true,
		"2001:db8::1": true, "[2001:db8::1]:8443": true, "": false, "*": false, "*.": false, "a.*.b": false,
		"*.example.com": false, "GitHub.com": false, "https://github.com": false, "github.com/x": false,
		"me@github.com": false, "me:too@github.com": false, "github.com:443": false, "github.com:0": false,
		"github.com:65536": false, "github.com:-1": false, "github.com:x": false, "github.com:": false,
		"fe80::1%eth0": false, "[2001:db8::1]": false, "2001:DB8::1": false, "2001:0db8::1": false, "a b": false,
		"a\nb": false, "127.1": true, "github.com?x": false, "github.com#x": false,
	} {
		for _, arePatterns := range []bool{false, true} {
			at, must := Hosts{"a.example", text}.Mistake(arePatterns)
			want := isFine || arePatterns && text == "*.example.com"
			if (at == -1) != want || at != -1 && at != 1 || strings.Contains(must, "\n") {
				t.Errorf("%q, patterns %t: got %d, %q", text, arePatterns, at, must)
			}
		}
	}
}

// A host without a port is the usual port, and each port that data name; what a server names by itself needs its port.
func TestHostsName(t *testing.T) {
	h := Hosts{"a.example", "b.example:8443", "*.c.example", "2001:db8::1"}
	for address, want := range map[string]struct{ byData, exactly bool }{
		"https://a.example": {true, true}, "https://A.example:443": {true, true}, "https://a.example:8443": {true, false},
		"https://b.example": {false, false}, "https://b.example:8443": {true, true}, "https://x.a.example": {false, false},
		"https://a.example.evil": {false, false}, "https://x.c.example": {true, false}, "https://c.example": {false, false},
		"https://evilc.example": {false, false}, "https://x.c.example:1": {true, false},
		"https://[2001:db8::1]": {true, true}, "https://[2001:db8::1]:8443": {true, false},
	} {
		at, err := origin.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		nobody := h.MayAsk(at, func(origin.Origin) bool { return false })
		if h.Name(at) != want.byData || h.NameExactly(at) != want.exactly || (nobody == nil) != want.exactly ||
			h.MayAsk(at, func(of origin.Origin) bool { return of == at }) != nil {
			t.Errorf("%s: got %t, %t, %v", address, h.Name(at), h.NameExactly(at), nobody)
		}
		if nobody != nil && (!IsRefused(nobody) || !strings.Contains(nobody.Error(), "add it to hosts")) {
			t.Errorf("%s: got %v", address, nobody)
		}
	}
	if h.Name(origin.Origin{}) || h.NameExactly(origin.Origin{}) || (Hosts{""}).Name(origin.Origin{}) {
		t.Error("what is no server is named")
	}
	a, err := origin.Parse("https://a.example:8443")
	if got := h.Unused([]origin.Origin{a}); err != nil || !slices.Equal(got, []string{"b.example:8443", "*.c.example",
		"2001:db8::1"}) {
		t.Errorf("got %q, %v", got, err)
	}
}
