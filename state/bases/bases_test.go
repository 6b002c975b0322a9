package bases_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/bases"
)

// kept keeps entries near.
type kept map[string]string

func (k kept) Recall(key string) ([]byte, bool) { raw, ok := k[key]; return []byte(raw), ok }
func (k kept) Remember(key string, raw []byte)  { k[key] = string(raw) }

func open(t *testing.T, dir string) state.Store {
	t.Helper()
	s, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What one process remembered of a base, another one recalls, near first. Bases are apart.
func TestMemory(t *testing.T) {
	dir, near := t.TempDir(), kept{}
	a := bases.NewMemory(t.Context(), open(t, dir), "base", near)
	if _, ok := a.Recall("x"); ok {
		t.Error("it recalls what nobody remembered")
	}
	a.Remember("x", []byte(`{"a":"<&>"}`))
	a.Remember("big", []byte(`"`+strings.Repeat("x", 2<<20)+`"`))
	a.Remember("bad", []byte(`{`))
	if n, err := a.Save(t.Context()); n != 1 || err != nil {
		t.Errorf("got %d, %v, want one that can be kept", n, err)
	}
	if n, err := a.Save(t.Context()); n != 0 || err != nil {
		t.Errorf("once more: got %d, %v", n, err)
	}
	if len(near) != 3 {
		t.Errorf("near: got %v", near)
	}
	other := kept{}
	b := bases.NewMemory(t.Context(), open(t, dir), "base", other)
	if raw, ok := b.Recall("x"); !ok || string(raw) != `{"a":"\u003c\u0026\u003e"}` || other["x"] == "" {
		t.Errorf("got %s, %v, near %v", raw, ok, other)
	}
	other["x"] = "1"
	if raw, _ := b.Recall("x"); string(raw) != "1" {
		t.Errorf("got %s, want what is near", raw)
	}
	if _, ok := bases.NewMemory(t.Context(), open(t, dir), "other", nil).Recall("x"); ok {
		t.Error("another base has it")
	}
}

// A document that is damaged, foreign or of another version is as good as none, and it is
// replaced. Several processes add to one at once.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	save := func(key string) error {
		m := bases.NewMemory(t.Context(), open(t, dir), "base", nil)
		m.Remember(key, []byte("1"))
		_, err := m.Save(t.Context())
		return err
	}
	if err := save("a"); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "bases", "*.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	for _, text := range []string{"", "{", `{"version":"1","base":"other","entries":{"a":1}}`, `{"version":"2"}`,
		`{"version":"1","base":"base","entries":7}`} {
		if err := os.WriteFile(names[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := bases.NewMemory(t.Context(), open(t, dir), "base", nil).Recall("a"); ok {
			t.Errorf("%q is used", text)
		}
	}
	_ = os.Remove(names[0])
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := save(fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 20 {
		if _, ok := bases.NewMemory(t.Context(), open(t, dir), "base", nil).Recall(fmt.Sprint(i)); !ok {
			t.Errorf("%d is lost", i)
		}
	}
}

// What is only read is not written to, without an error. Whatever nobody signed does not count
// where signatures are asked for.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	m := bases.NewMemory(t.Context(), state.ReadOnly(open(t, dir)), "base", nil)
	m.Remember("a", []byte("1"))
	if n, err := m.Save(t.Context()); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	m = bases.NewMemory(t.Context(), open(t, dir), "base", nil)
	m.Remember("a", []byte("1"))
	if n, err := m.Save(t.Context()); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, ok := bases.NewMemory(t.Context(), state.Trusted(open(t, dir), state.Trust{}), "base", nil).Recall("a"); ok {
		t.Error("an unsigned document counts")
	}
}
