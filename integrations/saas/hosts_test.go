package saas

import "testing"

func TestIsHost(t *testing.T) {
	for text, want := range map[string]bool{
		"github.com": true, "github.com:8443": true, "localhost": true, "192.0.2.1": true, "192.0.2.1:5000": true, "2001:db8::1": true, "[2001:db8::1]:5000": true,
		"": false, "GitHub.com": false, "*.github.com": false, "user@github.com": false, "github.com/a": false, "https://github.com": false, "github.com:443": false,
		"github.com:0": false, "github.com:65536": false, "github.com:": false, "github.com:x": false, "fe80::1%eth0": false, "github.com?x": false, "git hub": false,
	} {
		if got := isHost(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}
