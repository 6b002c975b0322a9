package generic

import (
	"context"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// usesHosts returns the hosts of the endpoints of the data, and those that the settings name.
func (g *generic) usesHosts(ctx context.Context, query integration.QueryFunc,
	it settings.Integration) ([]integration.HostUse, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	m, err := g.read(ctx, query)
	if err != nil {
		return nil, err
	}
	uses := map[string]integration.HostUse{}
	for _, a := range m.APIs {
		host := hostOf(a.Endpoint)
		if host == "" {
			continue
		}
		uses[host] = integration.HostUse{Host: host, For: "endpoints"}
		if !s.mayAsk(host) {
			uses[host] = integration.HostUse{Host: host, For: "endpoints", Missing: "its resources are left out"}
		}
	}
	for _, allowed := range s.Hosts {
		one := ownSettings{Hosts: []string{allowed}}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(uses)), one.mayAsk) {
			uses[allowed] = integration.HostUse{Host: allowed}
		}
	}
	var out []integration.HostUse
	for _, host := range slices.Sorted(maps.Keys(uses)) {
		out = append(out, uses[host])
	}
	return out, nil
}
