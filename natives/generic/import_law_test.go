package generic

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/plan"
)

var imports = flag.Int("imports", 5, "how many times TestImportOfRandom imports resources of each type")

// byHand makes a resource as somebody does who knows nothing of marks.
func (s *scene) byHand(id, version, text string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, endpoint+id+"?api-version="+version,
		strings.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.service.Token)
	res, err := s.service.Transport().RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode >= http.StatusBadRequest {
		s.t.Fatalf("PUT %s: %d\n%s", id, res.StatusCode, text)
	}
	s.now = s.now.Add(time.Hour)
}

// quiet runs twice, and expects that nothing is done.
func (s *scene) quiet(seed int, when string) {
	s.t.Helper()
	for range 2 {
		if s.must(); s.did() != "" || s.writes() != "" {
			s.t.Errorf("seed %d: %s: %s, %s\n%s", seed, when, s.did(), s.writes(), &s.log)
		}
	}
}

// harmless makes the dry run of the change that adds what was imported, and expects that it does
// nothing and finds no mistake.
func (s *scene) harmless(seed int, base *cloudtest.World) {
	s.t.Helper()
	err := s.check(base)
	if bad := s.told(plan.SeverityError) + s.told(plan.SeverityWarning); err != nil || bad != "" ||
		!strings.Contains(s.log.String(), "nothing to do") || strings.Contains(s.log.String(), "NEW_TARGET") {
		s.t.Errorf("seed %d: the change that adds the import: %v, %s\n%s", seed, err, bad, &s.log)
	}
}

// thin takes some members out of an object that the service does not need.
func thin(r *rand.Rand, v any, required ...string) {
	of, isObject := v.(map[string]any)
	if !isObject {
		return
	}
	for _, name := range sortedKeys(of) {
		thin(r, of[name], required...)
		if r.IntN(3) == 0 && !slices.Contains(required, name) {
			delete(of, name)
		}
	}
}

// Whatever a resource has that somebody made, the plan after its import is empty. A change after it
// is made with our mark, and then the plan is empty again.
func TestImportOfRandom(t *testing.T) {
	subnet := group + "/providers/Example.Network/networks/n/subnets/a"
	kinds := []struct{ id, version, text string }{
		{"Example.Cache/caches/c", "2024-05-01",
			`{"location": "West US", "tags": {"a": "1"}, "properties": {"sku": {"name": "Standard", "capacity": 1}, "subnetId": "` + strings.ToUpper(subnet) + `",
			"staticIP": "10.0.0.4", "minimumTlsVersion": "1.0", "enableNonSslPort": true, "adminPassword": "canary", "configuration": {"x": "1", "y/z": "2"}}}`},
		{"Example.Network/networks/n", "2024-03-01",
			`{"location": "westus", "tags": {"a": "1"}, "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8", "11.0.0.0/8"]},
			"dnsServers": ["1.1.1.1", "8.8.8.8"], "subnets": [{"name": "a", "properties": {"addressPrefix": "10.0.1.0/24"}}, {"name": "b", "properties": {"addressPrefix": "10.0.2.0/24"}}]}}`},
		{"Example.Vault/vaults/v", "2024-02-01",
			`{"location": "East US", "properties": {"tenantId": "00000000-AAAA", "sku": {"name": "standard"}, "enableSoftDelete": true,
			"softDeleteRetentionInDays": 30, "accessPolicies": [{"objectId": "o2", "permissions": ["get", "list"]}, {"objectId": "o1", "permissions": ["get"]}]}}`},
		{"Example.Compute/scaleSets/s", "2024-04-01",
			`{"location": "westus", "sku": {"name": "S", "capacity": 2}, "zones": ["2", "1"],
			"properties": {"computerNamePrefix": "vm", "image": {"publisher": "p", "version": "1"}, "overprovision": true, "adminPassword": "canary"}}`},
		{"Example.Storage/accounts/a", "2024-01-01",
			`{"location": "westus", "sku": {"name": "LRS"}, "kind": "Storage", "properties": {"supportsHttpsTrafficOnly": false, "accessTier": "Cool",
			"retention": "PT2H", "networkAcls": {"defaultAction": "Deny", "ipRules": [{"value": "1.2.3.5", "action": "Allow"}, {"value": "1.2.3.4", "action": "Allow"}]}}}`},
	}
	required := []string{"location", "sku", "kind", "name", "capacity", "properties", "tenantId", "addressSpace",
		"addressPrefix", "addressPrefixes", "version", "publisher"}
	for seed := range *imports {
		r := rand.New(rand.NewPCG(uint64(seed), 67)) //nolint:gosec // it makes tests
		for _, k := range kinds {
			s := newScene(t)
			s.forget()
			v, err := body.Parse([]byte(k.text))
			if err != nil {
				t.Fatal(err)
			}
			thin(r, v, required...)
			s.byHand(group+"/providers/"+k.id, k.version, body.Text(v))
			all, err := s.importAll(group + "/providers/" + k.id)
			if err != nil {
				t.Fatalf("seed %d: %s: %v\n%s", seed, k.id, err, body.Text(v))
			}
			base := s.Clone()
			for _, one := range all {
				if strings.Contains(string(one.Text), "canary") {
					t.Errorf("%s shows a secret", one.Text)
				}
				s.Add("/"+one.File, object{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID, "body": one.Entry.Body})
			}
			s.harmless(seed, base)
			s.quiet(seed, "after the import of "+k.id)
			s.Data["/"+all[0].File]["body"] = body.Merge(all[0].Entry.Body,
				map[string]any{"tags": map[string]any{"seen": "now"}})
			if s.must(); !strings.Contains(s.did(), "update") ||
				markOf(family.ARM, s.service.Object(all[0].ID)).Integration != Name {
				t.Errorf("seed %d: after a change of %s: %s, %v", seed, k.id, s.did(), s.service.Object(all[0].ID))
			}
			s.quiet(seed, "after a change of "+k.id)
		}
	}
}
