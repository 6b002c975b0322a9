package main

// judged is what a service does and its document does not say, by what its vendor documents.
var judged = []struct {
	name, path string
	readOnly   bool // else it is create-only
}{
	{"Microsoft.Cache/Redis", "properties/staticIP", false},
	{"Microsoft.Cache/Redis", "properties/subnetId", false},
	{"Microsoft.Compute/virtualMachineScaleSets/virtualMachines/extensions", "properties/instanceView", true},
	{"Microsoft.Compute/virtualMachines", "plan", false},
	{"Microsoft.Compute/virtualMachines", "properties/availabilitySet", false},
	{"Microsoft.Compute/virtualMachines", "properties/osProfile/adminPassword", false},
	{"Microsoft.Compute/virtualMachines", "properties/osProfile/adminUsername", false},
	{"Microsoft.Compute/virtualMachines", "properties/osProfile/computerName", false},
	{"Microsoft.Compute/virtualMachines", "properties/osProfile/customData", false},
	{"Microsoft.Compute/virtualMachines", "properties/storageProfile/imageReference", false},
	{"Microsoft.Compute/virtualMachines", "zones", false},
	{"Microsoft.Compute/virtualMachines/extensions", "properties/instanceView", true},
	{"Microsoft.ContainerInstance/containerGroups", "properties/containers/*/properties/resources", false},
	{"Microsoft.ContainerInstance/containerGroups", "properties/osType", false},
	{"Microsoft.ContainerInstance/containerGroups", "properties/restartPolicy", false},
	{"Microsoft.DocumentDB/databaseAccounts", "kind", false},
	{"Microsoft.KeyVault/vaults", "properties/vaultUri", true},
	{"Microsoft.KubernetesConfiguration/extensions", "properties/statuses", true},
	{"Microsoft.Network/loadBalancers", "sku", false},
	{"Microsoft.Network/privateEndpoints", "properties/subnet", false},
	{"Microsoft.Network/publicIPAddresses", "properties/publicIPAddressVersion", false},
	{"Microsoft.OperationalInsights/clusters", "properties/isAvailabilityZonesEnabled", false},
	{"Microsoft.Search/searchServices", "properties/hostingMode", false},
	{"Microsoft.Search/searchServices", "sku", false},
	{"Microsoft.Storage/storageAccounts", "properties/isHnsEnabled", false},
}
