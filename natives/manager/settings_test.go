package manager

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

func TestReadSettings(t *testing.T) {
	const all = `upstream: u
environment: e
mode: parity
template: /manager/pod.yaml
exclude_service: true
gov_slack: true
image: quay.io/a/b
image_tag_from_ref: {production: main}
github: {url: "https://github.example.com/api/v3", token: {path: p, field: f, version: "2"}}
pass_env: [IMAGE_TAG]
options: {a: [--account-name], b: []}
canary: {a: [k]}
delete: [c/n]
left_behind: delete
migrate_selector: true
override_managers: [hpa]
take_fields_from: [oc]
wait: 90s
natives: {image: quay.io/p/r:1, names: [n], args: [reconcile, --verbose]}
`
	got, err := readSettings(settingsOf(t, all).Own)
	wait := 90 * time.Second
	want := ownSettings{
		Upstream: "u", Environment: "e", Mode: modeParity, Template: "/manager/pod.yaml", ExcludeService: true,
		GovSlack: true, Image: "quay.io/a/b",
		ImageTagFromRef: map[string]string{"production": "main"}, GitHub: gitHub{"https://github.example.com/api/v3",
			&tokenRef{"p", "f", "2"}},
		PassEnv: []string{"IMAGE_TAG"}, Options: map[string][]string{"a": {"--account-name"}, "b": {}},
		Canary: map[string][]string{"a": {"k"}},
		Delete: []string{"c/n"}, LeftBehind: leftDelete, MigrateSelector: true, OverrideManagers: []string{"hpa"},
		TakeFieldsFrom: []string{"oc"},
		Wait:           &wait, Natives: natives{"quay.io/p/r:1", []string{"n"}, []string{"reconcile", "--verbose"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got, err := readSettings(settings.Own{}); err != nil || !reflect.DeepEqual(got, defaultSettings()) {
		t.Errorf("without settings: got %+v, %v", got, err)
	}
	if got := got.optionsOf("b"); len(got) > 0 {
		t.Errorf("got the options %q", got)
	}
	if got := strings.Join(defaultSettings().optionsOf("b"), " "); got != "--account-name --cluster-name --org-id" {
		t.Errorf("got the options %q", got)
	}
}

// Each mistake is told with its line. The same check runs when a plan is made.
func TestSettingsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"x: 1":             "prcheck.yaml:5: integrations.integrations-manager.settings: unknown key \"x\"",
		"wait: 5":          "prcheck.yaml:5: integrations.integrations-manager.settings.wait: must be a duration such as 90s or 10m, got the number \"5\"",
		"wait: -5s":        "prcheck.yaml:5: integrations.integrations-manager.settings.wait: ",
		"\nmode: x":        "prcheck.yaml:6: integrations.integrations-manager.settings.mode: must be default or parity, got \"x\"",
		"left_behind: x":   "prcheck.yaml:5: integrations.integrations-manager.settings.left_behind: must be report or delete, got \"x\"",
		"template: x":      "prcheck.yaml:5: integrations.integrations-manager.settings.template: must be the path of a resource, such as /manager/pod.yaml",
		"github: {url: x}": "prcheck.yaml:5: integrations.integrations-manager.settings.github.url: must be an address, such as https://api.github.com",
		"github: {url: \"http://github.example.com\"}": "prcheck.yaml:5: integrations.integrations-manager.settings.github.url: must begin with https://, since commits that run, and a token, come and go there; http:// is allowed for this machine alone",
		"github: {url: \"https://a:b@c\"}":             "prcheck.yaml:5: integrations.integrations-manager.settings.github.url: must be an address, such as https://api.github.com",
		"github: {token: {path: x}}":                   "prcheck.yaml:5: integrations.integrations-manager.settings.github.token: must have a path and a field",
		"image_tag_from_ref: {a: \"b c\"}":             "prcheck.yaml:5: integrations.integrations-manager.settings.image_tag_from_ref.a: must be a branch, a tag or a commit, got \"b c\"",
		"pass_env:\n- A\n- \"B=\"":                     "prcheck.yaml:7: integrations.integrations-manager.settings.pass_env[1]: must be the name of a variable, such as IMAGE_TAG",
		"options: {a: [account-name]}":                 "prcheck.yaml:5: integrations.integrations-manager.settings.options.a[0]: must be an option such as --account-name",
		"delete: [a]":                                  "prcheck.yaml:5: integrations.integrations-manager.settings.delete[0]: must be cluster/namespace",
		"delete: [a/]":                                 "prcheck.yaml:5: integrations.integrations-manager.settings.delete[0]: must be cluster/namespace",
		"natives: {names: [a]}":                        "prcheck.yaml:5: integrations.integrations-manager.settings.natives.image: must name the image of prcheck",
		"canary: {a: b}":                               "prcheck.yaml:5: integrations.integrations-manager.settings.canary.a: ",
		"image_tag_from_ref: {a: \"../main\"}":         "prcheck.yaml:5: integrations.integrations-manager.settings.image_tag_from_ref.a: must be",
	} {
		own := settingsOf(t, text).Own
		_, err := readSettings(own)
		if !strings.HasPrefix(errText(err), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
		checker, ok := New().(integration.Checker)
		if !ok || errText(checker.CheckSettings(own)) != errText(err) {
			t.Errorf("%s: a plan does not say so", text)
		}
	}
}
