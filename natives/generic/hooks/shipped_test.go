package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func decode(t *testing.T, raw string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCapacityIsLeftToTheAutoscaler(t *testing.T) {
	live := decode(t, `{"sku": {"capacity": 7}}`)
	for _, c := range []struct {
		name string
		x    Subject
		want int
	}{
		{"named and there", Subject{Type: scaleSet, Live: live, Named: []string{"azure-autoscaled-capacity"}}, 1},
		{"not named", Subject{Type: scaleSet, Live: live}, 0},
		{"not there yet", Subject{Type: scaleSet, Named: []string{"azure-autoscaled-capacity"}}, 0},
	} {
		got, err := Default().Compare(t.Context(), c.x)
		if err != nil || len(got) != c.want || c.want > 0 && got[0].At != "/sku/capacity" {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
	}
}

func TestEmptyRules(t *testing.T) {
	live := `{"properties": {"networkAcls": {"defaultAction": "Deny", "ipRules": [{"value": "1.2.3.4"}], "virtualNetworkRules": []}}}`
	for _, c := range []struct {
		name, method, body, want string
		cleared                  []string
	}{
		{"all rules go", "PUT", `{"location": "x"}`,
			`{"location": "x", "properties": {"networkAcls": {"defaultAction": "Deny", "ipRules": [], "virtualNetworkRules": []}}}`, []string{"/properties/networkAcls"}},
		{"one list goes", "PUT", `{"properties": {"networkAcls": {"defaultAction": "Allow"}}}`,
			`{"properties": {"networkAcls": {"defaultAction": "Allow", "ipRules": []}}}`,
			[]string{"/properties/networkAcls/ipRules"}},
		{"what is sent stays", "PUT", `{"properties": {"networkAcls": {"defaultAction": "Allow", "ipRules": [1]}}}`,
			`{"properties": {"networkAcls": {"defaultAction": "Allow", "ipRules": [1], "virtualNetworkRules": []}}}`,
			[]string{"/properties"}},
		{"nothing is cleared", "PUT", `{"location": "x"}`, `{"location": "x"}`, []string{"/properties/networkAclsOther"}},
		{"a patch with null", "PATCH", `{"properties": {"networkAcls": null}}`,
			`{"properties": {"networkAcls": {"defaultAction": "Deny", "ipRules": [], "virtualNetworkRules": []}}}`,
			[]string{"/properties/networkAcls"}},
		{"a patch without a list", "PATCH", `{"properties": {"networkAcls": {"ipRules": null}}}`,
			`{"properties": {"networkAcls": {"defaultAction": "Deny", "ipRules": []}}}`,
			[]string{"/properties/networkAcls/ipRules"}},
		{"a patch of something else", "PATCH", `{"tags": {"a": null}}`, `{"tags": {"a": null}}`, []string{"/tags/a"}},
	} {
		body := decode(t, c.body)
		got, err := Default().MutateRequest(t.Context(), Subject{Type: "microsoft.storage/storageaccounts",
			Live: decode(t, live)},
			Request{Method: c.method, Body: body, Cleared: c.cleared})
		if err != nil || !reflect.DeepEqual(got.Body, decode(t, c.want)) {
			t.Errorf("%s: got %v, %v, want %s", c.name, got.Body, err, c.want)
		}
		if !reflect.DeepEqual(body, decode(t, c.body)) {
			t.Errorf("%s: the hook changed its argument", c.name)
		}
	}
}

func TestSoftDeletedVault(t *testing.T) {
	const path = "/subscriptions/s/providers/Microsoft.KeyVault/locations/westus/deletedVaults/v"
	deleted := `{"properties": {"scheduledPurgeDate": "2030-01-01T00:00:00Z", "purgeProtectionEnabled": false}}`
	for _, c := range []struct {
		name, choice, body string
		status             int
		err                error
		live               any
		want               Ready
		fails              string
	}{
		{name: "the name is free", status: 404},
		{name: "it is there", status: 200, body: deleted, live: map[string]any{}},
		{name: "stop is the default", status: 200, body: deleted, want: Ready{Decision: Block, Code: "SOFT_DELETED",
			Reason: "a deleted vault has this name until 2030-01-01T00:00:00Z: set onSoftDeleted to recover or purge, or choose another name"}},
		{name: "recover", choice: "recover", status: 200, body: deleted,
			want: Ready{Set: map[string]any{"/properties/createMode": "recover"}}},
		{name: "purge", choice: "purge", status: 200, body: deleted, want: Ready{Decision: Postpone, Code: "SOFT_DELETED",
			Reason: "a deleted vault of this name is purged first",
			First:  []Request{{Method: "POST", Path: path + "/purge?api-version=2019-09-01"}}}},
		{name: "purge of a protected one", choice: "purge", status: 200,
			body: `{"properties": {"purgeProtectionEnabled": true}}`,
			want: Ready{Decision: Block, Code: "SOFT_DELETED",
				Reason: "a deleted vault has this name, and is protected from purging: recover it, or choose another name"}},
		{name: "not allowed to look", status: 403, fails: "the service answers 403"},
		{name: "no answer", err: errors.New("broken"), fails: "broken"},
	} {
		asked := ""
		x := Subject{Type: "Microsoft.KeyVault/vaults@2019-09-01", OnSoftDeleted: c.choice, Live: c.live,
			ID:      "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v",
			Desired: decode(t, `{"location": "West US"}`),
			Read: func(_ context.Context, p string) (Answer, error) {
				asked = p
				a := Answer{Status: c.status}
				if c.body != "" {
					a.Body = decode(t, c.body)
				}
				return a, c.err
			}}
		got, err := Default().PreReconcile(t.Context(), x)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v, want %s", c.name, err, c.fails)
			}
		case err != nil || !reflect.DeepEqual(got, c.want):
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		case c.live == nil && asked != path+"?api-version=2019-09-01":
			t.Errorf("%s: asked %s", c.name, asked)
		}
	}
	class, err := Default().ClassifyError(t.Context(), Subject{Type: "Microsoft.KeyVault/vaults"},
		Failure{Status: 409, Code: "VaultAlreadyExists"})
	if err != nil || class != "slow" {
		t.Errorf("got %q, %v", class, err)
	}
}
