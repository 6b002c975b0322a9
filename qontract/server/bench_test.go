package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/server"
)

// manyUsers returns a bundle with n users who share a hundred roles.
func manyUsers(n int) string {
	var out strings.Builder
	out.WriteString(`{"data":{`)
	for i := range 100 {
		fmt.Fprintf(&out, `"/roles/%d.yml":{"$schema":"/role-1.yml","name":"role-%d"},`, i, i)
	}
	for i := range n {
		fmt.Fprintf(&out,
			`"/users/%d.yml":{"$schema":"/user-1.yml","name":"user-%d","roles":[{"$ref":"/roles/%d.yml"},{"$ref":"/roles/%d.yml"}]},`,
			i, i, i%100, i/100%100)
	}
	return strings.TrimSuffix(out.String(), ",") + `},"resources":{},"graphql":{"confs":[` +
		`{"name":"User_v1","datafile":"/user-1.yml","fields":[{"name":"path","type":"string"},{"name":"name","type":"string","isSearchable":true},` +
		`{"name":"roles","type":"Role_v1","isList":true}]},` +
		`{"name":"Role_v1","datafile":"/role-1.yml","fields":[{"name":"path","type":"string"},{"name":"name","type":"string","isSearchable":true},` +
		`{"name":"users","type":"User_v1","isList":true,"synthetic":{"schema":"/user-1.yml","subAttr":"roles"}}]},` +
		`{"name":"Query","fields":[{"name":"users","type":"User_v1","isList":true,"datafileSchema":"/user-1.yml"},` +
		`{"name":"roles","type":"Role_v1","isList":true,"datafileSchema":"/role-1.yml"}]}]}}`
}

// 64 clients send a mix of small, medium and large queries over ten thousand files.
func BenchmarkHub(b *testing.B) {
	bundle := parse(b, []byte(manyUsers(10_000)))
	for name, memory := range map[string]int64{"remembered": 0, "evaluated": -1} {
		b.Run(name, func(b *testing.B) {
			h := server.NewHub(server.HubOptions{Limits: server.Limits{Answers: memory}})
			if err := h.Add(bundle); err != nil {
				b.Fatal(err)
			}
			var bodies []string
			for i := range 50 {
				bodies = append(bodies,
					fmt.Sprintf(`{"query":"{ users(name: \"user-%d\") { name roles { name } } }"}`, i*7),
					fmt.Sprintf(`{"query":"{ roles(name: \"role-%d\") { name users { path name } } }"}`, i))
			}
			bodies = append(bodies, `{"query":"{ users { path name roles { name } } }"}`)
			b.SetParallelism(32) // 64 goroutines on two processors
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/graphql",
						strings.NewReader(bodies[i%len(bodies)]))
					r.Header = inJSONHeader()
					w := httptest.NewRecorder()
					if h.ServeHTTP(w, r); w.Code != http.StatusOK {
						b.Errorf("got %d %s", w.Code, w.Body)
					}
				}
			})
		})
	}
}
