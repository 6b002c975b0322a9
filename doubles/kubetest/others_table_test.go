package kubetest

import "strings"

const (
	byHand    = "/apis/apps/v1/namespaces/f/deployments/hand"
	scaleTo   = byHand + "/scale?fieldManager=kubectl"
	asEdit    = "?fieldManager=kubectl-edit"
	asPatch   = "?fieldManager=kubectl-patch"
	asSet     = "?fieldManager=kubectl-set"
	heldPath  = inF + "/configmaps/held"
	policies  = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	fullPath  = "/api/v1/namespaces/full"
	endedPath = "/api/v1/namespaces/ended"
)

// A by says who sends a request, and to whom. The zero value is the administrator.
type by struct {
	user   string // nobody
	isReal bool   // only the real server gets it: what a controller does there
	until  int    // the real server gets it again until it answers so: it hears of quotas and policies after a moment
}

// senders are the requests that are not simply sent to both servers.
var senders = map[string]by{
	"no role, list":         {user: "nobody"},
	"no role, get":          {user: "nobody"},
	"no role, apply":        {user: "nobody"},
	"no role, namespace":    {user: "nobody"},
	"no role, delete":       {user: "nobody"},
	"quota counted":         {isReal: true},
	"beyond a quota":        {until: 403},
	"policy":                {isReal: true},
	"binding":               {isReal: true},
	"against a policy":      {until: 403},
	"in an ended namespace": {until: 403},
}

// hand is a Deployment that people change by hand.
func hand(spec, image string) string {
	return strings.Replace(webWith(spec, enough(podOf(image, ""))), `"name": "web"`, `"name": "hand"`, 1)
}

func configMap(namespace, name string) string {
	return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "` + name + `", "namespace": "` + namespace +
		`"}, "data": {"a": "1"}}`
}

func space(name string) string {
	return `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "` + name + `"}}`
}

// tableOfOthers are requests of people with kubectl and of autoscalers, and those that a server
// forbids.
func tableOfOthers() []request {
	const quota = `{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "full"}, "spec": {"hard": {"count/configmaps": "0"}}}`
	return []request{
		{"by hand", "PATCH", byHand + strict, apply, hand(`"replicas": 1,`, "i:1")},
		{"its scale", "GET", byHand + "/scale", "", ""},
		{"scaled to the same", "PATCH", scaleTo, merges, `{"spec": {"replicas": 1}}`},
		{"after that", "GET", byHand, "", ""},
		{"scaled to three", "PATCH", scaleTo, merges, `{"spec": {"replicas": 3}}`},
		{"scaled", "GET", byHand, "", ""},
		{"scaled, and applied", "PATCH", byHand + strict, apply, hand(`"replicas": 1,`, "i:1")},
		{"scaled on trial", "PATCH", scaleTo + "&dryRun=All", merges, `{"spec": {"replicas": 7}}`},
		{"after a trial", "GET", byHand, "", ""},
		{"scaled to none", "PATCH", scaleTo, merges, `{"spec": {"replicas": 0}}`},
		{"paused", "GET", byHand, "", ""},
		{"paused, its scale", "GET", byHand + "/scale", "", ""},
		{"paused, and applied", "PATCH", byHand + strict, apply, hand(`"replicas": 1,`, "i:1")},
		{"paused again", "PATCH", scaleTo, merges, `{"spec": {"replicas": 0}}`},
		{"scaled from none", "PATCH", scaleTo, merges, `{"spec": {"replicas": 2}}`},
		{"without a manager", "GET", byHand, "", ""},
		{"written scale", "PUT", byHand + "/scale?fieldManager=hpa", plain,
			`{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "hand", "namespace": "f"}, "spec": {"replicas": 5}}`},
		{"after a written scale", "GET", byHand, "", ""},
		{"taken over", "PATCH", byHand + strict, apply, hand(`"replicas": 5,`, "i:1")},
		{"scaled by an autoscaler", "PATCH", byHand + "/scale?fieldManager=hpa", merges, `{"spec": {"replicas": 6}}`},
		{"two managers", "GET", byHand, "", ""},
		{"the scale of nothing", "GET", byHand + "x/scale", "", ""},
		{"kubectl edit", "PATCH", byHand + asEdit, smart,
			`{"spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "int", "image": "i:2"}]}}}}`},
		{"kubectl edit removes", "PATCH", byHand + asEdit, smart,
			`{"spec": {"template": {"spec": {"containers": [{"name": "int", "env": [{"name": "A", "$patch": "delete"}]}]}}}}`},
		{"kubectl set image", "PATCH", byHand + asSet, smart,
			`{"spec": {"template": {"spec": {"containers": [{"name": "int", "image": "i:3"}]}}}}`},
		{"kubectl patch", "PATCH", byHand + asPatch, merges, `{"metadata": {"labels": {"a": "b"}}}`},
		{"conflict of edit and set", "PATCH", byHand + strict, apply, hand(`"replicas": 2,`, "i:1")},
		{"undone by value", "PATCH", byHand + asSet, smart,
			`{"spec": {"template": {"spec": {"containers": [{"name": "int", "image": "i:1"}]}}}}`},
		{"applied beside that", "PATCH", byHand + strict, apply, hand("", "i:1")},
		{"next image", "PATCH", byHand + strict, apply, hand("", "i:4")},
		{"held", "POST", inF + "/configmaps" + strict, plain, strings.Replace(configMap("f", "held"), `"name"`,
			`"finalizers": ["example.com/hold"], "name"`, 1)},
		{"held, deleted", "DELETE", heldPath, plain, `{"propagationPolicy": "Background"}`},
		{"held, there", "GET", heldPath, "", ""},
		{"held, let go", "PATCH", heldPath + other, merges, `{"metadata": {"finalizers": null}}`},
		{"held, gone", "GET", heldPath, "", ""},
		{"no role, list", "GET", inF + "/configmaps", "", ""},
		{"no role, get", "GET", byHand, "", ""},
		{"no role, apply", "PATCH", byHand + strict, apply, hand("", "i:5")},
		{"no role, namespace", "PATCH", "/api/v1/namespaces/g" + strict, apply, space("g")},
		{"no role, delete", "DELETE", inF + "/configmaps/map", plain, `{}`},
		{"full", "PATCH", fullPath + strict, apply, space("full")},
		{"quota", "PATCH", fullPath + "/resourcequotas/q" + strict, apply, quota},
		{"quota counted", "PATCH", fullPath + "/resourcequotas/q/status", merges,
			`{"status": {"hard": {"count/configmaps": "0"}, "used": {"count/configmaps": "0"}}}`},
		{"beyond a quota", "PATCH", fullPath + "/configmaps/a" + strict, apply, configMap("full", "a")},
		{"policy", "POST", policies, plain,
			`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {
			"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]},
			"validations": [{"expression": "object.metadata.name != 'refused'", "reason": "Forbidden"}]}}`},
		{"binding", "POST", policies[:len(policies)-len("policies")] + "policybindings", plain,
			`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
			"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}`},
		{"against a policy", "PATCH", inF + "/configmaps/refused" + strict, apply, configMap("f", "refused")},
		{"ended", "PATCH", endedPath + strict, apply, space("ended")},
		{"ended, deleted", "DELETE", endedPath, plain, `{}`},
		{"ended, there", "GET", endedPath, "", ""},
		{"in an ended namespace", "PATCH", endedPath + "/configmaps/a" + strict, apply, configMap("ended", "a")},
	}
}
