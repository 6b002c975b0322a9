package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// The queries. The path comes first, so that each entry of an answer says which file it is. %s stands for the fields
// that data with older schemas do not have.
const (
	apisQuery = `{ list: cloud_apis_v1 { path name family endpoint token { path field version } insecure
  specifications overrides readActions %s } }`
	resourcesQuery = `{ list: cloud_resources_v1 { path api { path } type name parent resourceId body bodyText policy adopt
  delete protected allowReplace allowUpdate ignore exclusive secrets { at secret { path field version } } hooks
  onSoftDeleted needs { path } %s } }`
	newerQuery = `{ api: __type(name: "CloudAPI_v1") { fields { name } } resource: __type(name: "CloudResource_v1") {
  fields { name } } }`
	contentQuery = `query($path: String) { list: resources_v1(path: $path) { path content } }`
)

// newer lists the fields that data with older schemas do not have, and how they are asked for.
var newer = map[string]string{
	"credentials": `credentials { parents kind secret { path field version } header user tokenUrl clientId scope secretInBody
  tokenFile }`,
	"outputs": `outputs { at to { path field version } }`,
}

// A graphType is what a GraphQL server says of a type.
type graphType struct{ Fields []struct{ Name string } }

// has reports whether a type has a field. Of a type that is not known everything is asked for.
func (g *graphType) has(name string) bool {
	return g == nil || slices.ContainsFunc(g.Fields, func(f struct{ Name string }) bool { return f.Name == name })
}

// queries returns the queries for APIs and resources that the data can answer. A server that does not tell its types is
// asked for everything.
func queries(ctx context.Context, query integration.QueryFunc) (apis, all string) {
	var types struct{ API, Resource *graphType }
	if raw, err := query(ctx, newerQuery, nil); err != nil || json.Unmarshal(raw, &types) != nil {
		types.API, types.Resource = nil, nil
	}
	fields := func(t *graphType, name string) string {
		if t.has(name) {
			return newer[name]
		}
		return ""
	}
	return fmt.Sprintf(apisQuery, fields(types.API, "credentials")),
		fmt.Sprintf(resourcesQuery, fields(types.Resource, "outputs"))
}

// A secretRow is a reference to a secret as an answer has it.
type secretRow struct {
	Path    *string     `json:"path"`
	Field   *string     `json:"field"`
	Version json.Number `json:"version"`
}

func (s *secretRow) ref() (integration.SecretRef, bool) {
	if s == nil || s.Path == nil || s.Field == nil || *s.Path == "" || *s.Field == "" {
		return integration.SecretRef{}, false
	}
	return integration.SecretRef{Path: *s.Path, Field: *s.Field, Version: s.Version.String()}, true
}

// An apiRow is an API as an answer has it. What is missing is "".
type apiRow struct {
	Path           string     `json:"path"`
	Name           string     `json:"name"`
	Family         string     `json:"family"`
	Endpoint       string     `json:"endpoint"`
	Token          *secretRow `json:"token"`
	Insecure       bool       `json:"insecure"`
	Specifications []string   `json:"specifications"`
	Overrides      string     `json:"overrides"`
	ReadActions    []string   `json:"readActions"`

	Credentials []credentialRow `json:"credentials"`
}

// A credentialRow is a credential of an API.
type credentialRow struct {
	Parents      []string   `json:"parents"`
	Kind         string     `json:"kind"`
	Secret       *secretRow `json:"secret"`
	Header       string     `json:"header"`
	User         string     `json:"user"`
	TokenURL     string     `json:"tokenUrl"`
	ClientID     string     `json:"clientId"`
	Scope        string     `json:"scope"`
	SecretInBody bool       `json:"secretInBody"`
	TokenFile    string     `json:"tokenFile"`
}

// A pathRow is a reference to a datafile.
type pathRow struct {
	Path string `json:"path"`
}

// A resourceRow is a resource as an answer has it.
type resourceRow struct {
	Path          string          `json:"path"`
	API           *pathRow        `json:"api"`
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Parent        string          `json:"parent"`
	ResourceID    string          `json:"resourceId"`
	Body          json.RawMessage `json:"body"`
	BodyText      *string         `json:"bodyText"`
	Policy        string          `json:"policy"`
	Adopt         string          `json:"adopt"`
	Delete        json.RawMessage `json:"delete"`
	Protected     bool            `json:"protected"`
	AllowReplace  bool            `json:"allowReplace"`
	AllowUpdate   []string        `json:"allowUpdate"`
	Ignore        []string        `json:"ignore"`
	Exclusive     []string        `json:"exclusive"`
	Secrets       []secretAtRow   `json:"secrets"`
	Hooks         []string        `json:"hooks"`
	OnSoftDeleted string          `json:"onSoftDeleted"`
	Needs         []pathRow       `json:"needs"`
	Outputs       []outputRow     `json:"outputs"`
}

