package render

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

const ownTemplate = `# pods of the shop
metadata:
  labels: {team: shop, app: never}
  annotations: {image: "${IMAGE_REFERENCE}"}
spec:
  serviceAccountName: shop
  initContainers:
  - name: first
    image: ${BUSYBOX_IMAGE}
    args: [sh, -c, "echo $HOME"]
  containers:
  - name: int
    image: ${IMAGE_REFERENCE}
    args: ["${INTEGRATION_NAME}", "${INTEGRATION_EXTRA_ARGS}"]
    ports: [{containerPort: "${{APP_INTERFACE_PROJECT_ID}}"}]
    env:
    - {name: SHARD_KEY, value: "${SHARD_KEY}"}
    - {name: SHARD, value: "${SHARD_ID}/${SHARDS}"}
    - {name: RUN_ONCE, value: "${RUN_ONCE}"}
    - {name: SLEEP, value: "${SLEEP_DURATION_SECS}"}
    - {name: EMPTY, value: ""}
    - {name: SHIPPER, value: "${FLUENTD_CPU_REQUEST}"}
    - {name: OLD, value: of the template}
  - name: beside
    image: quay.io/shop/beside:1
    resources:
      requests: {cpu: "${CPU_REQUEST}", memory: "${MEMORY_REQUEST}"}
      limits: {cpu: "${CPU_LIMIT}"}
`

// shopIntegration is an integration with a value of each kind that a template can use.
func shopIntegration() Integration {
	it := Integration{Name: "shop-window", Shards: []Shard{{Shards: "2", ID: "0", ExtraArgs: "--on ${ENVIRONMENT_NAME}"},
		{Key: "harbor", Suffix: "-harbor"}}}
	it.Spec.SleepDurationSecs = "60"
	it.Spec.Resources = &Resources{}
	it.Spec.Resources.Requests.CPU = "100m"
	it.Spec.ExtraEnv = []Variable{{Name: "OLD", Value: "of the data"}, {SecretName: "shop", SecretKey: "KEY"}}
	return it
}

func TestOwnPod(t *testing.T) {
	pods, err := ParsePodTemplate("pods.yml", []byte(ownTemplate))
	if err != nil {
		t.Fatal(err)
	}
	objects, mistakes := Objects(shopIntegration(), map[string]string{"SHOP_WINDOW_CPU_REQUEST": "200m"},
		Options{Pod: pods})
	wantMistakes := []Mistake{{"/spec/extraEnv/0",
		"the variable OLD is set before this entry already; the value of this entry is used", true}}
	if !reflect.DeepEqual(mistakes, wantMistakes) {
		t.Errorf("got %v, want %v", mistakes, wantMistakes)
	}
	var want any
	if err := json.Unmarshal([]byte(`{
		"metadata": {
			"annotations": {"image": "quay.io/app-sre/qontract-reconcile:latest"},
			"labels": {"app": "qontract-reconcile-shop-window", "app.kubernetes.io/instance": "qontract-reconcile-shop-window", "component": "qontract-reconcile", "team": "shop"}
		},
		"spec": {
			"serviceAccountName": "shop",
			"initContainers": [{"name": "first", "image": "registry.access.redhat.com/ubi8/ubi-minimal", "args": ["sh", "-c", "echo $HOME"]}],
			"containers": [{
				"name": "int",
				"image": "quay.io/app-sre/qontract-reconcile:latest",
				"args": ["shop-window", "--on app-interface"],
				"ports": [{"containerPort": 0}],
				"env": [
					{"name": "SHARD", "value": "0/2"},
					{"name": "SLEEP", "value": "60"},
					{"name": "EMPTY", "value": ""},
					{"name": "OLD", "value": "of the data"},
					{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "shop", "key": "KEY"}}}
				],
				"resources": {"requests": {"cpu": "200m"}}
			}, {
				"name": "beside",
				"image": "quay.io/shop/beside:1",
				"resources": {"requests": {"cpu": "200m"}, "limits": {}}
			}]
		}
	}`), &want); err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 {
		t.Fatalf("got %d objects, want 2", len(objects))
	}
	diff(t, "pods", decoded(t, podTemplate(objects[0])), want)
	if got := fmt.Sprint(workOf(objects[1])["env"]); !strings.Contains(got, "SHARD_KEY value:harbor") {
		t.Errorf("got %s, want the key of the shard", got)
	}
	if again := decoded(t, pods.root); !strings.Contains(fmt.Sprint(again), "${SHARD_KEY}") {
		t.Errorf("the template has changed: %v", again)
	}
}

