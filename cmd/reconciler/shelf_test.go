package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/programs/reconciler"
	"github.com/app-sre/prcheck/settings"
)

// keeper is the program reconciler with native integrations for scripts. Their world is the folder
// that WORLD names: a file for each thing.
//
//   - The file KEY.down makes a thing's system unreachable, KEY.full refuses writes, KEY.panic
//     makes reading panic.
//   - A thing's file has its size and its mark: 70 INTEGRATION[@VERSION]/CALLER.
//   - While the file slow exists, a write makes the file started and waits for the file go.
func keeper() {
	natives := []integration.Native{
		shelf{os.Getenv("WORLD")}.native("warehouse-stock", "{ things: warehouses { path name size: shelves } }", "/shelves"),
		shelf{os.Getenv("WORLD")}.native("desk-plan", "{ things: rooms { path name size: desks } }", "/desks"),
		shelf{os.Getenv("WORLD")}.native("price-tags", "{ things: warehouses { path name size: shelves } }", "/shelves"),
	}
	os.Exit(reconciler.Main(natives...))
}

// A shelf is a folder with things.
type shelf struct{ dir string }

// native returns the integration of the things that a query names. A thing of size 0 must go.
func (s shelf) native(name, query, pointer string) integration.Native {
	return native.Make(native.Recipe{
		Name: name, Class: reconcile.Listing,
		Desired: func(ctx context.Context, ask integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
			raw, err := ask(ctx, query, nil)
			if err != nil {
				return native.Desired{}, err
			}
			var data struct {
				Things []struct {
					Path, Name string
					Size       int
				}
			}
			if err := json.Unmarshal(raw, &data); err != nil {
				return native.Desired{}, err
			}
			d := native.Desired{Callers: []string{}}
			for _, t := range data.Things {
				item := reconcile.Item{Key: reconcile.Key(t.Name), Body: t.Size, Delete: t.Size == 0,
					Place: plan.Place{File: t.Path, Pointer: pointer}}
				if t.Size < 0 {
					item.Mistake = reconcile.Mistake{Code: reconcile.CodeType, Message: "its size is below 0"}
				}
				d.Parts = append(d.Parts, native.Part{Shard: t.Name, Caller: t.Name, Target: t.Name, Items: []reconcile.Item{item}})
				d.Callers = append(d.Callers, t.Name)
			}
			return d, nil
		},
		Current: func(_ context.Context, _ integration.Environment, p native.Part) (native.Current, error) {
			for file, answer := range map[string]func() error{
				".down":  func() error { return reconcile.Transient(errors.New("nobody answers")) },
				".panic": func() error { panic("oh no") },
			} {
				if s.has(p.Shard + file) {
					return native.Current{}, answer()
				}
			}
			t, err := s.Read(context.Background(), reconcile.Key(p.Shard))
			if t == nil || err != nil {
				return native.Current{}, err
			}
			return native.Current{Things: []reconcile.Thing{*t}}, nil
		},
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			if fmt.Sprint(want.Body) == fmt.Sprint(is.Body) {
				return reconcile.Difference{}, nil
			}
			return reconcile.Difference{Changes: []reconcile.Change{{Path: "/size", Old: fmt.Sprint(is.Body),
				New: fmt.Sprint(want.Body)}}}, nil
		},
		Doer: func(context.Context, integration.Environment, integration.Actors, native.Part) (reconcile.Doer, error) {
			return s, nil
		},
	})
}

func (s shelf) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// Read implements [reconcile.Doer].
func (s shelf) Read(_ context.Context, k reconcile.Key) (*reconcile.Thing, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, string(k)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	size, owner, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	t := &reconcile.Thing{Key: k, Body: size}
	if of, caller, marked := strings.Cut(owner, "/"); marked {
		of, version, _ := strings.Cut(of, "@")
		t.Mark = reconcile.Mark{Integration: of, Version: version, Caller: caller}
	}
	return t, nil
}

// Write implements [reconcile.Doer].
func (s shelf) Write(ctx context.Context, step reconcile.Step, _ *reconcile.Thing, mark reconcile.Mark) error {
	if s.has("slow") {
		if err := s.waitToGo(ctx); err != nil {
			return err
		}
	}
	if s.has(string(step.Key) + ".full") {
		return errors.New("there is no room; the password is " + os.Getenv("SHELF_PASSWORD"))
	}
	name := filepath.Join(s.dir, string(step.Key))
	if step.Action == reconcile.Remove {
		return os.Remove(name)
	}
	body := step.Item.Body
	if step.Action == reconcile.AdoptIt {
		body = step.Thing.Body
	}
	// A killed run leaves the file as it was, or writes it whole.
	if err := os.WriteFile(name+".new", fmt.Appendf(nil, "%v %s/%s\n", body, mark.Integration, mark.Caller),
		0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// waitToGo waits for the file go.
func (s shelf) waitToGo(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(s.dir, "started"), nil, 0o600); err != nil {
		return err
	}
	for !s.has("go") {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}
