package promotions

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/edit"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// alikeFile has targets without names that select namespaces: one of stage, and two of production, which follow
// other channels or choose other namespaces.
const alikeFile = `$schema: /app-sre/saas-file-2.yml
resourceTemplates:
- name: shop
  targets:
  - provider: dynamic # stage
    namespaceSelector: {jsonPathSelectors: {include: ['namespace[?@.name="shop-stage"]']}}
    ref: main
    promotion: {publish: [shop-stage, other]}
  - provider: dynamic
    namespaceSelector:
      jsonPathSelectors:
        include:
        - namespace[?@.name="shop-production"]
    ref: OLD # one
    promotion: {auto: true, subscribe: [CHANNELS]}
  - provider: dynamic
    namespaceSelector:
      jsonPathSelectors:
        include: [ 'namespace[?@.name="shop-more"]' ]
        exclude: []
    ref: 'OLD'   # two
    promotion: {auto: yes, subscribe: [ "shop-stage" ]}
`

// Targets that have template and name in common are told apart by their channels, and then by their selectors: in
// the memory, in merge requests and in the file.
func TestTargetsThatAreAlike(t *testing.T) {
	for name, channels := range map[string][]any{"by channels": {"other", "shop-stage"}, "by selectors": {"shop-stage"}} {
		t.Run(name, func(t *testing.T) {
			w := saastest.New()
			w.Data["/ns/more.yml"] = w.Clone().Data[saastest.Production]
			w.Set("/ns/more.yml", "shop-more", "name")
			selecting := func(name, ref string, promotion map[string]any) any {
				return map[string]any{"provider": "dynamic", "ref": ref, "promotion": promotion,
					"namespaceSelector": map[string]any{
						"jsonPathSelectors": map[string]any{"include": []any{`namespace[?@.name="` + name + `"]`}, "exclude": []any{}}}}
			}
			w.Set(saastest.File, []any{
				selecting("shop-stage", "main", map[string]any{"publish": []any{"shop-stage", "other"}}),
				selecting("shop-production", saastest.Sha, map[string]any{"auto": true, "subscribe": channels}),
				selecting("shop-more", saastest.Sha, map[string]any{"auto": true, "subscribe": []any{"shop-stage"}}),
			}, "resourceTemplates", 0, "targets")
			m, err := saas.Read(t.Context(), w.Query(t), saas.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			all := subscribers(m)
			if len(all) != 2 || all[0].key == all[1].key {
				t.Fatalf("got %d subscribers: %+v", len(all), all)
			}
			var words []string
			for _, c := range channels {
				words = append(words, c.(string))
			}
			text := strings.NewReplacer("OLD", saastest.Sha, "CHANNELS", strings.Join(words, ", ")).Replace(alikeFile)
			for i, s := range all {
				e := s.entry(ownSettings{}, promotion.Decision{Ref: sha(i + 2)})
				if other := all[1-i].entry(ownSettings{}, promotion.Decision{}); e.isSame(other) {
					t.Errorf("%+v and %+v are the same", e, other)
				}
				raw, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				var read entry // as the description of a merge request has it
				if err := json.Unmarshal(raw, &read); err != nil || !read.isSame(e) {
					t.Errorf("%s: got %+v, %v", raw, read, err)
				}
				mark := "# one"
				if s.target().Namespace.Name == "shop-more" {
					mark = "# two"
				}
				want := text
				for line := range strings.Lines(text) {
					if strings.Contains(line, mark) {
						want = strings.Replace(text, line, strings.Replace(line, saastest.Sha, sha(i+2), 1), 1)
					}
				}
				if got, err := edit.Apply([]byte(text), read.change()); err != nil || string(got) != want {
					t.Errorf("%s: got %v\n%s", s.key, err, got)
				}
			}
		})
	}
}

// A target that is alone keeps the key and the entry that it had: what is remembered of it, and merge requests that a
// person closed, count on.
func TestKeysOfTargetsThatAreAlone(t *testing.T) {
	w := saastest.New()
	m, err := saas.Read(t.Context(), w.Query(t), saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := subscribers(m)[0]
	raw, err := json.Marshal(s.entry(ownSettings{}, promotion.Decision{Ref: "r"}))
	if want := saastest.File + ":shop:" + saastest.Production + ":"; err != nil || s.key != want ||
		strings.Contains(string(raw), "channels") {
		t.Errorf("got the key %s and %s, want %s", s.key, raw, want)
	}
}
