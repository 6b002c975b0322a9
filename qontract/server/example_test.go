package server_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
)

// A hub answers over the bundles that were added to it.
func ExampleHub() {
	const text = `{"data":{"/u.yml":{"$schema":"/u-1.yml","name":"ana"}},"graphql":{"confs":[` +
		`{"name":"User_v1","fields":[{"name":"name","type":"string"}]},` +
		`{"name":"Query","fields":[{"name":"users","type":"User_v1","isList":true,"datafileSchema":"/u-1.yml"}]}]}}`
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := server.NewHub(server.HubOptions{})
	if err := h.Add(b); err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{ users { name } }"}`))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	fmt.Print(w.Code, " ", string(body))
	if err != nil {
		fmt.Println(err)
	}
	// Output: 200 {"data":{"users":[{"name":"ana"}]},"extensions":{"schemas":["/u-1.yml"]}}
}
