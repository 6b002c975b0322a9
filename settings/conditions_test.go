package settings

import (
	"reflect"
	"strings"
	"testing"
)

func TestForConditions(t *testing.T) {
	e := Exec{
		Argv: []string{"run", "{flags}", "img:{image_ref}", "{cmd}"}, ImageRef: "{env.TAG}",
		Env: map[string]string{"A": "a"}, PassEnv: []string{"P"},
		When: map[Condition]ExecAddition{
			SQS:       {Flags: []string{"--sqs"}, PassEnv: []string{"Q"}},
			State:     {Flags: []string{"--state", "{image_ref}"}, Env: map[string]string{"S": "{env.s}"}},
			EarlyExit: {Env: map[string]string{"E": "e"}},
		},
	}
	tests := []struct {
		name       string
		conditions []Condition
		image      string
		want       Exec
	}{
		{"none", nil, "", Exec{Argv: []string{"run", "img:{env.TAG}", "{cmd}"}, Env: e.Env, PassEnv: e.PassEnv}},
		{"two, in any order", []Condition{SQS, State}, "1.2", Exec{
			Argv: []string{"run", "--state", "1.2", "--sqs", "img:1.2", "{cmd}"},
			Env:  map[string]string{"A": "a", "S": "{env.s}"}, PassEnv: []string{"P", "Q"},
		}},
		{"one that adds nothing", []Condition{Unenforced, "unknown"}, "",
			Exec{Argv: []string{"run", "img:{env.TAG}", "{cmd}"}, Env: e.Env, PassEnv: e.PassEnv}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.ImageRef = e.ImageRef
			if got := e.ForConditions(tt.conditions, tt.image); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
	if len(e.Env) != 1 || len(e.PassEnv) != 1 || len(e.When) != 3 {
		t.Errorf("With changed what it was given: %+v", e)
	}
	if got := (Exec{When: e.When}).ForConditions([]Condition{EarlyExit}, ""); got.Env["E"] != "e" {
		t.Errorf("without variables: got %+v", got)
	}
}

// No placeholder of an escaped text is replaced, and the rest of the text stays as it is.
func TestEscapePlaceholders(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""}, {"plain {} {1} { x }", "plain {} {1} { x }"},
		{"{config}", "{lbrace}config}"}, {"{{env.A}}", "{{lbrace}env.A}}"},
		{"{lbrace}", "{lbrace}lbrace}"}, {"{A}{b}", "{lbrace}A}{lbrace}b}"},
	}
	for _, tt := range tests {
		got := EscapePlaceholders(tt.text)
		if got != tt.want {
			t.Errorf("Literal(%q): got %q, want %q", tt.text, got, tt.want)
		}
		if back := strings.ReplaceAll(got, "{lbrace}", "{"); back != tt.text {
			t.Errorf("Literal(%q) fills in as %q", tt.text, back)
		}
		if names := EnvPlaceholderNames(got); names != nil {
			t.Errorf("Literal(%q) still asks for %q", tt.text, names)
		}
	}
}

func TestEnvPlaceholderNames(t *testing.T) {
	got := EnvPlaceholderNames("{env.B}{env.a_1}", "x{env.B}", "{env.}{env.1}{env.A-B}{Env.C}{env.D", EnvPlaceholder("Z"))
	if want := []string{"B", "Z", "a_1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
