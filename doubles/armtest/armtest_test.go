package armtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	group = "/subscriptions/S1/resourceGroups/shop/providers/"
	cache = group + "Example.Cache/caches/sessions"
	net   = group + "Example.Network/networks/net"
)

var versions = map[string]string{
	"cache": "2024-05-01", "network": "2024-03-01", "vault": "2024-02-01", "compute": "2024-04-01",
	"storage": "2024-01-01",
}

// A world is a service with a clock that a test moves.
type world struct {
	*Server
	t   *testing.T
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := Example()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: s, t: t, now: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)}
	s.Now = func() time.Time { return w.now }
	return w
}

// send sends a request and returns the answer with its body.
func (w *world) send(method, path, body string, headers ...string) (*http.Response, map[string]any) {
	w.t.Helper()
	address := "https://management.example" + path
	if !strings.Contains(path, "?") {
		for name, version := range versions {
			if strings.Contains(strings.ToLower(path), "example."+name+"/") {
				address += "?api-version=" + version
			}
		}
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.Token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := w.Transport().RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &out); err != nil {
			w.t.Fatalf("%s: %v", raw, err)
		}
	}
	return answer, out
}

// want sends a request, and checks the status and what stands at a path of the answer.
func (w *world) want(method, path, body string, status int, at, value string, headers ...string) *http.Response {
	w.t.Helper()
	answer, got := w.send(method, path, body, headers...)
	if answer.StatusCode != status {
		w.t.Fatalf("%s %s: got %d %v, want %d", method, path, answer.StatusCode, got, status)
	}
	if at != "" {
		v, _ := get(got, at)
		if fmt.Sprint(v) != value {
			w.t.Errorf("%s %s: %s is %v, want %s, in %v", method, path, at, v, value, got)
		}
	}
	return answer
}

const cacheBody = `{"location": "West US",
	"properties": {"sku": {"name": "S"}, "adminPassword": "hunter2", "hostName": "mine"}}`

const netBody = `{"location": "x", "properties": {"addressSpace": {}}}`

// A resource is created, read, refused and deleted.
func TestLife(t *testing.T) {
	w := newWorld(t)
	w.want("GET", cache, "", 404, "error.code", "ResourceNotFound")
	w.want("PUT", cache, `{"properties": {}}`, 400, "error.code", "LocationRequired")
	w.want("PUT", cache, cacheBody, 201, "location", "westus")
	w.want("PUT", cache, cacheBody, 412, "error.code", "PreconditionFailed", "If-None-Match", "*")
	w.want("GET", cache, "", 200, "properties.hostName", "sessions.cache.example")
	w.want("GET", strings.ToUpper(cache), "", 200, "properties.minimumTlsVersion", "1.2")
	w.want("GET", cache, "", 200, "properties.adminPassword", "<nil>")
	w.want("GET", cache, "", 200, "id", cache)
	w.want("GET", cache, "", 200, "type", "Example.Cache/caches")
	if v, _ := get(w.Object(cache), "properties.adminPassword"); v != "hunter2" {
		t.Errorf("the service keeps the password %v", v)
	}
	w.want("PUT", cache, strings.Replace(cacheBody, "West US", "eastus", 1), 409, "error.target", "location")
	w.want("PUT", cache, strings.Replace(cacheBody, "West US", "WESTUS", 1), 200, "location", "westus")
	w.want("PATCH", cache, `{"tags": {"a": "1"}}`, 200, "tags.a", "1")
	w.want("PATCH", cache, `{"properties": {"subnetId": "x"}}`, 400, "error.target", "properties.subnetId")
	w.want("PUT", cache, cacheBody, 200, "tags", "<nil>") // PUT replaces
	w.want("GET", strings.TrimSuffix(cache, "/sessions"), "", 200, "value", fmt.Sprint([]any{w.read(cache)}))
	w.want("DELETE", cache, "", 200, "", "")
	w.want("DELETE", cache, "", 204, "", "")
	if len(w.IDs()) != 0 {
		t.Errorf("left: %q", w.IDs())
	}
}

// read returns a resource as GET answers it.
func (w *world) read(path string) any {
	_, body := w.send("GET", path, "")
	return body
}

