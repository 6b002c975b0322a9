package decide

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// The cases about contents that lose their nulls. The others are held by package pipelines.
func TestConfigCases(t *testing.T) {
	shared.Each(t, "trigger_config", func(t *testing.T, c struct {
		Input    struct{ Value json.RawMessage }
		Expected struct{ Value json.RawMessage }
	}) {
		if c.Input.Value == nil {
			t.Skip("about what triggers a run; package pipelines has it")
		}
		value, ok := decode(c.Input.Value)
		want, isThere := decode(c.Expected.Value)
		if got := withoutNulls(value); !ok || !isThere || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
