package armtest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// The bodies with which Azure's own examples create resources are taken, and what is read back then
// is taken as well, with nothing changed by it.
func TestAzureExamples(t *testing.T) {
	root := shared.Path(t, "data", "specs", "azure-2019-11-05", "specification")
	sent := 0
	for _, file := range []string{
		"redis/resource-manager/Microsoft.Cache/stable/2018-03-01/redis.json",
		"keyvault/resource-manager/Microsoft.KeyVault/stable/2019-09-01/keyvault.json",
		"storage/resource-manager/Microsoft.Storage/stable/2019-06-01/storage.json",
		"postgresql/resource-manager/Microsoft.DBforPostgreSQL/stable/2017-12-01/postgresql.json",
	} {
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for path, body := range examples(t, raw, filepath.Dir(filepath.Join(root, file))) {
			s, err := Open([][]byte{raw}, Azure())
			if err != nil {
				t.Fatal(err)
			}
			w := &world{Server: s, t: t}
			answer, got := w.send(http.MethodPut, path, body)
			if answer.StatusCode != http.StatusCreated {
				t.Errorf("%s: got %d %v", path, answer.StatusCode, got)
				continue
			}
			_, before := w.send(http.MethodGet, path, "")
			answer, after := w.send(http.MethodPut, path, string(encode(before)))
			if answer.StatusCode != http.StatusOK || !same(before, after) {
				t.Errorf("%s: got %d %s, want %s", path, answer.StatusCode, encode(after), encode(before))
			}
			sent++
		}
	}
	if sent < 8 {
		t.Errorf("only %d bodies were sent", sent)
	}
}

// examples returns the bodies of PUT in the examples of a specification, by the path with its query.
// Only types that stand directly in a group are there.
func examples(t *testing.T, raw []byte, folder string) map[string]string {
	t.Helper()
	var document struct {
		Info  struct{ Version string }
		Paths map[string]struct {
			Put struct {
				Examples map[string]struct {
					Ref string `json:"$ref"`
				} `json:"x-ms-examples"`
				Parameters []struct{ Name, In string }
			}
		}
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for template, item := range document.Paths {
		if strings.Count(template, "/") != 8 {
			continue
		}
		for _, of := range item.Put.Examples {
			text, err := os.ReadFile(filepath.Join(folder, of.Ref))
			if err != nil {
				t.Fatal(err)
			}
			var example struct{ Parameters map[string]json.RawMessage }
			if err := json.Unmarshal(text, &example); err != nil {
				t.Fatal(err)
			}
			path, body := template, ""
			for name, value := range example.Parameters {
				var word string
				if json.Unmarshal(value, &word) == nil {
					path = strings.ReplaceAll(path, "{"+name+"}", word)
				} else if len(value) > 0 && value[0] == '{' {
					body = string(value)
				}
			}
			out[path+"?api-version="+document.Info.Version+"&of="+filepath.Base(of.Ref)] = body
		}
	}
	return out
}
