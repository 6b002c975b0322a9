package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/wrapper"
)

// A native is a native integration that asks one query.
type native struct{ name, query string }

func (n native) Name() string { return n.name }

func (n native) Run(context.Context, integration.Environment, integration.Actors) error {
	panic("a task writes nothing")
}

func (n native) DryRun(ctx context.Context, w integration.Environment) error {
	answer, err := w.Query(ctx, n.query, map[string]any{"name": w.Shard})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Log, "dry run of %q: %s", w.Shard, answer)
	return err
}

func pair() (base, head *bundle.Bundle, err error) {
	if base, err = bundle.Open("../../testdata/shop/base.json", nil); err != nil {
		return nil, nil, err
	}
	head, err = bundle.Open("../../testdata/shop/head.json", base)
	return base, head, err
}

// A native integration runs in this process and sends its queries to its task's endpoint.
func TestNative(t *testing.T) {
	base, head, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	task := plan.Task{ID: "it", Integration: "warehouse-stock", Shard: "harbor", Native: true}
	open, err := Equipment{Base: base, Head: head, Settings: &settings.Settings{},
		Observe: func(string) func(server.Exchange) { return nil }}.endpoints()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, query, want, failure string
		config                     bool
	}{
		{"warehouse-stock", "query($name: String) { warehouses(name: $name) { shelves } }",
			`dry run of "harbor": {"warehouses":[{"shelves":260}]}`, "", false},
		{"warehouse-stock", "query($name: String) { warehouses(name: $name) { nothing } }", "", "Cannot query field", false},
		{"warehouse-stock", "query($name: String) { warehouses(name: $name) { name } staff { badge } }", "",
			"/shop/staff-1.yml", true},
		{"other", "", "", "no native integration", true},
	} {
		var log bytes.Buffer
		runner := runner{process: wrapper.Process{Open: open}, Equipment: Equipment{Settings: &settings.Settings{},
			Natives: []integration.DryRunner{native{c.name, c.query}}}}
		err := runner.Run(context.Background(), task, io.Writer(&log))
		var config *wrapper.ConfigError
		if log.String() != c.want || errors.As(err, &config) != c.config ||
			(err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: got %q, %v, want %q, an error with %q", c.query, log.String(), err, c.want, c.failure)
		}
	}
}

// A native integration gives its failures a class, and the task fails with it.
func TestClassOfNativeFailures(t *testing.T) {
	for class, want := range map[integration.FailureClass]string{integration.FailureOfConfig: "config",
		integration.FailureTransient: "transient", "": "neither"} {
		err := errors.New("no such account")
		if class != "" {
			err = fmt.Errorf("reading accounts: %w", integration.Failure(class, err))
		}
		got := "neither"
		var config *wrapper.ConfigError
		var transient *wrapper.TransientError
		switch failed := withClass(err); {
		case errors.As(failed, &config):
			got = "config"
		case errors.As(failed, &transient):
			got = "transient"
		}
		if got != want || !errors.Is(withClass(err), err) {
			t.Errorf("class %q: the task fails with %q, want %q", class, got, want)
		}
	}
	if withClass(nil) != nil {
		t.Error("no failure is a failure")
	}
}
