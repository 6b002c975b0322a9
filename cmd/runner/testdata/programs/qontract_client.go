package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A gqlClient is a client of one bundle.
type gqlClient struct {
	r        *reconciler
	path     string   // of the address that it asks
	allowed  []string // schemas
	validate bool
}

// client makes a client of the bundle with that sha256, or of the latest one,
// whose sha256 it asks for first when it is pinned. With named it learns what
// the integration may read.
func (r *reconciler) client(pinned bool, sha string, named bool) (*gqlClient, error) {
	c := &gqlClient{r: r, path: r.server.Path, validate: r.validate && named}
	if sha == "" && pinned {
		var err error
		if sha, err = r.get("/sha256"); err != nil {
			return nil, err
		}
	}
	if sha != "" {
		c.path = "/graphqlsha/" + sha
		info, err := r.get("/git-commit-info/" + sha)
		if err != nil {
			return nil, err
		}
		fmt.Println("commit:", info)
	}
	if !named {
		return c, nil
	}
	answer, err := c.query(questionOfClients, true)
	if err != nil {
		return nil, err
	}
	list, _ := answer["integrations"].([]any)
	for _, it := range list {
		if it, _ := it.(map[string]any); it["name"] == r.name {
			for _, s := range it["schemas"].([]any) {
				c.allowed = append(c.allowed, s.(string))
			}
			break
		}
	}
	if c.validate && len(c.allowed) == 0 {
		return nil, fmt.Errorf("%w: %s", errNotFound, r.name)
	}
	return c, nil
}

// query asks, again when the server cannot be reached or the answer holds
// errors; what the integration may not read is an error at once.
func (c *gqlClient) query(query string, skipValidation bool) (data map[string]any, err error) {
	for i := range clientAttempts {
		time.Sleep(time.Duration(i) * clientPause)
		data, err = c.once(query, skipValidation)
		if err == nil || errors.Is(err, errForbidden) {
			return data, err
		}
	}
	return nil, err
}

func (c *gqlClient) once(query string, skipValidation bool) (map[string]any, error) {
	raw := ask(c.r.at(c.path), c.r.token, query)
	fmt.Printf("POST %s: %s\n", c.path, query)
	var answer struct {
		Data       map[string]any
		Errors     []struct{ Message string }
		Extensions struct{ Schemas []string }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("GqlApiError: unexpected error: %w", err)
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("GqlApiError: `error` returned with GraphQL response %s", answer.Errors[0].Message)
	}
	if c.validate && !skipValidation {
		extra := slices.DeleteFunc(answer.Extensions.Schemas, func(s string) bool { return slices.Contains(c.allowed, s) })
		if len(extra) > 0 {
			return nil, fmt.Errorf("%w: %q", errForbidden, extra)
		}
	}
	if answer.Data == nil {
		return nil, errors.New("GqlApiError: `data` not received")
	}
	return answer.Data, nil
}

// run is the dry-run: it ends early when the desired states of both bundles are
// the same, and runs in full when it cannot tell.
func (r *reconciler) run(query string, early bool) error {
	if !r.dryRun {
		fmt.Println("THIS IS NO DRY-RUN")
		return nil
	}
	var before, now map[string]any
	if early && r.compare != "" {
		var err error
		if before, now, err = r.states(query); err != nil {
			fmt.Println("Failed to fetch desired state:", err)
			before = nil
		}
	}
	c, err := r.client(r.pinned, "", true)
	if err != nil {
		return err
	}
	if before != nil && reflect.DeepEqual(sorted(before), sorted(now)) {
		fmt.Println("No changes in desired state. Exit PR check early.")
		return nil
	}
	if before != nil && r.affectedOnly {
		fmt.Println("would look for affected shards")
	}
	data, err := c.query(query, false)
	if err == nil {
		fmt.Printf("ran %s in full: %d roots\n", r.name, len(data))
	}
	return err
}

// states are the desired states of the bundle to compare with and of the latest.
func (r *reconciler) states(query string) (before, now map[string]any, err error) {
	for _, s := range []struct {
		sha   string
		state *map[string]any
	}{{r.compare, &before}, {"", &now}} {
		c, err := r.client(r.pinned, s.sha, true)
		if err != nil {
			return nil, nil, err
		}
		if *s.state, err = c.query(query, false); err != nil {
			return nil, nil, err
		}
	}
	return before, now, nil
}

// sorted is a value with its lists in one order, since order does not count.
func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = sorted(e)
		}
		return out
	case []any:
		var out []string
		for _, e := range v {
			raw, err := json.Marshal(sorted(e))
			must(err)
			out = append(out, string(raw))
		}
		slices.SortFunc(out, strings.Compare)
		return out
	}
	return v
}
