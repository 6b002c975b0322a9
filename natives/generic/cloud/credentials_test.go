package cloud_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

type fields = cloudtest.Fields

// apiWith returns the API of a world with credentials in the place of its token.
func apiWith(t *testing.T, credentials ...any) *cloud.API {
	t.Helper()
	w := cloudtest.New("https://arm.example")
	delete(w.Data[cloudtest.API], "token")
	w.Data[cloudtest.API]["credentials"] = credentials
	m, err := (&cloud.Reader{}).Read(t.Context(), w.Query(t))
	if err != nil {
		t.Fatal(err)
	}
	return m.APIs[0]
}

// The first credential for a root counts, and one without parents is for all others.
func TestCredentialsOfRoots(t *testing.T) {
	a := apiWith(t,
		fields{"kind": "workload_identity", "parents": []any{"/subscriptions/S1"}, "tokenUrl": "https://login.example/t",
			"clientId": "one", "tokenFile": "azure", "scope": "all"},
		fields{"kind": "header", "header": "X-Api-Key", "secret": fields{"path": "cloud/a", "field": "key"}})
	if !a.Mistake.IsZero() {
		t.Fatal(a.Mistake)
	}
	ref, c := a.Ref("/subscriptions/s1")
	if want := (integration.Login{Kind: "workload_identity", TokenURL: "https://login.example/t", ClientID: "one",
		Scope: "all"}); ref.Login != want || c.TokenFile != "azure" || ref.Token != (integration.SecretRef{}) {
		t.Errorf("got %+v and %+v", ref, c)
	}
	ref, c = a.Ref("/subscriptions/s2")
	if ref.Login.Header != "X-Api-Key" || c.TokenFile != "" || ref.Token.Path != "cloud/a" {
		t.Errorf("got %+v and %+v", ref, c)
	}
}

// What is wrong with credentials is one mistake of the API, at its place.
func TestCredentialMistakes(t *testing.T) {
	secret := fields{"path": "cloud/a", "field": "key"}
	for name, c := range map[string]struct {
		rows       []any
		file, want string
	}{
		"no kind":   {[]any{fields{"kind": "digest", "secret": secret}}, "/credentials/0/kind", `no kind "digest"`},
		"no secret": {[]any{fields{"kind": "bearer"}}, "/credentials/0/secret", "needs secret"},
		"half a secret": {[]any{fields{"kind": "bearer", "secret": fields{"path": "a"}}}, "/credentials/0/secret",
			"a path and a field"},
		"too much": {[]any{fields{"kind": "header", "header": "X", "user": "me", "secret": secret}}, "/credentials/0/user",
			"kind header has no user"},
		"never used": {[]any{fields{"kind": "bearer", "secret": secret}, fields{"kind": "bearer", "secret": secret}},
			"/credentials/1", "never used"},
	} {
		a := apiWith(t, c.rows...)
		if a.Mistake.Pointer != c.file || !strings.Contains(a.Mistake.Message, c.want) {
			t.Errorf("%s: got %+v, want %s: %s", name, a.Mistake, c.file, c.want)
		}
	}
}

// Data with schemas from before these fields are read without them.
func TestOlderSchemas(t *testing.T) {
	w := cloudtest.New("https://arm.example")
	w.Older = true
	m, err := (&cloud.Reader{}).Read(t.Context(), w.Query(t))
	if err != nil || !m.APIs[0].Mistake.IsZero() || m.APIs[0].Token.Path != "cloud/acme" {
		t.Errorf("got %+v, %v", m, err)
	}
}
