package simulation

import (
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// azureFiles are the specifications of Azure that are tried here.
var azureFiles = []string{
	"redis/resource-manager/Microsoft.Cache/stable/2018-03-01/redis.json",
	"keyvault/resource-manager/Microsoft.KeyVault/stable/2019-09-01/keyvault.json",
	"storage/resource-manager/Microsoft.Storage/stable/2019-06-01/storage.json",
	"compute/resource-manager/Microsoft.Compute/stable/2019-07-01/compute.json",
	"network/resource-manager/Microsoft.Network/stable/2019-09-01/virtualNetwork.json",
}

// newAzure returns a world with specifications of Azure.
func newAzure(t *testing.T, tree fs.FS, files ...string) *world {
	t.Helper()
	var raw [][]byte
	texts := map[string]string{}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/examples/") || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		texts["/azure/"+path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []any
	for _, file := range files {
		names = append(names, "/azure/"+file)
		raw = append(raw, []byte(texts["/azure/"+file]))
	}
	s, err := armtest.Open(raw, armtest.Azure())
	if err != nil {
		t.Fatal(err)
	}
	w := worldOf(t, s)
	w.data.Resources = texts
	w.data.Data[cloudtest.API]["specifications"] = names
	return w
}

// azureEntries are resources of Azure, by datafile.
func azureEntries() map[string]cloudtest.Fields {
	object := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			name, _ := pairs[i].(string)
			out[name] = pairs[i+1]
		}
		return out
	}
	rules := object("defaultAction", "Deny", "ipRules", []any{object("value", "192.0.2.1", "action", "Allow")})
	vault := object("tenantId", "5f0c7a0e-5d5a-4b62-9a51-2f3a7f1d2c11", "sku", object("family", "A", "name", "standard"),
		"accessPolicies", []any{})
	profile := object("osProfile", object("computerNamePrefix", "web", "adminUsername", "root"))
	return map[string]cloudtest.Fields{
		"/cloud/redis.yml": entry("Microsoft.Cache/Redis", "sessions", parent(0), object("location", "West US",
			"properties", object("sku", object("name", "Standard", "family", "C", "capacity", 1)))),
		"/cloud/rule.yml": entry("Microsoft.Cache/Redis/firewallRules", "office", "/cloud/redis.yml",
			object("properties", object("startIP", "192.0.2.1", "endIP", "192.0.2.4"))),
		"/cloud/vault.yml": entry("Microsoft.KeyVault/vaults", "keys", parent(0),
			object("location", "westus", "properties", vault)),
		"/cloud/files.yml": entry("Microsoft.Storage/storageAccounts", "files", parent(0), object("location", "westus",
			"sku", object("name", "Standard_LRS"), "kind", "Storage", "properties", object("networkAcls", rules))),
		"/cloud/network.yml": entry("Microsoft.Network/virtualNetworks", "net", parent(0), object("location", "westus",
			"properties", object("addressSpace", object("addressPrefixes", []any{"10.0.0.0/16"})))),
		"/cloud/subnet.yml": entry("Microsoft.Network/virtualNetworks/subnets", "data", "/cloud/network.yml",
			object("properties", object("addressPrefix", "10.0.1.0/24"))),
		"/cloud/machines.yml": entry("Microsoft.Compute/virtualMachineScaleSets", "web", parent(0),
			object("location", "westus",
				"sku", object("name", "Standard_D2", "capacity", 3), "properties", object("virtualMachineProfile", profile)),
			map[string]any{"hooks": []any{"azure-autoscaled-capacity"}}),
	}
}

const azureGroup = "/subscriptions/s0/resourceGroups/shop/providers/"

// Resources by Azure's own specifications are made once; then nothing is written, whatever defaults
// and spellings the service has, and while an autoscaler changes the capacity.
func TestAzure(t *testing.T) {
	tree := os.DirFS(shared.Path(t, "data", "specs", "azure-2019-11-05", "specification"))
	synctest.Test(t, func(t *testing.T) {
		w := newAzure(t, tree, azureFiles...)
		w.Slow(40*time.Second, 10*time.Second)
		for file, e := range azureEntries() {
			w.put(file, e)
		}
		w.must()
		if got := len(w.IDs()); got != 7 {
			t.Fatalf("%d resources: %q\n%s", got, w.IDs(), w.log.String())
		}
		w.Edit(azureGroup+"Microsoft.Compute/virtualMachineScaleSets/web", func(body map[string]any) {
			sku, _ := body["sku"].(map[string]any)
			sku["capacity"] = 9
		})
		for range 3 {
			time.Sleep(15 * time.Minute)
			w.Forget()
			w.must()
			if len(w.Writes()) > 0 {
				t.Fatalf("%v\n%s", w.Writes(), w.log.String())
			}
		}
		// An account keeps what a PUT leaves out: rules that go must be sent as an empty list.
		files := azureEntries()["/cloud/files.yml"]
		body, _ := files["body"].(map[string]any)
		body["properties"] = map[string]any{"networkAcls": map[string]any{"defaultAction": "Deny"}}
		w.put("/cloud/files.yml", files)
		w.must()
		properties, _ := w.Object(azureGroup + "Microsoft.Storage/storageAccounts/files")["properties"].(map[string]any)
		acls, _ := properties["networkAcls"].(map[string]any)
		if rules, _ := acls["ipRules"].([]any); len(rules) > 0 {
			t.Errorf("the rules that went are still there: %v\n%s", rules, w.log.String())
		}
	})
}

