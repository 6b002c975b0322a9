package armtest

// Azure are behaviours of some types of Azure, for servers that are driven by its own
// specifications. They are what its documentation and its users tell, as far as tests need it.
func Azure() map[string]Behaviour {
	location := map[string]func(any) any{"location": PlainLocation}
	return map[string]Behaviour{
		"Microsoft.Cache/Redis": {
			Required:   []string{"location", "properties.sku"},
			CreateOnly: []string{"location", "zones", "properties.subnetId", "properties.staticIP"},
			ReadOnly:   []string{"properties.accessKeys", "properties.port", "properties.sslPort", "properties.redisVersion"},
			Defaults: map[string]any{
				"properties.enableNonSslPort": false, "properties.port": 6379, "properties.sslPort": 6380,
				"properties.redisVersion": "4.0.14",
			},
			Computed: map[string]string{"properties.hostName": "{name}.redis.cache.example"},
			Spelling: location, Folded: []string{"properties.subnetId"}, Style: ProvisioningState,
		},
		"Microsoft.Cache/Redis/firewallRules": {Required: []string{"properties.startIP", "properties.endIP"}, Alone: true},
		"Microsoft.KeyVault/vaults": {
			Required:   []string{"location", "properties.tenantId", "properties.sku"},
			CreateOnly: []string{"location", "properties.tenantId"}, Spelling: location,
			Folded:   []string{"properties.tenantId"},
			Computed: map[string]string{"properties.vaultUri": "https://{name}.vault.example/"},
			Defaults: map[string]any{"properties.softDeleteRetentionInDays": 90}, SoftDeletes: true,
		},
		"Microsoft.Storage/storageAccounts": {
			Required:   []string{"location", "sku", "kind"},
			CreateOnly: []string{"location", "properties.isHnsEnabled"}, Spelling: location, Merges: true,
			Defaults: map[string]any{
				"properties.supportsHttpsTrafficOnly": true, "properties.networkAcls.defaultAction": "Allow",
				"properties.networkAcls.bypass": "AzureServices",
			},
			Computed: map[string]string{"properties.primaryEndpoints.blob": "https://{name}.blob.example/"},
		},
		"Microsoft.DBforPostgreSQL/servers": {
			Required: []string{"location"}, CreateOnly: []string{"location", "properties.administratorLogin"},
			WriteOnly: []string{"properties.administratorLoginPassword", "properties.createMode"}, Spelling: location,
			Computed: map[string]string{"properties.fullyQualifiedDomainName": "{name}.postgres.example"},
			Style:    AsyncOperation,
		},
		"Microsoft.Network/virtualNetworks": {
			Required: []string{"location", "properties.addressSpace"}, CreateOnly: []string{"location"}, Spelling: location,
			Inline: map[string]string{"properties.subnets": "subnets"}, ETag: HeaderETag, Style: AsyncOperation,
			Patch: []string{"tags"},
		},
		"Microsoft.Network/virtualNetworks/subnets": {
			Required: []string{"properties.addressPrefix"}, ETag: BodyETag, Style: AsyncOperation, Alone: true,
			Defaults: map[string]any{"properties.privateEndpointNetworkPolicies": "Enabled"},
		},
		"Microsoft.Compute/virtualMachineScaleSets": {
			Required: []string{"location", "sku"}, Spelling: location,
			CreateOnly: []string{
				"location", "zones", "properties.singlePlacementGroup", "properties.platformFaultDomainCount",
				"properties.virtualMachineProfile.osProfile.computerNamePrefix",
			},
			WriteOnly: []string{"properties.virtualMachineProfile.osProfile.adminPassword"},
			Style:     AsyncOperation,
			Joins: map[string]any{"instanceView": map[string]any{"statuses": []any{
				map[string]any{"code": "ProvisioningState/succeeded", "level": "Info"},
			}}},
		},
	}
}
