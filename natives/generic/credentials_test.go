package generic

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// federated gives the API of a scene the credentials of a platform, and notes with which logins its service is
// reached.
func federated(s *scene) (logins *[]integration.Login) {
	api := s.Data[cloudtest.API]
	delete(api, "token")
	of := func(root, client string) object {
		return object{"kind": "workload_identity", "parents": []any{root}, "clientId": client,
			"tokenUrl": "https://login.example/token", "tokenFile": "platform"}
	}
	api["credentials"] = []any{of("/subscriptions/S1", "one"), of("/subscriptions/s2", "of-s2")}
	s.settings = "hosts: [arm.example, login.example], token_files: {platform: /var/run/token}"
	logins = &[]integration.Login{}
	reader := s.endpoint(true)
	s.reach = func(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
		s.mu.Lock()
		*logins = append(*logins, ref.Login)
		s.mu.Unlock()
		return reader(ctx, ref)
	}
	return logins
}

// A part is reached with the credential of its root, by the file that the settings name.
func TestCredentialOfPart(t *testing.T) {
	s := newScene(t)
	logins := federated(s)
	s.must()
	want := integration.Login{Kind: integration.LoginFederated, TokenURL: "https://login.example/token", ClientID: "one",
		TokenFile: "/var/run/token"}
	if len(*logins) == 0 || (*logins)[0] != want {
		t.Errorf("got %+v, want %+v", *logins, want)
	}
}

// What the settings do not name is not asked: neither the service of tokens nor a file.
func TestCredentialsNeedSettings(t *testing.T) {
	for settings, want := range map[string]string{
		"hosts: [arm.example]":                "do not name the host login.example: add it to hosts",
		"hosts: [arm.example, login.example]": `do not name the file of the token "platform": add it to token_files`,
	} {
		s := newScene(t)
		logins := federated(s)
		s.settings = settings
		if err := s.run(); err != nil || len(*logins) > 0 {
			t.Errorf("%s: got %v, %+v", settings, err, *logins)
		}
		if text := s.log.String(); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", settings, text, want)
		}
	}
}

// Before the merge of a change that alters a credential nobody is asked and no secret is read.
func TestChangedCredentials(t *testing.T) {
	for name, change := range map[string]func(object){
		"the service of tokens": func(c object) { c["tokenUrl"] = "https://login.example/other" },
		"the client":            func(c object) { c["clientId"] = "two" },
		"the kind": func(c object) {
			clear(c)
			c["kind"], c["secret"] = "bearer", object{"path": "cloud/any", "field": "secret"}
		},
		"that of another root": func(c object) { c["clientId"] = "of-s2" },
	} {
		s := newScene(t)
		logins := federated(s)
		base := s.Clone()
		changed := object{}
		for k, v := range s.Data[cloudtest.API]["credentials"].([]any)[0].(object) {
			changed[k] = v
		}
		change(changed)
		s.Data[cloudtest.API]["credentials"] = []any{changed}
		if err := s.check(base); err != nil || len(*logins) > 0 || len(s.asked) > 0 {
			t.Errorf("%s: got %v, reached as %+v, read %q", name, err, *logins, s.asked)
		}
		var codes []string
		for _, f := range s.findings {
			codes = append(codes, string(f.Code))
		}
		if !strings.Contains(strings.Join(codes, " "), "NEW_TARGET") {
			t.Errorf("%s: got %q", name, codes)
		}
	}
}