// What is wrong with a request is told as the real service does.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.want("GET", cache+"?x=1", "", 400, "error.code", "MissingApiVersionParameter")
	w.want("GET", cache+"?api-version=1999-01-01", "", 400, "error.code", "NoRegisteredProviderFound")
	w.want("GET", group+"Example.Cache/jars/a", "", 404, "error.code", "InvalidResourceType")
	w.want("GET", cache+"%2fa", "", 400, "error.code", "InvalidRequestUri")
	w.want("GET", cache, "", 401, "error.code", "AuthenticationFailed", "Authorization", "Bearer wrong")
	w.want("PUT", cache, "[]", 400, "error.code", "InvalidRequestContent")
	w.want("PUT", cache, "{}", 415, "error.code", "UnsupportedMediaType", "Content-Type", "text/plain")
	rule := `{"properties": {"startIP": "1", "endIP": "2"}}`
	w.want("PUT", cache+"/firewallRules/a", rule, 404, "error.code", "ParentResourceNotFound")
	w.want("POST", cache, "{}", 405, "error.code", "MethodNotAllowed")
	w.want("PUT", cache, cacheBody, 201, "", "")
	around, _, _ := strings.Cut(group, "/providers")
	w.Lock(around, "CanNotDelete")
	w.want("DELETE", cache, "", 409, "error.code", "ScopeLocked")
	w.want("PUT", cache, cacheBody, 200, "", "")
	w.Lock(cache, "ReadOnly")
	w.want("PUT", cache, cacheBody, 409, "error.code", "ScopeLocked")
	w.Lock(cache, "")
	w.want("PUT", cache, cacheBody, 200, "", "")
}

// Every style of operation ends, by its own addresses.
func TestOperations(t *testing.T) {
	w := newWorld(t)
	w.Slow(30*time.Second, 7*time.Second)
	const state = "properties.provisioningState"
	status := w.want("PUT", net, netBody, 201, state, "Creating").Header
	poll := strings.TrimPrefix(status.Get("Azure-AsyncOperation"), "https://management.example")
	if status.Get("Retry-After") != "7" || poll == "" {
		t.Fatalf("got the headers %v", status)
	}
	w.want("GET", poll, "", 200, "status", "InProgress")
	w.want("PUT", net, netBody, 409, "error.code", "AnotherOperationInProgress")
	if overlaps := w.Overlaps(); len(overlaps) != 1 || overlaps[0].Method != "PUT" {
		t.Error("the write beside a running operation is not noted")
	}
	w.now = w.now.Add(time.Minute)
	w.want("GET", poll, "", 200, "status", "Succeeded")
	w.want("GET", net, "", 200, state, "Succeeded")

	set := group + "Example.Compute/scaleSets/web"
	w.Describe("Example.Compute/scaleSets", func(b *Behaviour) { b.Moves = true })
	first := w.want("PUT", set, `{"location": "x", "sku": {"name": "S"}}`, 202, "", "").Header.Get("Location")
	next := w.want("GET", strings.TrimPrefix(first, "https://management.example"), "", 202, "", "").Header.Get("Location")
	if next == first {
		t.Error("the address does not move")
	}
	w.now = w.now.Add(time.Minute)
	w.want("GET", strings.TrimPrefix(first, "https://management.example"), "", 404, "error.code", "OperationNotFound")
	w.want("GET", strings.TrimPrefix(next, "https://management.example"), "", 200, "name", "web")
	told := "[map[code:ProvisioningState/succeeded level:Info]]"
	w.want("GET", set+"/instanceView", "", 200, "statuses", told)

	w.FailOperations(cache, 1)
	w.want("PUT", cache, cacheBody, 201, state, "Creating")
	w.now = w.now.Add(time.Minute)
	w.want("GET", cache, "", 200, state, "Failed")
	w.want("PUT", cache, cacheBody, 200, state, "Updating")
	w.now = w.now.Add(time.Minute)
	w.want("DELETE", cache, "", 202, "", "")
	w.want("GET", cache, "", 200, state, "Deleting")
	w.now = w.now.Add(time.Minute)
	w.want("GET", cache, "", 404, "", "")
	var done []string
	for _, op := range w.Operations() {
		done = append(done, op.Verb+" "+op.Status)
	}
	want := []string{"POST Succeeded", "POST Succeeded", "POST Failed", "PUT Succeeded", "DELETE Succeeded"}
	if !slices.Equal(done, want) {
		t.Errorf("got %q, want %q", done, want)
	}
}

// PUT of a network without its subnets deletes them; a subnet is a resource of its own.
func TestInline(t *testing.T) {
	w := newWorld(t)
	w.want("PUT", net, `{"location": "x", "properties": {"addressSpace": {},
		"subnets": [{"name": "a", "properties": {"addressPrefix": "1"}}]}}`, 201, "", "")
	w.want("PUT", net+"/subnets/b", `{"properties": {"addressPrefix": "2"}}`, 201,
		"properties.privateEndpointPolicies", "Enabled")
	w.want("GET", net+"/subnets/a", "", 200, "properties.addressPrefix", "1")
	items, _ := get(w.read(net), "properties.subnets")
	if list, _ := items.([]any); len(list) != 2 {
		t.Errorf("the network has the subnets %v", items)
	}
	answer, _ := w.send("GET", net, "")
	w.want("PUT", net, netBody, 412, "", "", "If-Match", `"old"`)
	etag := answer.Header.Get("ETag")
	w.want("PUT", net, netBody, 200, "properties.subnets", "[]", "If-Match", etag)
	w.want("GET", net+"/subnets/b", "", 404, "", "")
}

