package render

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manifests"
)

func ExampleObjects() {
	it := Integration{Name: "shop-window", Shards: []Shard{{Key: "harbor", Suffix: "-harbor"}}}
	objects, mistakes := Objects(it, map[string]string{"IMAGE_TAG": "v2"}, Options{})
	for _, object := range objects {
		fmt.Println(object["kind"], object["metadata"].(map[string]any)["name"], workOf(object)["image"])
	}
	fmt.Println(mistakes)
	// Output:
	// Deployment qontract-reconcile-shop-window-harbor quay.io/app-sre/qontract-reconcile:v2
	// []
}

// plain returns an integration with one shard, after a change.
func plain(change func(*Integration)) Integration {
	it := Integration{Name: "integ", Shards: []Shard{{Shards: "1", ID: "0"}}}
	if change != nil {
		change(&it)
	}
	return it
}

func negative() *int { n := -1; return &n }

func TestMistakes(t *testing.T) {
	resources := &Resources{}
	resources.Requests.CPU, resources.Limits.Memory = "much", "1Gi"
	cron := func(change func(*Spec)) func(*Integration) {
		return func(it *Integration) {
			it.Spec.Cron = "0 * * * *"
			change(&it.Spec)
		}
	}
	cases := []struct {
		name   string
		change func(*Integration)
		values map[string]string
		want   string // "pointer: message", or the same after "warning "
	}{
		{"nothing", nil, nil, ""},
		{"a quantity", func(it *Integration) {
			it.Spec.Resources = resources
		}, nil, `/spec/resources/requests/cpu: "much" is no quantity`},
		{"a quantity of the environment", func(it *Integration) {
			it.Spec.Resources = resources
		}, map[string]string{"INTEG_CPU_REQUEST": "1", "INTEG_MEMORY_LIMIT": "2 Gi"},
			`/namespace: the parameter INTEG_MEMORY_LIMIT of the environment: "2 Gi" is no quantity`},
		{"an empty quantity of the environment", func(it *Integration) {
			it.Spec.Resources = resources
		}, map[string]string{"INTEG_CPU_REQUEST": ""},
			`/namespace: the parameter INTEG_CPU_REQUEST of the environment: "" is no quantity`},
		{"a quantity of the log shipper", func(it *Integration) { it.Spec.FluentdResources = resources }, nil,
			`/spec/fluentdResources/requests/cpu: "much" is no quantity`},
		{"a quantity of an override", func(it *Integration) {
			it.Shards[0].Resources, it.Shards[0].Override = resources, "/sharding/shardSpecOverrides/3"
		}, nil, `/sharding/shardSpecOverrides/3/resources/requests/cpu: "much" is no quantity`},
		{"the size of the storage", func(it *Integration) {
			it.Spec.Storage = "big"
		}, nil, `/spec/storage: "big" is no quantity`},
		{"a schedule", cron(func(s *Spec) { s.Cron = "hourly" }), nil, `/spec/cron: "hourly" is no schedule`},
		{"concurrencyPolicy", cron(func(s *Spec) { s.ConcurrencyPolicy = "Never" }), nil,
			`/spec/concurrencyPolicy: "Never" is not one of Allow, Forbid, Replace`},
		{"restartPolicy", cron(func(s *Spec) { s.RestartPolicy = "Sometimes" }), nil,
			`/spec/restartPolicy: "Sometimes" is not one of OnFailure, Never`},
		{"restartPolicy that Kubernetes refuses", cron(func(s *Spec) { s.RestartPolicy = "Always" }), nil,
			"warning /spec/restartPolicy: Kubernetes refuses Always"},
		{"a history below 0", cron(func(s *Spec) { s.FailedJobHistoryLimit = negative() }), nil,
			"/spec/failedJobHistoryLimit: -1 is no limit"},
		{"another history below 0", cron(func(s *Spec) { s.SuccessfulJobHistoryLimit = negative() }), nil,
			"/spec/successfulJobHistoryLimit: -1 is no limit"},
		{"sleep that is no number", func(it *Integration) {
			it.Spec.SleepDurationSecs = "5m"
		}, nil, `/spec/sleepDurationSecs: "5m" is no number of seconds`},
		{"sleep below 0", func(it *Integration) {
			it.Spec.SleepDurationSecs = "-1"
		}, nil, `/spec/sleepDurationSecs: "-1" is no number of seconds`},
		{"sleep of the environment", nil, map[string]string{"SLEEP_DURATION_SECS": "long"},
			`/namespace: "long" is no number of seconds`},
		{"imageRef of the spec", func(it *Integration) {
			it.Spec.ImageRef = "a b"
		}, nil, "/spec/imageRef: container int: \"quay.io/app-sre/qontract-reconcile:a b\" is no reference"},
		{"imageRef of an override", func(it *Integration) {
			it.Shards[0].ImageRef = "a/b"
		}, nil, "/sharding/imageRef: container int: "},
		{"an image of the environment", nil, map[string]string{"IMAGE": "Quay/Shop"},
			`/namespace: container int: "Quay/Shop:latest" is no reference`},
		{"a digest of the environment", nil, map[string]string{"IMAGE_DIGEST": "sha256:abc"}, "/namespace: container int: "},
		{"an empty image", nil, map[string]string{"FLUENTD_IMAGE": ""}, "/namespace: container fluentd: "},
		{"extraEnv with nothing", func(it *Integration) {
			it.Spec.ExtraEnv = []Variable{{}}
		}, nil, "/spec/extraEnv/0: extraEnv needs either name and value, or"},
		{"extraEnv with both", func(it *Integration) {
			it.Spec.ExtraEnv = []Variable{{Name: "OK"}, {Name: "A", Value: "x", SecretName: "s", SecretKey: "k"}}
		}, nil, "/spec/extraEnv/1: extraEnv needs either"},
		{"extraEnv with half a secret", func(it *Integration) { it.Spec.ExtraEnv = []Variable{{SecretKey: "k"}} }, nil,
			"/spec/extraEnv/0: extraEnv of a secret needs both"},
		{"extraEnv without a name", func(it *Integration) { it.Spec.ExtraEnv = []Variable{{Value: "k"}} }, nil,
			`/spec/extraEnv/0: "" is no name of a variable`},
		{"extraEnv with a bad name", func(it *Integration) { it.Spec.ExtraEnv = []Variable{{Name: "A=B"}} }, nil,
			`/spec/extraEnv/0: "A=B" is no name of a variable`},
		{"extraEnv with a bad key", func(it *Integration) {
			it.Spec.ExtraEnv = []Variable{{SecretName: "s", SecretKey: "1k"}}
		}, nil, `/spec/extraEnv/0: "1k" is no name of a variable`},
		{"extraEnv over a variable", func(it *Integration) { it.Spec.ExtraEnv = []Variable{{Name: "LOG_FILE", Value: "x"}} },
			nil, "warning /spec/extraEnv/0: the variable LOG_FILE is set before this entry already"},
		{"extraEnv twice", func(it *Integration) {
			it.Spec.ExtraEnv = []Variable{{Name: "A", Value: "x"}, {Name: "A", Value: "y"}}
		}, nil, "warning /spec/extraEnv/0: the variable A is set again after this entry"},
		{"extraEnv that a schedule replaces", cron(func(s *Spec) {
			s.ExtraEnv = []Variable{{Name: "KUBE_SA_TOKEN_PATH", Value: "x"}}
		}), nil, "warning /spec/extraEnv/0: the variable KUBE_SA_TOKEN_PATH is set again after this entry"},
		{"a value that becomes a number", func(it *Integration) {
			it.Spec.ExtraEnv = []Variable{{Name: "A", Value: "${{USER_ID}}"}}
		}, map[string]string{"USER_ID": "5"}, "/spec: the value of the variable A is no text"},
		{"a key with a blank", func(it *Integration) {
			it.Shards = append(it.Shards, Shard{Key: "two words", Suffix: "-two words"})
		}, nil, `/sharding: the shard "two words": its key has a blank`},
		{"a key that can be no name", func(it *Integration) { it.Shards[0] = Shard{Key: "ä", Suffix: "-ä"} }, nil,
			`/sharding: the shard "ä": "qontract-reconcile-integ-ä" can be no name`},
		{"two shards with one name", func(it *Integration) {
			it.Shards = []Shard{{Key: "a_b", Suffix: "-a_b"},
				{Key: "a-b", Suffix: "-a-b", Override: "/sharding/shardSpecOverrides/0"}}
		}, nil,
			`/sharding/shardSpecOverrides/0: the shard "a_b" and the shard "a-b" have the same name, qontract-reconcile-integ-a-b: change one of the keys`},
		{"the name of the integration", func(it *Integration) { it.Name = "in.teg" }, nil, `: "in.teg" cannot be deployed`},
		{"a huge object", func(it *Integration) {
			it.Spec.Command = strings.Repeat("${USER_ID}", 1000)
		}, map[string]string{"USER_ID": strings.Repeat("x", 2000)},
			"/spec: an object of 1 MiB is larger than Kubernetes accepts"},
		{"an object without bound", func(it *Integration) { it.Spec.Command = strings.Repeat("${USER_ID}", 1000) },
			map[string]string{"USER_ID": strings.Repeat("x", 1<<20)},
			": its pods cannot be made: with its values it is larger than 16 MiB"},
		{"many large objects", func(it *Integration) {
			it.Spec.Command = strings.Repeat("x", 900_000)
			it.Shards = nil
			for i := range 1000 {
				it.Shards = append(it.Shards, Shard{ID: fmt.Sprint(i), Suffix: fmt.Sprint("-", i)})
			}
		}, nil, "/sharding: the objects of all shards are larger than 64 MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			objects, mistakes := Objects(plain(c.change), c.values, Options{})
			var got string
			isWarning := true
			for _, m := range mistakes {
				isWarning = isWarning && m.Warning
				if m.Warning {
					got += "warning "
				}
				got += m.Pointer + ": " + m.Message + "\n"
			}
			if !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != min(len(c.want), 1) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if (len(objects) > 0) != isWarning {
				t.Errorf("got %d objects with %q", len(objects), got)
			}
		})
	}
}

