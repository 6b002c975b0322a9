package armtest

import (
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/examples/cloud"
)

// Example returns the service of examples/cloud, with the behaviour of its types. None of them takes
// time, and nothing goes wrong, until a test or [Server.Describe] says so.
func Example() (*Server, error) {
	specifications, err := cloud.Specifications()
	if err != nil {
		return nil, err
	}
	return Open(slices.Collect(maps.Values(specifications)), Behaviours())
}

// Behaviours are those of the types of the example.
func Behaviours() map[string]Behaviour {
	location := map[string]func(any) any{"location": PlainLocation}
	return map[string]Behaviour{
		"Example.Cache/caches": {
			Required:   []string{"location", "properties.sku"},
			CreateOnly: []string{"location", "properties.subnetId", "properties.staticIP"},
			WriteOnly:  []string{"properties.adminPassword"}, ReadOnly: []string{"properties.port"},
			Defaults: map[string]any{
				"properties.minimumTlsVersion": "1.2", "properties.enableNonSslPort": false, "properties.port": 6379,
			},
			Computed: map[string]string{"properties.hostName": "{name}.cache.example"},
			Spelling: location, Folded: []string{"properties.subnetId"}, Style: ProvisioningState,
			Patch: []string{
				"tags", "properties.minimumTlsVersion", "properties.enableNonSslPort", "properties.sku", "properties.configuration",
			},
		},
		"Example.Cache/caches/firewallRules": {Required: []string{"properties.startIP", "properties.endIP"}, Alone: true},
		"Example.Network/networks": {
			Required: []string{"location", "properties.addressSpace"}, CreateOnly: []string{"location"}, Spelling: location,
			Inline: map[string]string{"properties.subnets": "subnets"}, ETag: HeaderETag, Style: AsyncOperation,
		},
		"Example.Network/networks/subnets": {
			Required: []string{"properties.addressPrefix"}, ETag: BodyETag, Style: AsyncOperation, Alone: true,
			Defaults: map[string]any{"properties.privateEndpointPolicies": "Enabled"},
		},
		"Example.Vault/vaults": {
			Required:   []string{"location", "properties.tenantId"},
			CreateOnly: []string{"location", "properties.tenantId"}, Spelling: location,
			Defaults: map[string]any{"properties.enableSoftDelete": true, "properties.softDeleteRetentionInDays": 90},
			Computed: map[string]string{"properties.vaultUri": "https://{name}.vault.example/"}, SoftDeletes: true,
			Folded: []string{"properties.tenantId"},
		},
		"Example.Compute/scaleSets": {
			Required: []string{"location", "sku"}, Spelling: location,
			CreateOnly: []string{"location", "zones", "properties.computerNamePrefix"},
			WriteOnly:  []string{"properties.adminPassword"}, Ignored: []string{"properties.overprovision"},
			ETag: HeaderETag, Style: Location,
			Joins: map[string]any{"instanceView": map[string]any{"statuses": []any{
				map[string]any{"code": "ProvisioningState/succeeded", "level": "Info"},
			}}},
		},
		"Example.Storage/accounts": {
			Required: []string{"location", "sku", "kind"}, CreateOnly: []string{"location", "kind"}, Merges: true,
			Spelling: map[string]func(any) any{"location": PlainLocation, "properties.retention": LongDuration},
			Defaults: map[string]any{
				"properties.supportsHttpsTrafficOnly": true, "properties.networkAcls.defaultAction": "Allow",
			},
			Computed: map[string]string{"properties.primaryEndpoint": "https://{name}.storage.example/"},
		},
	}
}

// Slow gives the types of the example which have operations a duration for them.
func (s *Server) Slow(takes, retryAfter time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, b := range s.behaviours {
		b.Takes, b.RetryAfter = takes, retryAfter
		s.behaviours[kind] = b
	}
}
