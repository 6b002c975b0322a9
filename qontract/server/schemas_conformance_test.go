package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
)

// A validationCase is a recorded case of the area gql_schema_validation.
type validationCase struct {
	Area, Name string
	Input      struct {
		Validate     bool `json:"validate_schemas"`
		Integration  *string
		Integrations []struct {
			Name    string
			Schemas []bundle.SchemaPath
		}
		Response *[]bundle.SchemaPath `json:"response_extensions_schemas"`
		Skip     bool                 `json:"skip_validation"`
	}
	Expected struct {
		Error     *string
		Forbidden []bundle.SchemaPath
		ExitCode  int    `json:"exit_code"` // of the program that asks
		Message   string // of the error, in other words than ours
	}
}

// An endpoint refuses the queries that the client in the recorded cases refuses. A task
// whose definition lists no schemas may read no datafile. So its first query fails where
// the recorded case says "not found".
func TestSchemaValidation(t *testing.T) {
	shared.Each(t, "gql_schema_validation", func(t *testing.T, c validationCase) {
		if c.Input.Integration == nil {
			t.Skip("every endpoint belongs to one integration; there is none without a name")
		}
		opts := server.Options{Integration: *c.Input.Integration, Unenforced: !c.Input.Validate}
		for _, i := range c.Input.Integrations {
			if i.Name == opts.Integration {
				opts.BaseAllowed, opts.HeadAllowed = i.Schemas, i.Schemas
			}
		}
		schemas := []bundle.SchemaPath{"TEST_SCHEMA", "FORBIDDEN_TEST_SCHEMA"}
		if c.Input.Response != nil {
			schemas = append(schemas, *c.Input.Response...)
		}
		err := askOnce(t, opts, slices.Compact(slices.Sorted(slices.Values(schemas))), c.query())
		var forbidden *server.ForbiddenError
		isForbidden := errors.As(err, &forbidden)
		if want := c.Expected.Error != nil; isForbidden != want || err != nil && !isForbidden {
			t.Fatalf("got %v, want an error: %v", err, want)
		}
		if want := c.Expected.Forbidden; want != nil && !slices.Equal(forbidden.Schemas, want) {
			t.Errorf("got %v, want %v", forbidden.Schemas, want)
		}
		if err != nil && !strings.Contains(err.Error(), opts.Integration) {
			t.Errorf("%q does not name the integration", err)
		}
	})
}

// query returns a query that touches the schemas of the recorded response. If the case has
// no response, the query touches a schema that is not listed.
func (c validationCase) query() string {
	switch schemas := c.Input.Response; {
	case c.Input.Skip:
		return "{resources_v1{content}}"
	case schemas == nil && c.Expected.Error == nil:
		return "{__typename}"
	case schemas == nil:
		return "{of0:TEST_SCHEMA{name}}"
	default:
		var fields []string
		for i, s := range *schemas {
			fields = append(fields, fmt.Sprintf("of%d:%s{name}", i, s))
		}
		return "{" + strings.Join(fields, " ") + "}"
	}
}

// askOnce opens an endpoint over a datafile of each schema, sends one query and closes the endpoint.
func askOnce(t *testing.T, opts server.Options, schemas []bundle.SchemaPath, query string) error {
	t.Helper()
	var files, fields []string
	for i, s := range schemas {
		files = append(files, fmt.Sprintf(`"/%d.yml":{"$schema":%q,"name":"n"}`, i, s))
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":"File","isList":true,"datafileSchema":%[1]q}`, s))
	}
	fields = append(fields, `{"name":"resources_v1","type":"Resource_v1","isList":true,"isResource":true}`)
	text := `{"data":{` + strings.Join(files, ",") + `},` +
		`"resources":{"/r":{"path":"/r","content":"x","sha256sum":"1","$schema":"X","backrefs":[]}},"graphql":[` +
		`{"name":"File","fields":[{"name":"name","type":"string"}]},` +
		`{"name":"Resource_v1","fields":[{"name":"content","type":"string"}]},` +
		`{"name":"Query","fields":[` + strings.Join(fields, ",") + `]}]}`
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Base, opts.Head, err = server.NewSnapshots(b, b); err != nil {
		t.Fatal(err)
	}
	e, err := server.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(e.URL(), "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	failure := e.Close()
	if said := bytes.Contains(answer, []byte("FORBIDDEN_SCHEMA")); said != (failure != nil) ||
		res.StatusCode != http.StatusOK {
		t.Errorf("the endpoint says %v, but it answered %s: %s", failure, res.Status, answer)
	}
	return failure
}
