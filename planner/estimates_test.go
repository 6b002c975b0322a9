package planner_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// known are estimates by integration and shard, in seconds.
type known map[[2]string]float64

func (k known) Seconds(_ context.Context, integration, shard string) (p50, p90 float64) {
	return k[[2]string{integration, shard}], 2 * k[[2]string{integration, shard}]
}

// Estimates stand in the tasks and decide nothing.
func TestEstimates(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings string
		change   func(base, head *side)
		known    known
		want     float64
	}{
		{"whole", exec, rename, known{{"it", ""}: 42, {"it", "two"}: 7}, 42},
		{"shard", byAccount(""), resize, known{{"it", ""}: 42, {"it", "two"}: 7}, 7},
		{"unknown", exec, rename, known{{"other", ""}: 42}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			in := input(t, base, head, tt.settings)
			without := made(t, in)
			in.Estimates = tt.known
			with := made(t, in)
			if got := with.Tasks[0].EstimateSeconds; got != tt.want {
				t.Errorf("got an estimate of %v, want %v", got, tt.want)
			}
			if again := made(t, in); !bytes.Equal(written(t, with), written(t, again)) {
				t.Errorf("the same input has two plans")
			}
			if with.Tasks[0].Inputs != without.Tasks[0].Inputs || with.Tasks[0].Command != without.Tasks[0].Command {
				t.Errorf("the digests depend on the estimate")
			}
			if got := with.Tasks[0].EstimateP90; got != 2*tt.want {
				t.Errorf("got an estimate of at most %v, want %v", got, 2*tt.want)
			}
			with.Tasks[0].EstimateSeconds, with.Tasks[0].EstimateP90 = 0, 0
			if err := with.Seal(); err != nil {
				t.Fatal(err)
			}
			if got, want := written(t, with), written(t, without); !bytes.Equal(got, want) {
				t.Errorf("more than the estimate differs:\n%s\n%s", got, want)
			}
		})
	}
}

func written(t *testing.T, p *plan.Plan) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := plan.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
