package check_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/examples/cloud"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/check"
	resource "github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

var (
	edits = flag.Int("edits", 500, "how many edits are tried")
	seed  = flag.Uint64("seed", 1, "seed of the edits")
)

const (
	subnet = "/subscriptions/s/resourceGroups/g/providers/Example.Network/networks/n/subnets/a"
	group  = "/subscriptions/s/resourceGroups/g/providers/"
)

// A kind is a type with a body that has all of its properties.
type kind struct {
	name, version, body string
	harmless            []string // pointers of values that may be left out: the service has the same by itself
	typ                 *validate.Checker
}

func kinds(t testing.TB) []*kind {
	t.Helper()
	specs, err := cloud.Specifications()
	if err != nil {
		t.Fatal(err)
	}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) { return specs[name], nil }, openapi.Limits{})
	var documents []*openapi.Document
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		d, err := set.Document(name)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	index := resources.NewIndex(documents)
	all := []*kind{
		{name: "Example.Cache/caches",
			body: `{"location": "West US", "tags": {"a": "1", "b": "2"}, "properties": {"sku": {"name": "Standard", "capacity": 1},
			"subnetId": "` + subnet + `", "staticIP": "10.0.0.4", "minimumTlsVersion": "1.2", "enableNonSslPort": false, "configuration": {"x": "1", "y": "2"}}}`,
			harmless: []string{"/properties/minimumTlsVersion", "/properties/enableNonSslPort", "/properties/staticIP",
				"/properties/subnetId"}},
		{name: "Example.Network/networks",
			body: `{"location": "westus", "tags": {"a": "1"}, "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8", "11.0.0.0/8"]},
			"dnsServers": ["1.1.1.1", "8.8.8.8"], "subnets": [{"name": "a", "properties": {"addressPrefix": "10.0.1.0/24"}}, {"name": "b", "properties": {"addressPrefix": "10.0.2.0/24"}}]}}`},
		{name: "Example.Vault/vaults",
			body: `{"location": "East US", "properties": {"tenantId": "00000000-aaaa", "sku": {"name": "standard"}, "enableSoftDelete": true,
			"softDeleteRetentionInDays": 90, "accessPolicies": [{"objectId": "o1", "permissions": ["get", "list"]}, {"objectId": "o2", "permissions": ["get"]}]}}`,
			harmless: []string{"/properties/enableSoftDelete", "/properties/softDeleteRetentionInDays"}},
		{name: "Example.Compute/scaleSets",
			body: `{"location": "westus", "sku": {"name": "S", "capacity": 2}, "zones": ["1", "2"],
			"properties": {"computerNamePrefix": "vm", "image": {"publisher": "p", "version": "1"}, "overprovision": true}}`,
			harmless: []string{"/zones", "/properties/computerNamePrefix"}},
		{name: "Example.Storage/accounts",
			body: `{"location": "westus", "sku": {"name": "LRS"}, "kind": "Storage", "properties": {"supportsHttpsTrafficOnly": true, "accessTier": "Hot",
			"retention": "PT2H", "networkAcls": {"defaultAction": "Allow", "ipRules": [{"value": "1.2.3.4", "action": "Allow"}, {"value": "1.2.3.5", "action": "Allow"}]}}}`,
			harmless: []string{"/properties/supportsHttpsTrafficOnly", "/properties/networkAcls/defaultAction"}},
	}
	for _, k := range all {
		types, err := index.Find(k.name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classes.New(types[0])
		if err != nil {
			t.Fatal(err)
		}
		k.version = types[0].Version
		if k.typ, err = validate.NewType(types[0], rules.Of(c, nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Each edit of a valid resource that the simulated service refuses, because it changes what the
// specification declares create-only, is found before. Harmless edits are not called wrong.
func TestEditsAgainstService(t *testing.T) {
	server, err := armtest.Example()
	if err != nil {
		t.Fatal(err)
	}
	all := kinds(t)
	r := rand.New(rand.NewPCG(*seed, 17)) //nolint:gosec // it makes tests
	var tally struct{ refused, found, inferred, foundInferred, unknown, accepted, alarms, harmless, harmlessAlarms int }
	for n := range *edits {
		k := all[r.IntN(len(all))]
		base := parse(t, k.body)
		thin(r, base)
		head := parse(t, body.Text(base))
		isHarmless := r.IntN(2) == 0
		var done []string
		for range 1 + r.IntN(3) {
			if isHarmless {
				done = append(done, respell(r, k, head))
			} else {
				done = append(done, edit(r, head, parse(t, k.body)))
			}
		}
		id := fmt.Sprintf("%s%s/r%d", group, k.name, n)
		if code, _ := send(t, server, id, k.version, base); code >= http.StatusBadRequest {
			t.Fatalf("the service refuses a valid body: %d %s", code, body.Text(base))
		}
		code, target := send(t, server, id, k.version, head)
		server.Remove(id)
		got := check.Pair{Base: &resource.Resource{Name: "n", Body: base}, Head: &resource.Resource{Name: "n", Body: head},
			Types: []*validate.Checker{k.typ}}.Check()
		isFound := slices.ContainsFunc(got.Findings, func(f check.Finding) bool {
			return isCreateOnly(f) && strings.HasPrefix(f.Property+"/", target+"/")
		})
		isAlarm := slices.ContainsFunc(got.Findings, isCreateOnly)
		fails := slices.ContainsFunc(got.Findings, check.Finding.Fails)
		switch class := k.typ.Rules.At(target).CreateOnly; {
		case code == http.StatusConflict && class == rules.Declared:
			if tally.refused++; isFound {
				tally.found++
			} else {
				t.Errorf("seed %d, edit %d %q of %s: %s is refused and not found", *seed, n, done, k.name, target)
			}
		case code == http.StatusConflict && class == rules.Inferred:
			if tally.inferred++; isFound {
				tally.foundInferred++
			}
		case code == http.StatusConflict:
			tally.unknown++
		case code < http.StatusBadRequest:
			if tally.accepted++; isAlarm {
				tally.alarms++
				t.Logf("seed %d, edit %d %q of %s: taken by the service, and called %v", *seed, n, done, k.name, got.Findings)
			}
		}
		if isHarmless {
			if tally.harmless++; fails {
				tally.harmlessAlarms++
				t.Errorf("seed %d, edit %d %q of %s is harmless: %v", *seed, n, done, k.name, got.Findings)
			}
		}
	}
	fmt.Printf("edits: %d, refused and declared %d, found %d; refused and inferred %d, found %d; refused and not known %d; taken %d, false alarms %d; harmless %d, false alarms %d\n",
		*edits, tally.refused, tally.found, tally.inferred, tally.foundInferred, tally.unknown, tally.accepted, tally.alarms,
		tally.harmless, tally.harmlessAlarms)
	if tally.refused < *edits/20 || tally.harmless < *edits/4 || tally.alarms*100 > tally.accepted {
		t.Errorf("the numbers are wrong: %+v", tally)
	}
}

func isCreateOnly(f check.Finding) bool {
	return f.Code == check.CodeCreateOnly || f.Code == check.CodeCreateOnlyInferred
}

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	v, err := body.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// send puts a body, and returns the status and the pointer of the property that the service
// names.
func send(t testing.TB, server *armtest.Server, id, version string, v any) (status int, target string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://arm.example"+id+"?api-version="+version,
		strings.NewReader(body.Text(v)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+server.Token)
	res, err := server.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Error struct{ Target string } }
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error.Target == "" {
		return res.StatusCode, ""
	}
	return res.StatusCode, "/" + strings.ReplaceAll(answer.Error.Target, ".", "/")
}
