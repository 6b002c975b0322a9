package planner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A failing file can be read until it breaks.
type failing struct {
	*bytes.Reader
	broken bool
}

func (f *failing) ReadAt(to []byte, at int64) (int, error) {
	if f.broken {
		return 0, errors.New("the disk is gone")
	}
	return f.Reader.ReadAt(to, at)
}

// TestLostText checks that no plan is made when a text of base is lost while a native tells its
// desired state: its panic becomes a doubt, but others may have seen less than there is.
func TestLostText(t *testing.T) {
	base, head := world(), world()
	rename(base, head)
	raw, err := json.Marshal(object{"data": base.data, "resources": base.resources, "schemas": base.schemas,
		"graphql": object{"confs": base.types}, "git_commit": "abc"})
	if err != nil {
		t.Fatal(err)
	}
	file := &failing{Reader: bytes.NewReader(raw)}
	whole, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	index, ok := whole.Index(raw)
	if !ok {
		t.Fatal("the bundle has no index")
	}
	asked := false
	in := input(t, base, head, exec, telling{"it", func(ctx context.Context, query integration.QueryFunc) (any, error) {
		asked, file.broken = true, true
		return sizes(ctx, query)
	}})
	in.Base, err = bundle.OpenIndexed(file, int64(len(raw)), index, func() (*bundle.Bundle, error) {
		return nil, errors.New("git is gone, too")
	})
	if err != nil {
		t.Fatal(err)
	}
	in.Head = head.bundle(t, in.Base)
	p, err := planner.Make(t.Context(), in)
	if !asked {
		t.Fatal("the native was not asked")
	}
	if err == nil || !strings.Contains(err.Error(), "git is gone, too") {
		t.Errorf("got %+v, %v", p, err)
	}
}
