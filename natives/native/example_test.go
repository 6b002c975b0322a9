package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A warehouse is what the service keeps, and what it answers.
type warehouse struct {
	Name    string         `json:"name"`
	Shelves int            `json:"shelves"`
	Owner   reconcile.Mark `json:"owner"`
	Version string         `json:"version,omitempty"`
}

// New returns the integration: one warehouse at a service for each warehouse of the data.
func New(service string) integration.Native {
	return native.Make(native.Recipe{
		Name:  "warehouse-shelves",
		Class: reconcile.Listing, // the service lists everything, with the marks
		// What the data say. Only answers count: no clock, no file, no service.
		Desired: func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
			answer, err := integration.Ask[struct {
				Warehouses []struct {
					Path    string `json:"path"`
					Name    string `json:"name"`
					Shelves int    `json:"shelves"`
				} `json:"warehouses"`
			}](ctx, query, `{ warehouses { path name shelves } }`, nil)
			if err != nil { // also if a list is null: that is a fault, and not an empty world
				return native.Desired{}, err
			}
			part := native.Part{Shard: "all", Caller: "shop", Target: service}
			for _, w := range answer.Warehouses {
				it := reconcile.Item{Key: reconcile.Key(w.Name), Body: w.Shelves, Place: plan.Place{File: w.Path}}
				if w.Shelves < 0 {
					it.Mistake = reconcile.Mistake{Code: "VAL_RANGE", Message: "shelves must not be negative"}
				}
				part.Items = append(part.Items, it)
			}
			return native.Desired{Parts: []native.Part{part}, Callers: []string{"shop"}}, nil
		},
		// What is there. The client of the environment can only read.
		Current: func(ctx context.Context, env integration.Environment, _ native.Part) (native.Current, error) {
			var list []warehouse
			err := call(ctx, env.Client(), http.MethodGet, service, "", nil, &list)
			var out native.Current
			for _, w := range list {
				out.Things = append(out.Things, *w.thing())
			}
			return out, err
		},
		// How a thing differs from its item. It asks nobody.
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			if want.Body == is.Body {
				return reconcile.Difference{}, nil
			}
			change := reconcile.Change{Path: "/shelves", Old: fmt.Sprint(is.Body), New: fmt.Sprint(want.Body)}
			return reconcile.Difference{Changes: []reconcile.Change{change}}, nil
		},
		// What writes. A dry run does not get here.
		Doer: func(_ context.Context, _ integration.Environment, act integration.Actors,
			_ native.Part) (reconcile.Doer, error) {
			return writer{act.Client(), service}, nil
		},
	})
}

func (w warehouse) thing() *reconcile.Thing {
	return &reconcile.Thing{Key: reconcile.Key(w.Name), Body: w.Shelves, Mark: w.Owner, Version: w.Version}
}

// A writer reads and writes single warehouses.
type writer struct {
	client *http.Client
	url    string
}

// address returns the address of a warehouse. Keys come from the data, so they are escaped.
func (w writer) address(key reconcile.Key) string { return w.url + "/" + url.PathEscape(string(key)) }

// Read implements [reconcile.Doer].
func (w writer) Read(ctx context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	var is warehouse
	err := call(ctx, w.client, http.MethodGet, w.address(key), "", nil, &is)
	if errors.Is(err, integration.ErrNotThere) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return is.thing(), nil
}

// Write implements [reconcile.Doer]. The version of the reading is the precondition.
func (w writer) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	version, method := "none", http.MethodPut
	if fresh != nil {
		version = fresh.Version
	}
	var body any
	switch s.Action {
	case reconcile.Remove:
		method = http.MethodDelete
	case reconcile.AdoptIt, reconcile.MarkIt: // these write the mark and leave the rest as it is
		body = warehouse{Name: string(s.Key), Shelves: fresh.Body.(int), Owner: mark}
	default:
		body = warehouse{Name: string(s.Key), Shelves: s.Item.Body.(int), Owner: mark}
	}
	return call(ctx, w.client, method, w.address(s.Key), version, body, nil)
}

// call sends a request with a body in JSON, and decodes the answer into out.
func call(ctx context.Context, client *http.Client, method, address, version string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("If-Match", version)
	res, err := client.Do(req)
	if err != nil {
		return reconcile.Transient(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound:
		return integration.ErrNotThere
	case res.StatusCode == http.StatusPreconditionFailed:
		return reconcile.ErrConflict
	case res.StatusCode >= http.StatusInternalServerError:
		return reconcile.Transient(errors.New(res.Status))
	case res.StatusCode >= http.StatusBadRequest:
		return errors.New(res.Status)
	case out == nil:
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
