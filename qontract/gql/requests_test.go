package gql_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// TestRequests compares status and body, byte for byte, with the recorded answers of
// graphql-js 16.14.2 behind qontract-server 2.0.0, over the small bundle of the tests. Most
// requests are rejected: there is a case for each rule and each message. The file has a
// title after #, then pairs of lines: a body and its answer.
func TestRequests(t *testing.T) {
	raw, err := os.ReadFile("testdata/requests.golden")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := smallEngine(t)
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	title, compared := "", 0
	for i := 0; i < len(lines); i++ {
		if lines[i][0] == '#' {
			title = string(lines[i][2:])
			continue
		}
		request := requestOf(t, lines[i])
		i++
		compared++
		res := e.Answer(context.Background(), request)
		if got := fmt.Sprintf("%d %s", res.Status, res.JSON()); got != string(lines[i]) {
			t.Errorf("%s\n     %.1000s\n got %.3000s\nwant %.3000s", title, lines[i-1], got, lines[i])
		}
	}
	if compared < 500 {
		t.Errorf("compared %d requests, want all of them", compared)
	}
}

// requestOf reads the body of a request.
func requestOf(t testing.TB, body []byte) gql.Request {
	t.Helper()
	v, err := bundle.ParseValue(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	o, _ := v.(*bundle.Object)
	given, _ := o.Get("variables")
	req := gql.Request{Query: o.String("query"), Operation: o.String("operationName")}
	req.Variables, _ = given.(*bundle.Object)
	name, named := o.Get("operationName")
	req.EmptyName = named && name == ""
	return req
}
