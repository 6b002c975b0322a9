package measurements

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
)

// maxExpression is how long an expression may be, in bytes. It is a part of an address.
const maxExpression = 16 << 10

// Prometheus measures. It implements [services.Measurements].
type Prometheus struct{ api *jsonapi.Client }

// New returns a client.
func New(api *jsonapi.Client) *Prometheus { return &Prometheus{api} }

// An answer is what Prometheus answers to a query.
type answer struct {
	Status string `json:"status"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// A sample is a time and a value.
type sample [2]any

// Measure implements [services.Measurements].
func (c *Prometheus) Measure(ctx context.Context, server string, login services.Login,
	expression string) (float64, error) {
	if len(expression) > maxExpression {
		return 0, fmt.Errorf("asking %.200s: the expression has more than %d bytes", jsonapi.Name(server), maxExpression)
	}
	var got answer
	err := c.api.Get(ctx, server, url.Values{"query": {expression}}, login, []string{"api", "v1", "query"}, &got)
	if err != nil {
		return 0, fmt.Errorf("asking %.200s: %w", jsonapi.Name(server), err)
	}
	value, err := got.value()
	if err != nil {
		return 0, fmt.Errorf("asking %.200s for %.200q: %w", jsonapi.Name(server), expression, err)
	}
	return value, nil
}

// value returns the only number of an answer.
func (a answer) value() (float64, error) {
	if a.Status != "success" {
		return 0, errors.New("the answer is no success")
	}
	var one sample
	switch a.Data.Type {
	case "scalar":
		if err := json.Unmarshal(a.Data.Result, &one); err != nil {
			return 0, errors.New("the answer has no number")
		}
	case "vector":
		var all []struct {
			Value *sample `json:"value"`
		}
		if err := json.Unmarshal(a.Data.Result, &all); err != nil {
			return 0, errors.New("the answer has no list of numbers")
		}
		if len(all) != 1 || all[0].Value == nil {
			return 0, fmt.Errorf("the answer has %d numbers, not one: write the expression so that it gives one", len(all))
		}
		one = *all[0].Value
	default:
		return 0, fmt.Errorf("the answer is a %.20q, not a number", a.Data.Type)
	}
	text, _ := one[1].(string)
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("the answer %.40q is no finite number", text)
	}
	return value, nil
}
