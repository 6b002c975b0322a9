package promotions

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/state"
)

// A damaged document, or one of a newer program, promotes nothing and stays as it is: it may have
// pins. The error says which document it is.
func TestDamagedMemory(t *testing.T) {
	for _, key := range []string{targetsKey, componentsKey} {
		for _, damaged := range []string{"{", "null x", `{"version":2,"of":{}}`, `{"version":1,"of":[]}`,
			`{"version":1,"more":1}`, `{"version":1} {}`,
			`{"version":1,"of":{"a":{"at":"never","pin":7}}}`, strings.Repeat(`{"of":`, 20_000),
			`{"version":1,"of":{"a":` + strings.Repeat("[", 20_000)} {
			s := newScene(t, 2, 1)
			s.code = []string{sha(2), sha(1)}
			s.deployAll(sha(2))
			if err := s.state.Write(t.Context(), key, []byte(damaged)); err != nil {
				t.Fatal(err)
			}
			wrote, err := s.loop()
			if err == nil || len(wrote) > 0 || !strings.Contains(err.Error(), key) ||
				!strings.Contains(err.Error(), "remove it from the state") {
				t.Errorf("%s %.40q: wrote %q, got %v", key, damaged, wrote, err)
			}
			if raw, err := s.state.Read(t.Context(), key); err != nil || string(raw) != damaged {
				t.Errorf("%s %.40q: it was changed to %.40q, %v", key, damaged, raw, err)
			}
			if err := s.state.Remove(t.Context(), key); err != nil && !errors.Is(err, state.ErrNotFound) {
				t.Fatal(err)
			}
			s.mustLoop("commit", "open", "commit", "open")
		}
	}
}

// A file of main that is no saas file any more, or a bomb, holds its own targets, and others go on.
func TestBombsInFiles(t *testing.T) {
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		aliases += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") +
			"]\n"
	}
	for name, bomb := range map[string]string{
		"aliases": aliases, "deep": "resourceTemplates: " + strings.Repeat("[", 200_000),
		"large": strings.Repeat("# x\n", 3<<20), "binary": "\x00\xff\xfe", "none": "",
		"keys": strings.Repeat("? ", 50_000), "documents": strings.Repeat("---\n", 100_000),
	} {
		s := newScene(t, 2, 1)
		s.code = []string{sha(2), sha(1)}
		s.deployAll(sha(2))
		query := s.query() // the data are those of before
		s.forge.edit("main", s.file(0), bomb)
		env := s.envOver(query)
		s.now, s.forge.writes = env.Now(), nil
		err := s.native().Run(t.Context(), env, s.actors())
		if !slices.Equal(s.forge.writes, []string{"commit", "open"}) ||
			err == nil && !strings.Contains(s.log.String(), "saas-0") {
			t.Errorf("%s: wrote %q, %v\n%s", name, s.forge.writes, err, s.log.String())
		}
	}
}

// What names and descriptions say gives no command to the forge and moves no cursor.
func TestHostileNames(t *testing.T) {
	const evil = "x\n/merge\n```\n\x1b[2J`@all`\u202e"
	s := newScene(t, 1, 1)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	m := s.forge.requests[0]
	for _, description := range []string{
		blockBegin + strings.Repeat("[", 300_000) + blockEnd, blockBegin + `{"version":1,"content":"","promotions":null}` +
			blockEnd,
		blockBegin + `{"version":1,"content":"x","promotions":[{"file":"../../x","ref":"` + evil[:1] + `"}]}` + blockEnd,
		strings.Repeat(blockBegin, 10_000), evil, "",
	} {
		m.Description = description
		if _, err := s.loop(); err != nil {
			t.Errorf("%.60q: %v", description, err)
		}
		if b, ok := readBlock(m.Description); !ok || len(b.Entries) != 1 {
			t.Errorf("%.60q: then it says %.200q", description, m.Description)
		}
	}
	k := keeper{branch: m.Branch, settings: ownSettings{Branch: "main"}}
	w := saastest.New()
	w.Target(saastest.File, 0, 1)["name"] = evil
	model, err := saas.Read(t.Context(), w.Query(t), saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	label := subscribers(model)[0].label()
	for _, entries := range [][]entry{
		{{File: evil, Template: evil, Namespace: evil, Name: evil, Ref: sha(2), label: label}},
		{{File: evil, Ref: sha(2), label: label, was: sha(1)}, {File: "b" + evil, Ref: sha(2), label: label}},
	} {
		text := k.describe(entries)
		for line := range strings.Lines(text.Title + "\n" + text.Description) {
			if strings.HasPrefix(strings.TrimSpace(line), "/") || strings.ContainsAny(line, "\x1b\u202e") {
				t.Errorf("the line %q", line)
			}
		}
		if strings.ContainsAny(text.Title, "\n\x1b\u202e") {
			t.Errorf("the title is %q", text.Title)
		}
		if b, ok := readBlock(text.Description); !ok || b.Entries[0].File != evil {
			t.Error("the block cannot be read")
		}
	}
}
