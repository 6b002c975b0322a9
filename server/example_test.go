package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/server"
)

func Example() {
	ctx := context.Background()
	b, _ := bundle.Parse(snapshot("ana", nil), nil)
	h, _ := bundle.Parse(snapshot("bob", nil), b)
	base, head, _ := server.Snapshots(b, h)
	e, _ := server.Open(ctx, server.Options{
		Base: base, Head: head, Integration: "one",
		BaseAllowed: []bundle.Schema{"/user-1.yml"}, HeadAllowed: []bundle.Schema{"/user-1.yml"},
	})
	for _, query := range []string{`{"query": "{ users { name } }"}`, `{"query": "{ roles { name } }"}`} {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, e.URL(), bytes.NewReader([]byte(query)))
		req.Header.Set("Content-Type", "application/json")
		res, _ := http.DefaultClient.Do(req)
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		fmt.Println(res.StatusCode, len(body) > 0)
	}
	fmt.Println(e.Close())
	// Output:
	// 200 true
	// 200 true
	// one reads /role-1.yml, which its definition does not allow; add it to its schemas
}