// The name of a deleted vault is reserved: by default a run stops and says so, and the data can ask
// for recovering or purging it.
func TestSoftDelete(t *testing.T) {
	tree := os.DirFS(shared.Path(t, "data", "specs", "azure-2019-11-05", "specification"))
	const id = azureGroup + "Microsoft.KeyVault/vaults/keys"
	for _, way := range []string{"stop", "recover", "purge"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAzure(t, tree, azureFiles[1])
				vault := azureEntries()["/cloud/vault.yml"]
				w.put("/cloud/vault.yml", vault)
				w.must()
				w.Remove(id)
				w.Describe("Microsoft.KeyVault/vaults", func(b *armtest.Behaviour) {
					b.Style, b.Takes, b.RetryAfter = armtest.Location, 3*time.Minute, 20*time.Second
				})
				vault["onSoftDeleted"] = way
				w.put("/cloud/vault.yml", vault)
				var err error
				for range 4 {
					time.Sleep(15 * time.Minute)
					err = w.run()
				}
				isThere := w.Object(id) != nil
				if way == "stop" && (isThere || !strings.Contains(w.told(), "error SOFT_DELETED")) ||
					way != "stop" && (!isThere || err != nil) {
					t.Errorf("there: %t, %v\n%s\n%s", isThere, err, w.told(), w.log.String())
				}
				ended := 0
				for _, o := range w.Operations() {
					if o.Verb == http.MethodPost && o.Status == "Succeeded" {
						ended++
					}
				}
				asked := 0
				for _, r := range w.Requests() {
					if strings.Contains(r.Path, "operationResults") {
						asked++
					}
				}
				if way == "purge" && (ended != 2 || asked < 2*9) { // the purge and the creation
					t.Errorf("%d operations ended, asked %d times", ended, asked)
				}
			})
		})
	}
}

// A purge is begun once, wherever the process dies.
func TestPurgeKilled(t *testing.T) {
	tree := os.DirFS(shared.Path(t, "data", "specs", "azure-2019-11-05", "specification"))
	const id = azureGroup + "Microsoft.KeyVault/vaults/keys"
	isOver, died := false, 0
	for moment := 1; !isOver; moment++ {
		synctest.Test(t, func(t *testing.T) {
			w := newAzure(t, tree, azureFiles[1])
			vault := azureEntries()["/cloud/vault.yml"]
			w.put("/cloud/vault.yml", vault)
			w.must()
			w.Remove(id)
			w.Describe("Microsoft.KeyVault/vaults", func(b *armtest.Behaviour) {
				b.Style, b.Takes, b.RetryAfter = armtest.Location, 3*time.Minute, 20*time.Second
			})
			vault["onSoftDeleted"] = "purge"
			w.put("/cloud/vault.yml", vault)
			w.Forget()
			m := &mortal{left: moment}
			_ = w.runUntil(m) // how far it comes is the matter of the test
			if isOver = !m.dies(); !isOver {
				died++
			}
			var err error
			for range 5 {
				time.Sleep(75 * time.Second) // the purge goes on
				err = w.run()
			}
			purges := 0
			for _, r := range w.Requests() {
				if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/purge") {
					purges++
				}
			}
			if purges != 1 || err != nil || w.Object(id) == nil {
				t.Errorf("killed at moment %d: %d purges, %v, there: %t\n%s", moment, purges, err, w.Object(id) != nil,
					w.log.String())
			}
			w.checkSettled(t)
		})
		if t.Failed() {
			return
		}
	}
	if died < 10 {
		t.Errorf("only %d kills", died)
	}
}

// checkSettled wants nothing that goes on in the state.
func (w *world) checkSettled(t *testing.T) {
	t.Helper()
	left, err := w.state.List(t.Context(), "pending")
	if err != nil || len(left) > 0 {
		t.Errorf("the state says that something goes on: %v, %v", left, err)
	}
}
