package shared

import (
	"encoding/json"
	"strings"
	"testing"
)

// A word that a driver has no field for is told by its name, wherever it stands.
func TestUnknownWord(t *testing.T) {
	type driver struct {
		Input struct {
			Ref   string
			Steps []struct{ Blocked bool }
		}
		Expected struct{ Open bool }
	}
	for text, word := range map[string]string{
		`{"name":"n","input":{"ref":"a","steps":[{"blocked":true}]},"expected":{"open":true},"deviation":true}`: "",
		`{"input":{"note":"for people"},"expected":{"open":true,"upstream_open":false}}`:                        "",
		`{"input":{"ref":"a","reff":"b"},"expected":{}}`:                                                        "reff",
		`{"input":{"steps":[{"blockt":true}]},"expected":{}}`:                                                   "blockt",
		`{"input":{},"expected":{"open":true,"held":"soak"}}`:                                                   "held",
	} {
		err := unknownWord[driver](json.RawMessage(text))
		if (err != nil) != (word != "") || err != nil && !strings.Contains(err.Error(), `"`+word+`"`) {
			t.Errorf("%s: got %v, want the word %q", text, err, word)
		}
	}
	if err := unknownWord[struct{ Expected json.RawMessage }](json.RawMessage(`{"expected":7}`)); err != nil {
		t.Errorf("an expectation that is no object: %v", err)
	}
}
