package classes_test

import (
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

func TestSecretNameCases(t *testing.T) {
	shared.Each(t, "secret_name", func(t *testing.T, c struct {
		Input    struct{ Name string }
		Expected bool
	}) {
		if got := classes.LooksSecret(c.Input.Name); got != c.Expected {
			t.Errorf("%q: got %t", c.Input.Name, got)
		}
	})
}

// Names are split into words, however they are written. In doubt a value is hidden.
func TestLooksSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"connection-string": true, "connection_string": true, "storage.connection.string": true, "CONNECTIONSTRING": true,
		"ConnectionStrings": false,
		"SASUrl":            true, "sasURL1": true, "sasUrlName": false, "adminpassword": true, "clientSecret2": true,
		"tokens": false, "Passphrase": true,
		"privateKeyPem": true, "private_key_data": true, "accountKeyValue": true, "sshPublicKeyData": false,
		"partitionKey": false, "PublicKey1": false,
		"key": true, "key1": true, "KEY_2": true, "sshKey": true, "hostKey": true, "keys": false, "keyVersion": false,
		"monkeyKey": true, "turkey": false,
		"metadata": false, "data": false, "value": false, "customData": true, "userDataBase": false, "tokenExpiry": false,
		"secretType": false,
		"kubeConfig": true, "passWord": true, "admin_pass_word": true, "credentials": true, "": false, "123": false,
		"ключ": false, "пароль_token": true,
	} {
		if got := classes.LooksSecret(name); got != want {
			t.Errorf("%q: got %t, want %t", name, got, want)
		}
	}
}
