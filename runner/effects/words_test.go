package effects

import "testing"

// The verb of a past form is found, and a word that is none stays.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"created": "create", "updated": "update", "deleted": "delete", "added": "add", "dropped": "drop", "reset": "reset",
		"delete": "delete", "installed": "install", "applied": "appli", "red": "r", "ed": "",
	} {
		if got := stem(word); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

// A subject that begins with one of these words makes a sentence one about nothing, or about what may come.
func TestIsConditional(t *testing.T) {
	for subject, want := range map[string]bool{
		"no": true, "Nothing": true, "none of them": true, "if unused they": true, "when it ends the user": true,
		"once a year users":  true,
		"unless asked users": true, "only users": true, "neither user": true, "nobody": false, "user if": false,
		"3 builds": false, "": false,
	} {
		if got := isConditional(subject); got != want {
			t.Errorf("%s: got %v, want %v", subject, got, want)
		}
	}
}
