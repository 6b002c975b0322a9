package saas

import (
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// Each host of the data is told with its purposes and with what it does not get, and each host of the settings that
// no data name.
func TestUsesHosts(t *testing.T) {
	code := &integration.SecretRef{Path: "a"}
	m := &Model{Files: []*File{
		{Code: code, ImagePatterns: []string{"quay.io/a", "registry.example.net:5000/a", "shop/a"}, Templates: []*Template{
			{URL: "https://GitHub.com/a/b"}, {URL: "https://gitlab.example.net:8443/a/b"},
			{URL: "https://git.example.net/a/b"}}},
		{Image: code, ImagePatterns: []string{"quay.io/b"},
			Templates: []*Template{{URL: "https://open.example.net/a", Targets: []*Target{{
				Upstream: &Upstream{ServerURL: "https://jenkins.example.net", Token: *code}, Images: []Image{{Registry: "quay.io"}},
				SLOs: []*SLODocument{{Namespaces: []SLONamespace{{URL: "https://prometheus.example.net", Token: code}}}},
			}}}}},
	}}
	s := Settings{Hosts: []string{"github.com", "gitlab.example.net:8443", "old.example.net", "prometheus.example.net"},
		Logins: map[string]LoginSecret{"git.example.net": {}, "left.example.net": {}}}
	for withGates, want := range map[bool]string{
		false: "git.example.net (repositories) | github.com (repositories) | gitlab.example.net:8443 (repositories) | open.example.net (repositories) | quay.io (images) missing | " +
			"registry.example.net:5000 (images) | left.example.net () | old.example.net () | prometheus.example.net ()",
		true: "git.example.net (repositories) | github.com (repositories) | gitlab.example.net:8443 (repositories) | jenkins.example.net (build servers) missing | " +
			"open.example.net (repositories) | prometheus.example.net (measurements) | quay.io (images) missing | registry.example.net:5000 (images) | left.example.net () | old.example.net ()",
	} {
		got := ""
		for i, u := range m.usesHosts(s, withGates) {
			if i > 0 {
				got += " | "
			}
			got += fmt.Sprintf("%s (%s)", u.Host, u.For)
			if u.Missing != "" {
				got += " missing"
			}
		}
		if got != want {
			t.Errorf("gates %v: got\n%s\nwant\n%s", withGates, got, want)
		}
	}
}