// A name in parity mode is exactly that of the chart, or a mistake.
func TestNamesInParity(t *testing.T) {
	for suffix, isGood := range map[string]bool{"": true, "-a.b": true, "-A": false, "-a_b": false,
		"-" + strings.Repeat("x", 60): false} {
		it := plain(func(it *Integration) { it.Shards[0].Suffix = suffix })
		objects, _ := Objects(it, nil, Options{Parity: true})
		if (len(objects) == 1) != isGood {
			t.Errorf("%q: got %d objects", suffix, len(objects))
		}
		if isGood && objects[0]["metadata"].(fields)["name"] != "qontract-reconcile-integ"+suffix {
			t.Errorf("%q: got %v", suffix, objects[0]["metadata"])
		}
	}
}

func TestObjectName(t *testing.T) {
	long := strings.Repeat("long-", 20)
	cases := []struct {
		name                string
		kind                manifests.Kind
		integration, suffix string
		want                string
	}{
		{"a StatefulSet has no dot", manifests.StatefulSet, "integ", "-a.b", "qontract-reconcile-integ-a-b"},
		{"a Deployment may be longer", manifests.Deployment, long, "",
			"qontract-reconcile-long-long-long-long-long-long-long--268f178f"},
		{"a schedule is shorter", manifests.CronJob, long, "", "qontract-reconcile-long-long-long-long-long-268f178f"},
		{"another case, another digest", manifests.CronJob, strings.ToUpper(long), "",
			"qontract-reconcile-long-long-long-long-long-75292192"},
		{"a cut behind a dot", manifests.Deployment, "integ", "-" + strings.Repeat("x", 28) + "." + strings.Repeat("y", 30),
			"qontract-reconcile-integ-" + strings.Repeat("x", 28) + "-59fb740e"},
		{"a blank", manifests.Deployment, "integ", "-a b", ""},
		{"a dash at the end", manifests.Deployment, "integ", "-a_", ""},
		{"two dots", manifests.Deployment, "integ", "-a..b", ""},
	}
	for _, c := range cases {
		got := ObjectName(c.kind, c.integration, c.suffix)
		if got != c.want || len(got) > nameLimit(c.kind) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParameters(t *testing.T) {
	basic, _ := readCase(t, shared.Cases[manifestCase](t, "manifest")[0].Input.Spec, nil)
	if got := len(Parameters(basic)); got != 44 {
		t.Errorf("got %d parameters, want 44", got)
	}
	shared.Each(t, "params", func(t *testing.T, c struct {
		Input    struct{ Environment map[string]any }
		Expected map[string]any
	}) {
		if _, ok := c.Input.Environment["UNKNOWN"]; !ok {
			t.Skip("about what the data say, not about rendering")
		}
		_, mistakes := Objects(plain(nil), map[string]string{"UNKNOWN": "x"}, Options{})
		if (len(mistakes) > 0) != (c.Expected["error"] == true) {
			t.Errorf("got %v, want %v", mistakes, c.Expected)
		}
	})
}

// Values of late parameters are filled in everywhere, and images are cleaned and checked then.
func TestFill(t *testing.T) {
	it := plain(func(it *Integration) {
		it.Spec.EnvironmentAware = true
		it.Spec.Resources = &Resources{}
		it.Spec.Resources.Requests.CPU = "1"
	})
	values := map[string]string{"IMAGE_TAG": Late("TAG"), "IMAGE_DIGEST": Late("DIGEST"), "INTEG_CPU_REQUEST": Late("CPU"),
		"SLEEP_DURATION_SECS": Late("CPU")}
	objects, mistakes := Objects(it, values, Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	before, _ := json.Marshal(objects[0])
	cases := []struct {
		name, tag, digest, cpu string
		want                   string // the image, or a part of the error
	}{
		{"no digest", "v1", "", "1", "quay.io/app-sre/qontract-reconcile:v1"},
		{"a digest", "v1", "sha256:" + strings.Repeat("0", 64), "1", "quay.io/app-sre/qontract-reconcile:v1@sha256:" +
			strings.Repeat("0", 64)},
		{"a digest without a tag", "", "sha256:" + strings.Repeat("0", 64), "1",
			"quay.io/app-sre/qontract-reconcile@sha256:" + strings.Repeat("0", 64)},
		{"neither", "", "", "1", "quay.io/app-sre/qontract-reconcile"},
		{"a tag with a blank", "v 1", "", "1",
			"container int: \"quay.io/app-sre/qontract-reconcile:v 1\" is no reference of an image"},
		{"no quantity", "v1", "", "x", "container int: requests/cpu: \"x\" is no quantity"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			filled, err := Fill(objects[0], map[string]string{"TAG": c.tag, "DIGEST": c.digest, "CPU": c.cpu})
			got := fmt.Sprint(err)
			if err == nil {
				got = textOf(workOf(filled)["image"])
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if raw, _ := json.Marshal(filled); strings.Contains(string(raw), "${late:") {
				t.Errorf("a late value is left in %s", raw)
			}
		})
	}
	if _, err := Fill(objects[0], map[string]string{"TAG": "v1"}); err == nil ||
		err.Error() != "no value is known for CPU" {
		t.Errorf("got %v, want that CPU has no value", err)
	}
	if after, _ := json.Marshal(objects[0]); string(before) != string(after) {
		t.Error("Fill has changed the object")
	}
}

func TestNativeProcess(t *testing.T) {
	it := plain(func(it *Integration) { it.Shards[0] = Shard{Key: "harbor", Suffix: "-harbor", ImageRef: "v2"} })
	process := &NativeProcess{Image: "registry:5000/prcheck/prcheck:v1@sha256:" + strings.Repeat("0", 64),
		Args: []string{"reconcile", "--wait=1m"}}
	native, _ := Objects(it, nil, Options{Process: process})
	other, _ := Objects(it, nil, Options{})
	got := workOf(native[0])
	if got["image"] != "registry:5000/prcheck/prcheck:v2" ||
		!reflect.DeepEqual(got["args"], list{"reconcile", "--wait=1m"}) {
		t.Errorf("got the image %v and the arguments %v", got["image"], got["args"])
	}
	if !reflect.DeepEqual(got["env"], workOf(other[0])["env"]) {
		t.Errorf("got the variables %v, want those of others", got["env"])
	}
	for _, digest := range []string{"sha256:" + strings.Repeat("1", 64), "sha512:" + strings.Repeat("1", 128)} {
		it.Shards[0].ImageRef = digest
		native, mistakes := Objects(it, nil, Options{Process: process})
		if got := workOf(native[0])["image"]; got != "registry:5000/prcheck/prcheck@"+digest || len(mistakes) > 0 {
			t.Errorf("got the image %v and %v for a digest", got, mistakes)
		}
	}
	it.Shards[0].ImageRef = "sha256:1"
	if _, mistakes := Objects(it, nil, Options{Process: process}); len(mistakes) != 1 {
		t.Errorf("got %v for half a digest, want one mistake", mistakes)
	}
	it.Shards[0].ImageRef = ""
	process.Command, process.Args = []string{"/runner"}, nil
	native, _ = Objects(it, nil, Options{Process: process})
	got = workOf(native[0])
	if got["image"] != process.Image || !reflect.DeepEqual(got["args"], list{"reconcile"}) ||
		!reflect.DeepEqual(got["command"], list{"/runner"}) {
		t.Errorf("got the image %v, the command %v and the arguments %v", got["image"], got["command"], got["args"])
	}
}
