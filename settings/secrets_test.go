package settings

import (
	"reflect"
	"testing"
)

// Each source is read with its defaults.
func TestSecretSources(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want SecretSource
	}{
		"files": {"{files: {folder: /etc/secrets}}", SecretSource{Files: "/etc/secrets"}},
		"env":   {"{env: {prefix: APP}}", SecretSource{Env: "APP"}},
		"token": {"{vault: {server: 'https://v:8200/', auth: {token_env: T}}}",
			SecretSource{Vault: &Vault{Server: "https://v:8200", TokenEnv: "T"}}},
		"AppRole": {
			"{vault: {server: 'http://127.0.0.1:1', mount: /kv/, namespace: a/b, auth: {approle: {role_id_env: R, secret_id_env: S}}}}",
			SecretSource{Vault: &Vault{Server: "http://127.0.0.1:1", Mount: "kv", Namespace: "a/b",
				AppRole: &AppRole{"approle", "R", "S"}}},
		},
		"Kubernetes": {
			"{vault: {server: 'http://[::1]:1', auth: {kubernetes: {role: r}}}}",
			SecretSource{Vault: &Vault{Server: "http://[::1]:1", Kubernetes: &KubernetesLogin{"r", "kubernetes",
				"/var/run/secrets/kubernetes.io/serviceaccount/token"}}},
		},
		"Kubernetes elsewhere": {
			"{vault: {server: 'http://localhost', auth: {kubernetes: {role: r, mount: kubernetes/east, token_file: /t}}}}",
			SecretSource{Vault: &Vault{Server: "http://localhost", Kubernetes: &KubernetesLogin{"r", "kubernetes/east", "/t"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read("prcheck.yaml", []byte(inSecrets(c.text)))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Line = 2
			if got := s.Secrets(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}
