package wrapper

import "testing"

func TestFillPlaceholders(t *testing.T) {
	vars := map[string]string{"a": "1", "env.B_2": "{a}$(id)", "env.c": "x", "lbrace": "{"}
	tests := []struct{ name, text, want string }{
		{"one", "{a}", "1"},
		{"inside", "x{a}y{env.c}z", "x1yxz"},
		{"a value is not looked at again", "{env.B_2}", "{a}$(id)"},
		{"a brace meant as it is", "{lbrace}env.c} {lbrace}a}", "{env.c} {a}"},
		{"a brace of a brace", "{lbrace}lbrace}", "{lbrace}"},
		{"unknown", "{b} {env.d} {env.} {env.1} {env.c", "{b} {env.d} {env.} {env.1} {env.c"},
		{"nested", "{{a}} {{env.c}}", "{1} {x}"},
		{"other case", "{A} {Env.c}", "{A} {Env.c}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fillPlaceholders(tt.text, vars); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
