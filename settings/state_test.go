package settings

import (
	"strings"
	"testing"
)

const publicKey = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

func TestState(t *testing.T) {
	s, err := Read("prcheck.yaml",
		[]byte("version: 1\nstate: {keys: ['"+publicKey+"'], project: shop/data, trust: bucket}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.StateTrust(); len(got.Keys) != 1 || len(got.Keys[0]) != 32 || got.Project != "shop/data" || !got.Bucket {
		t.Errorf("got %+v", got)
	}
	if got := (&Settings{}).StateTrust(); len(got.Keys) != 0 || got.Project != "" || got.Bucket {
		t.Errorf("without settings: got %+v", got)
	}
}

func TestStateMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "{key: x}", `state: unknown key "key" (did you mean "keys"?)`},
		{"no keys", "{keys: []}", "state.keys"},
		{"no key", "{keys: [x]}", `state.keys: "x" is no public key as planner upkeep keygen prints it`},
		{"another kind", "{keys: ['rsa:" + publicKey[8:] + "']}", "is no public key"},
		{"too short", "{keys: ['ed25519:AAAA']}", "is no public key"},
		{"twice", "{keys: ['" + publicKey + "', '" + publicKey + "']}", "state.keys"},
		{"trust of all", "{trust: folder}", `state.trust`},
		{"no project", "{project: ''}", "state.project: is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Read("prcheck.yaml", []byte("version: 1\nstate: "+c.text+"\n"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v\nwant %s", s, err, c.want)
			}
		})
	}
}