func TestOwnPodKinds(t *testing.T) {
	pods, err := ParsePodTemplate("pods.yml", []byte(ownTemplate))
	if err != nil {
		t.Fatal(err)
	}
	it := shopIntegration()
	it.Spec.Cron, it.Spec.FluentdResources = "0 * * * *", it.Spec.Resources
	objects, _ := Objects(it, nil, Options{Pod: pods})
	if raw, _ := json.Marshal(objects); strings.Contains(string(raw), "${") {
		t.Errorf("a reference is left in %s", raw)
	}
	spec, _ := podTemplate(objects[0])["spec"].(fields)
	if got := fmt.Sprint(workOf(objects[0])["env"], spec["restartPolicy"]); !strings.Contains(got,
		"RUN_ONCE value:true") || !strings.Contains(got, "OnFailure") {
		t.Errorf("a CronJob: got %s, want RUN_ONCE and OnFailure", got)
	}
	it = shopIntegration()
	it.Spec.Cache = true
	objects, _ = Objects(it, nil, Options{Pod: pods, Process: &NativeProcess{Image: "quay.io/prcheck/prcheck:1"}})
	work := workOf(objects[0])
	want := fields{"image": "quay.io/prcheck/prcheck:1", "args": list{"reconcile"},
		"volumeMounts": list{mount("cache", "/.cache")}}
	for key := range want {
		diff(t, "a native with a cache: "+key, work[key], want[key])
	}
	if _, mistakes := Objects(it, nil, Options{Pod: &PodTemplate{}}); len(mistakes) != 1 {
		t.Errorf("an empty template: got %v, want one mistake", mistakes)
	}
}

