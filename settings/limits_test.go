package settings

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTargets(t *testing.T) {
	s, err := Read("prcheck.yaml", []byte(`version: 1
limits:
  aws: {key: "{shard}", max: 2, rate: 10/min}
  github: {rate: 1000/h}
  own: {key: "of {name}", max: 1}
integrations:
  users: {limits: [aws, github]}
  "{shard}": {limits: [own]}
  free: {}
`))
	if err != nil {
		t.Fatal(err)
	}
	aws, github := Rate{10, time.Minute}, Rate{1000, time.Hour}
	long := strings.Repeat("x", 500)
	for _, c := range []struct {
		name, shard string
		want        []Target
	}{
		{"users", "app-sre", []Target{{"aws/app-sre", 2, aws}, {"github", 0, github}}},
		{"users", "{name}", []Target{{"aws/{name}", 2, aws}, {"github", 0, github}}},
		{"users", "", []Target{{"aws", 2, aws}, {"github", 0, github}}},
		{"users", long, []Target{{"aws/" + digest([]byte("aws/"+long)), 2, aws}, {"github", 0, github}}},
		{"{shard}", "x", []Target{{"own/of {shard}", 1, Rate{}}}},
		{"free", "x", nil},
		{"unknown", "x", nil},
	} {
		if got := s.For(c.name).Targets(c.shard); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %.20q: got %v, want %v", c.name, c.shard, got, c.want)
		}
	}
}
