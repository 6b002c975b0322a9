package sharding_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/sharding"
)

// Objects that disable an integration are no shards of it.
func TestFilter(t *testing.T) {
	type filterCase struct {
		Name  string
		Input struct {
			Integration string
			Accounts    []map[string]any `json:"aws_accounts"`
		}
		Expected []string
	}
	for _, c := range shared.Cases[filterCase](t, "sharding_filter") {
		t.Run(c.Name, func(t *testing.T) {
			data := map[string]any{}
			for i, a := range c.Input.Accounts {
				a["$schema"] = "/aws/account-1.yml"
				data["/"+strconv.Itoa(i)+".yml"] = a
			}
			raw, err := json.Marshal(map[string]any{"data": data})
			if err != nil {
				t.Fatal(err)
			}
			b, err := bundle.Parse(raw, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sharding.Keys(integration.PerAWSAccount, c.Input.Integration, b)
			if err != nil || !slices.Equal(got, c.Expected) {
				t.Errorf("got %q, %v, want %q", got, err, c.Expected)
			}
		})
	}
}