func TestParsePodTemplateMistakes(t *testing.T) {
	const good = "spec:\n  containers:\n  - name: int\n    image: x\n"
	cases := []struct{ name, in, want string }{
		{"nothing", "", "pods.yml: it is empty"},
		{"a list", "[]", "pods.yml: line 1: a template of pods must be a map"},
		{"a whole Pod", "kind: Pod\n" + good, `pods.yml: line 1: the key "kind" is not one of metadata, spec`},
		{"a name in metadata", "metadata:\n  name: x\n" + good,
			`pods.yml: line 2: the key "name" is not one of labels, annotations`},
		{"a label that is a number", "metadata:\n  labels:\n    a: 1\n" + good,
			"pods.yml: line 3: the value of a must be a text"},
		{"metadata that is a text", "metadata: x\n" + good, "pods.yml: line 1: metadata must be a map"},
		{"no spec", "metadata: {}\n", "pods.yml: line 1: a pod needs containers"},
		{"no containers", "spec:\n  containers: []\n", "pods.yml: line 2: a pod needs containers"},
		{"containers that are a map", "spec:\n  containers: {}\n", "pods.yml: line 2: containers must be a list"},
		{"a container that is a text", "spec:\n  containers:\n  - int\n", "pods.yml: line 3: an entry must be a map"},
		{"a container that is null", "spec:\n  containers:\n  -\n",
			"pods.yml: line 3: a container needs a name and an image"},
		{"no container int", "spec:\n  containers:\n  - {name: a, image: x}\n",
			"pods.yml: line 3: no container has the name int"},
		{"two containers int", good + "  - name: int\n    image: x\n", "two containers have one name: int, int"},
		{"an image that is a number", "spec:\n  containers:\n  - name: int\n    image: 5\n",
			"pods.yml: line 3: a container needs a name and an image, both texts"},
		{"a variable that is a number", good + "    env:\n    - name: A\n      value: 5\n",
			"pods.yml: line 7: the value of the variable A must be a text; put it in quotes"},
		{"a variable without a name", good + "    env:\n    - value: x\n", "pods.yml: line 6: a variable needs a name"},
		{"a variable twice", good + "    env:\n    - {name: A}\n    - {name: A}\n",
			"pods.yml: line 7: the variable A is here twice"},
		{"variables that are a map", good + "    env: {A: x}\n", "pods.yml: line 5: env must be a list"},
		{"resources that are a list", good + "    resources: []\n", "pods.yml: line 5: resources must be a map"},
		{"limits that are a text", good + "    resources:\n      limits: x\n", "pods.yml: line 6: limits must be a map"},
		{"a policy", good + "  restartPolicy: Never\n", "pods.yml: line 5: restartPolicy does not belong here"},
		{"an unknown name", good + "    args:\n    - |\n      echo\n      echo ${HOME}\n",
			"pods.yml: line 8: the name ${HOME} is not known"},
		{"an unknown name in a key", good + "    ${SHELF}: x\n", "pods.yml: line 5: the name ${SHELF} is not known"},
		{"an unknown name in double braces", good + "    a: ${{SHELF}}\n",
			"pods.yml: line 5: the name ${SHELF} is not known"},
		{"a loop of anchors", good + "  a: &a\n    b: *a\n", "pods.yml: line 6: an anchor holds an alias of itself"},
		{"very many mistakes", good + "    args:\n" + strings.Repeat("    - ${A}\n", 1000),
			"pods.yml: and 990 mistakes more"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParsePodTemplate("pods.yml", []byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// The page about templates of pods has a template that can be read, and names every name.
func TestPodTemplatePage(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/pod-template.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	_, rest, _ := strings.Cut(page, "```yaml\n")
	text, _, ok := strings.Cut(rest, "```")
	pods, err := ParsePodTemplate("docs/pod-template.md", []byte(text))
	if !ok || err != nil {
		t.Fatal(err)
	}
	if objects, mistakes := Objects(plain(nil), nil, Options{Pod: pods}); len(objects) != 1 || len(mistakes) > 0 {
		t.Errorf("got %d objects and %v", len(objects), mistakes)
	}
	_, names, _ := strings.Cut(page, "## Names")
	for _, name := range processNames {
		if !strings.Contains(names, "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// A template of pods that can be read is rendered the same way twice, with a container int and
// with our labels.
func FuzzParsePodTemplate(f *testing.F) {
	for _, seed := range []string{"", ownTemplate, "spec: {containers: [{name: int, image: '${IMAGE}'}]}", "a: &a [*a]",
		"spec:\n  containers:\n  - &c {name: int, image: x, env: [{name: A, value: '${SHARD_KEY}'}]}\n  initContainers: [{<<: *c, name: b}]\n"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, isCron bool) {
		pods, err := ParsePodTemplate("pods.yml", []byte(text))
		if err != nil {
			return
		}
		it := shopIntegration()
		if isCron {
			it.Spec.Cron = "0 * * * *"
		}
		first, mistakes := Objects(it, nil, Options{Pod: pods})
		second, _ := Objects(it, nil, Options{Pod: pods})
		a, errA := json.Marshal(first)
		b, _ := json.Marshal(second)
		if errA != nil || string(a) != string(b) {
			t.Fatalf("got %s and then %s, %v", a, b, errA)
		}
		for _, object := range first {
			metadata, _ := podTemplate(object)["metadata"].(fields)
			labels, _ := metadata["labels"].(fields)
			if workOf(object) == nil || !isCron && labels[manifests.InstanceLabel] != object["metadata"].(fields)["name"] {
				t.Fatalf("got %v, with the mistakes %v", object, mistakes)
			}
		}
	})
}