// An outputRow is a value that goes into the store of secrets.
type outputRow struct {
	At string     `json:"at"`
	To *secretRow `json:"to"`
}

type secretAtRow struct {
	At     string     `json:"at"`
	Secret *secretRow `json:"secret"`
}

// A row is an entry of an answer with what of it could not be answered.
type row[T any] struct {
	entry T
	wrong Mistake
}

// ask returns the entries of the list of a query. What cannot be answered of one entry is its
// mistake, with the pointer in its file.
func ask[T any](ctx context.Context, query integration.QueryFunc, text, what string) ([]row[T], error) {
	raw, err := query(ctx, text, map[string]any{integration.ExactNumbers: true})
	wrong := map[int]Mistake{}
	if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) {
		if _, isInList := partial.InList("list"); !isInList {
			return nil, fmt.Errorf("asking for %s: %w", what, err)
		}
		raw, wrong = partial.Data, mistakesOf(partial)
	} else if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", what, err)
	}
	var answer struct {
		List *[]json.RawMessage `json:"list"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("reading the answer about %s: %w", what, err)
	}
	if answer.List == nil {
		return nil, fmt.Errorf("asking for %s: %w", what, integration.ErrNotWhole)
	}
	out := make([]row[T], len(*answer.List))
	for i, entry := range *answer.List {
		out[i].wrong = wrong[i]
		if err := json.Unmarshal(entry, &out[i].entry); err != nil {
			return nil, fmt.Errorf("reading the answer about %s: %w", what, err)
		}
	}
	return out, nil
}

// noText begins what a GraphQL server of JavaScript says of a null in the place of a text.
const noText = "Cannot read propert"

// mistakesOf returns the first mistake of each entry of an answer, by position.
func mistakesOf(partial *integration.AnswerError) map[int]Mistake {
	out := map[int]Mistake{}
	for _, f := range partial.Errors {
		at, _ := f.Path[1].(float64) // InList has checked it
		if _, known := out[int(at)]; known {
			continue
		}
		pointer := ""
		for _, part := range f.Path[2:] {
			pointer = jsonpointer.Append(pointer, fmt.Sprint(part))
		}
		message := f.Message
		if strings.HasPrefix(message, noText) {
			message = "it is null and must be a text"
		}
		if strings.HasPrefix(pointer, "/body/") {
			message += ": write the whole body as JSON text in bodyText"
		}
		out[int(at)] = Mistake{codeType, pointer, message}
	}
	return out
}

// contentOf returns the text of a bundle resource, and whether it is there.
func contentOf(ctx context.Context, query integration.QueryFunc, path string) (string, bool, error) {
	answer, err := integration.Ask[struct {
		List []struct {
			Path    string `json:"path"`
			Content string `json:"content"`
		} `json:"list"`
	}](ctx, query, contentQuery, map[string]any{"path": path})
	var partial *integration.AnswerError
	var none *integration.NoAnswerError
	switch {
	case errors.As(err, &none) && len(none.Errors) == 1 && len(none.Errors[0].Path) == 2:
		return "", false, nil // as below, where the list must not be null
	case errors.As(err, &partial) && len(partial.Errors) == 1 && len(partial.Errors[0].Path) == 2:
		return "", false, nil // without a resource of this path the list has one entry, which is null
	case err != nil:
		return "", false, fmt.Errorf("asking for the resource %.200q: %w", path, err)
	case len(answer.List) == 0:
		return "", false, nil
	}
	return answer.List[0].Content, true, nil
}

// The fields of the query type that [Reader.Read] asks for.
const (
	apisField      = "cloud_apis_v1"
	resourcesField = "cloud_resources_v1"
)

// Paths returns the datafiles of all resources.
func Paths(ctx context.Context, query integration.QueryFunc) ([]string, error) {
	rows, err := ask[pathRow](ctx, query, "{ list: "+resourcesField+" { path } }",
		"the files of resources ("+resourcesField+")")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		out = append(out, r.entry.Path)
	}
	return out, nil
}

// IsKnown reports whether data know resources of APIs at all. Data from before the first import
// do not: a query for them is an error.
func IsKnown(ctx context.Context, query integration.QueryFunc) (bool, error) {
	raw, err := query(ctx, "{ __schema { queryType { fields { name } } } }", nil)
	if err != nil {
		return false, fmt.Errorf("asking which lists the data have: %w", err)
	}
	var answer struct {
		Schema struct {
			QueryType struct {
				Fields []struct{ Name string }
			}
		} `json:"__schema"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return false, fmt.Errorf("reading which lists the data have: %w", err)
	}
	var names []string
	for _, f := range answer.Schema.QueryType.Fields {
		names = append(names, f.Name)
	}
	return slices.Contains(names, apisField) && slices.Contains(names, resourcesField), nil
}
