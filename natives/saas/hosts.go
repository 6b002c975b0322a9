package saas

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
)

// The purposes of hosts.
const (
	forRepositories = "repositories"
	forImages       = "images"
	forBuilds       = "build servers"
	forMeasurements = "measurements"
)

// noLogin says what a host that the settings do not name does not get.
const noLogin = "it does not get the credentials that the data name"

// A hostList collects the hosts that the data name.
type hostList struct {
	settings Settings
	purposes map[string]map[string]bool // by host
	missing  map[string]bool
	servers  []origin.Origin
}

// add adds a host that is asked, with credentials of the data or without.
func (l *hostList) add(of origin.Origin, purpose string, hasCredentials bool) {
	if of.Host == "" {
		return
	}
	at := of.String()
	l.servers = append(l.servers, of)
	if l.purposes[at] == nil {
		l.purposes[at] = map[string]bool{}
	}
	l.purposes[at][purpose] = true
	_, hasLogin := l.settings.Logins[of.Host]
	if hasCredentials && !hasLogin && !l.settings.Hosts.Name(of) {
		l.missing[at] = true
	}
}

// addAddress adds the host of an address.
func (l *hostList) addAddress(address, purpose string, hasCredentials bool) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if at, err := origin.Any(u); err == nil {
		l.add(at, purpose, hasCredentials)
	}
}

// UsesHosts returns the hosts that the data name, and those that the settings name, as
// [integration.HostUser] does. Build servers and measurements are those that gates of pipelines ask. It
// fails if the data cannot be read.
func UsesHosts(
	ctx context.Context, query integration.QueryFunc, s Settings, withGates bool,
) ([]integration.HostUse, error) {
	m, err := Read(ctx, query, s)
	if err != nil {
		return nil, err
	}
	return m.usesHosts(s, withGates), nil
}

func (m *Model) usesHosts(s Settings, withGates bool) []integration.HostUse {
	l := &hostList{settings: s, purposes: map[string]map[string]bool{}, missing: map[string]bool{}}
	for _, f := range m.Files {
		for _, pattern := range f.ImagePatterns {
			if host, _, hasPath := strings.Cut(pattern, "/"); hasPath && strings.ContainsAny(host, ".:") {
				l.add(registryOf(pattern), forImages, f.Image != nil)
			}
		}
		for _, t := range f.Templates {
			l.addAddress(t.URL, forRepositories, f.Code != nil)
			for _, to := range t.Targets {
				if withGates {
					l.addGates(f, to)
				}
			}
		}
	}
	return l.uses()
}

// addGates adds the hosts that the gates of a target ask.
func (l *hostList) addGates(f *File, t *Target) {
	if t.Upstream != nil {
		l.addAddress(t.Upstream.ServerURL, forBuilds, t.Upstream.Token.Path != "")
	}
	for _, i := range t.Images {
		l.add(registryOf(i.Registry+"/"), forImages, f.Image != nil)
	}
	for _, slo := range t.SLOs {
		for _, at := range slo.Namespaces {
			l.addAddress(at.URL, forMeasurements, at.Token != nil || at.User != nil || at.Password != nil)
		}
	}
}

// uses returns the hosts, with those that the settings name and no data.
func (l *hostList) uses() []integration.HostUse {
	var out []integration.HostUse
	for _, at := range slices.Sorted(maps.Keys(l.purposes)) {
		use := integration.HostUse{Host: at, For: strings.Join(slices.Sorted(maps.Keys(l.purposes[at])), ", ")}
		if l.missing[at] {
			use.Missing = noLogin
		}
		out = append(out, use)
	}
	allowed := append(slices.Collect(maps.Keys(l.settings.Logins)), l.settings.Hosts...)
	slices.Sort(allowed)
	for _, host := range outward.Hosts(slices.Compact(allowed)).Unused(l.servers) {
		out = append(out, integration.HostUse{Host: host})
	}
	return out
}