// A storage account keeps what PUT leaves out; a list of nothing clears.
func TestMerges(t *testing.T) {
	w := newWorld(t)
	account := group + "Example.Storage/accounts/files"
	w.want("PUT", account, `{"location": "x", "kind": "Storage", "sku": {"name": "S"}, "properties": {"retention": "PT1H",
		"networkAcls": {"defaultAction": "Deny", "ipRules": [{"value": "1"}]}}}`, 201, "properties.retention", "PT60M")
	short := `{"location": "x", "kind": "Storage", "sku": {"name": "S"}, "properties": {"networkAcls": %s}}`
	const rules = "properties.networkAcls.ipRules"
	w.want("PUT", account, fmt.Sprintf(short, `{"defaultAction": "Deny"}`), 200, rules, "[map[value:1]]")
	w.want("PUT", account, fmt.Sprintf(short, `{"defaultAction": "Deny", "ipRules": []}`), 200, rules, "[]")
}

// The name of a deleted vault is reserved until it is purged or recovered.
func TestSoftDelete(t *testing.T) {
	w := newWorld(t)
	vault := group + "Example.Vault/vaults/keys"
	gone := "/subscriptions/s1/providers/Example.Vault/locations/westus/deletedVaults/keys"
	body := `{"location": "westus", "properties": {"tenantId": "T", "sku": {"name": "S"}%s}}`
	w.want("PUT", vault, fmt.Sprintf(body, ""), 201, "", "")
	w.want("GET", gone, "", 404, "", "")
	w.want("DELETE", vault, "", 200, "", "")
	w.want("GET", gone, "", 200, "properties.vaultId", vault)
	w.want("PUT", vault, fmt.Sprintf(body, ""), 409, "error.code", "ConflictError")
	w.want("PUT", vault, fmt.Sprintf(body, `, "createMode": "recover"`), 201, "", "")
	w.want("DELETE", vault, "", 200, "", "")
	w.want("POST", gone+"/purge", "", 200, "", "")
	w.want("PUT", vault, fmt.Sprintf(body, ""), 201, "properties.createMode", "<nil>")
}

// Reads and writes have limits of their own, and each subscription has its own.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	w.Limits = &Limits{Reads: Rate{2, 1}, Writes: Rate{1, 0.25}}
	w.want("PUT", cache, cacheBody, 201, "", "")
	if got := w.want("PUT", cache, cacheBody, 429, "error.code", "TooManyRequests").Header.Get("Retry-After"); got != "4" {
		t.Errorf("Retry-After is %s", got)
	}
	w.want("GET", cache, "", 200, "", "")
	left := w.want("GET", cache, "", 200, "", "").Header
	if got := left.Get("X-Ms-Ratelimit-Remaining-Subscription-Reads"); got != "0" {
		t.Errorf("%s reads remain", got)
	}
	w.want("GET", cache, "", 429, "", "")
	w.want("GET", strings.Replace(cache, "S1", "S2", 1), "", 404, "", "")
	w.now = w.now.Add(4 * time.Second)
	w.want("PUT", cache, cacheBody, 200, "", "")
}

// A new resource is not found for a while, where the behaviour says so; answers get lost; others
// edit at chosen moments.
func TestDisturbances(t *testing.T) {
	w := newWorld(t)
	w.Describe("Example.Cache/caches", func(b *Behaviour) { b.Lag = 5 * time.Second })
	w.Fail(func(r Request) *Fault { return &Fault{Lost: r.IsWrite()} })
	address := "https://management.example" + cache + "?api-version=2024-05-01"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, strings.NewReader(cacheBody))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.Token)
	r.Header.Set("Content-Type", "application/json")
	if _, err := w.Transport().RoundTrip(r); err == nil {
		t.Error("the lost answer came")
	}
	w.Fail(nil)
	w.want("GET", cache, "", 404, "", "")
	w.now = w.now.Add(5 * time.Second)
	w.want("GET", cache, "", 200, "", "")
	w.Intervene(nil, func(r Request) {
		if r.Method == "GET" {
			w.Edit(cache, func(body map[string]any) { set(body, "tags.policy", "on") })
		}
	})
	w.want("GET", cache, "", 200, "tags", "<nil>")
	w.want("GET", cache, "", 200, "tags.policy", "on")
	w.Fail(func(Request) *Fault { return &Fault{Status: 502, Body: "<html>", Type: "text/html"} })
	answer, err := w.Transport().RoundTrip(r)
	if err != nil || answer.StatusCode != 502 || answer.Header.Get("Content-Type") != "text/html" {
		t.Errorf("got %v, %v", answer, err)
	}
}

// Over the network the same is answered.
func TestServe(t *testing.T) {
	s := New(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+cache+"?api-version=2024-05-01", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 404 || len(s.Requests()) != 1 {
		t.Errorf("got %v, %v", answer.Status, s.Requests())
	}
}
