package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// dataEdits change the data of saas files.
var dataEdits = []edit{
	{"it is another branch", func(s *scene, r *rand.Rand) {
		target(s.head, 0)["ref"] = pick(r, "feature", "gone", saastest.Sha)
	}},
	{"more replicas", func(s *scene, r *rand.Rand) {
		target(s.head, r.IntN(2))["parameters"] = object{"REPLICAS": 2 + r.IntN(3)}
	}},
	{"another repository", func(s *scene, r *rand.Rand) {
		s.head.at(saastest.File, "resourceTemplates", 0)["url"] = pick(r, "https://github.com/evil/shop",
			"https://"+evilHost+"/acme/shop", "https://github.com:8443/acme/shop")
	}},
	{"another path", func(s *scene, _ *rand.Rand) {
		s.head.at(saastest.File, "resourceTemplates", 0)["path"] = "/gone.yml"
	}},
	{"another code secret", func(s *scene, r *rand.Rand) {
		s.head.Data["/pipelines/authentication.yml"]["code"] = secret(pick(r, "app/image", "app/shop/a", "app/cluster/c-1"),
			"token")
	}},
	{"another image secret", func(s *scene, r *rand.Rand) {
		s.head.Data["/pipelines/authentication.yml"]["image"] = secret(pick(r, "app/code", "app/shop/a"), "token")
	}},
	{"other patterns of images", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.File]["imagePatterns"] = []any{pick(r, "quay.io/", "", evilHost+"/", "a", "quay.io:5000/")}
	}},
	{"no patterns of images", func(s *scene, _ *rand.Rand) { s.head.Data[saastest.File]["imagePatterns"] = []any{} }},
	{"other kinds", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.File]["managedResourceTypes"] = []any{pick(r, "Deployment", "Service", "Route"), "ConfigMap"}
	}},
	{"only some names", func(s *scene, _ *rand.Rand) {
		s.head.Data[saastest.File]["managedResourceNames"] = []any{object{"resource": "Service",
			"resourceNames": []any{"shop", "guessed"}}}
	}},
	{"a target is deleted", func(s *scene, r *rand.Rand) { target(s.head, r.IntN(2))["delete"] = true }},
	{"a target is disabled", func(s *scene, r *rand.Rand) { target(s.head, r.IntN(2))["disable"] = true }},
	{"a new target", func(s *scene, _ *rand.Rand) {
		list := s.head.at(saastest.File, "resourceTemplates", 0)
		list["targets"] = append(list["targets"].([]any), object{"namespace": ref(saastest.Production), "ref": mainSha,
			"name": "new", "parameters": object{"REPLICAS": 1}})
	}},
	{"a new saas file", func(s *scene, _ *rand.Rand) {
		f := copyOf(s.head.Data[saastest.File]).(object)
		f["name"], f["path"] = "till", "/services/shop/till.yml"
		delete(f["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[0].(object), "promotion")
		delete(f["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[1].(object), "promotion")
		s.head.Data["/services/shop/till.yml"] = f
	}},
	{"a promotion", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 0)["promotion"] = object{"publish": []any{"shop-stage"}}
			target(w, 1)["promotion"] = object{"auto": true, "subscribe": []any{"shop-stage"}}
		}
	}},
	{"no promotion", func(s *scene, r *rand.Rand) {
		delete(target(s.head, r.IntN(2)), "promotion")
	}},
	{"a build", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 0)["upstream"] = object{"instance": ref(saastest.Jenkins), "name": "shop-build"}
		}
	}},
	{"an image", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 0)["images"] = []any{object{"org": ref(saastest.QuayOrg), "name": "shop"}}
		}
	}},
	{"an objective", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 1)["slos"] = []any{ref(saastest.SLOs)}
		}
	}},
	{"another build server", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.Jenkins]["serverUrl"] = pick(r, "https://"+evilHost, "https://"+jenkinsHost+":8443")
	}},
	{"another secret of the build server", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.Jenkins]["token"] = secret("app/"+pick(r, "code", "shop/a"), "token")
	}},
	{"another cluster secret", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.Cluster]["automationToken"] = secret(pick(r, "app/shop/a", "app/code"), "token")
	}},
	{"another cluster address", func(s *scene, _ *rand.Rand) {
		s.head.Data[saastest.Cluster]["serverUrl"] = "https://" + newHost
	}},
	{"the server tries what is written", func(s *scene, _ *rand.Rand) { s.more["server_dry_run"] = true }},
	{"the cluster refuses", func(s *scene, r *rand.Rand) {
		s.clusters[clusterHost].refuses[pick(r, "/deployments", "/services", "/secrets", "/apis")] = http.StatusForbidden
	}},
	{"no host is named", func(s *scene, _ *rand.Rand) { s.own["hosts"] = []any{} }},
	{"planned data are checked", func(s *scene, _ *rand.Rand) {
		s.head.Data[saastest.File]["validatePlannedData"] = true
	}},
	{"it is compared", func(s *scene, _ *rand.Rand) { s.head.Data[saastest.File]["compare"] = true }},
}

// awayEdit makes a service answer each request for the first time that it is away. Clients ask again.
var awayEdit = edit{"a service is away once", func(s *scene, r *rand.Rand) {
	s.away[pick(r, codeHost, quayHost, jenkinsHost, prometheusHost)] = ""
}}

// deployEdits are the ways in which merge requests of saas-deploy differ.
var deployEdits = append(append([]edit{
	awayEdit,
	{"objects are there", func(s *scene, r *rand.Rand) {
		c := s.clusters[clusterHost]
		objects := plainObjects()
		for i, kind := range []string{"Deployment", "Service", "Secret"} {
			o := objects[i].(object)
			delete(o, "kind")
			meta := marked("saas-deploy", "shop")
			if r.IntN(5) == 0 {
				meta = marked("other", "shop")
			}
			o["metadata"] = meta
			if kind == "Deployment" {
				o["spec"].(object)["replicas"] = 1
				container([]any{o})["env"] = []any{object{"name": "LOG_LEVEL", "value": "info"},
					object{"name": "PW", "value": "old"}}
			}
			if r.IntN(3) == 0 { // as a run of the native left it
				notes := meta["annotations"].(object)
				notes["prcheck/secrets"] = pick(r, `(secret "app/shop/a" "password" "")`, `(secret "app/shop/b" "key" "")`,
					`(secret "app/shop/a" "password" "1")`)
				notes["prcheck/manifest-sha256"] = "0123456789abcdef"
				if kind == "Deployment" {
					container([]any{o})["env"].([]any)[1] = object{"name": "PW", "value": pick(r, valueOf("app/shop/a", "password"),
						valueOf("app/shop/b", "key"))}
				}
			} else if r.IntN(2) == 0 { // as an older prcheck left it: the digest follows from the value
				meta["annotations"].(object)["prcheck/manifest-sha256"] = valueOf("app/shop/a", "password")
			}
			c.put(kind, "shop-stage", "shop", o)
		}
		c.put("Service", "shop-stage", "gone", object{"metadata": marked("saas-deploy", "shop")})
	}},
	{leftEdit, func(s *scene, r *rand.Rand) {
		path := pick(r, "app/shop/a", "app/shop/b")
		if r.IntN(4) > 0 { // otherwise an older run had it
			target(s.base, 0)["secretParameters"] = []any{object{"name": "PW", "secret": secret(path, "password")}}
		}
		s.tries = append(s.tries, "plain")
		target(s.head, 0)["parameters"] = object{"REPLICAS": 1, "PW": "plain"}
		if r.IntN(2) == 0 {
			target(s.head, 0)["secretParameters"] = []any{object{"name": "LOG_LEVEL", "secret": secret("app/shop/other", "key")}}
		}
		uses := []func([]any) []any{}
		if r.IntN(3) > 0 {
			uses = append(uses, func(o []any) []any { return parts[0].put(o, "${PW}") })
		}
		all := s.code[codeURL]
		all["main"] = commit{mainSha, with(all["main"].files, templatePath, openshift([]string{"PW"}, uses...))}
		o := plainObjects()[0].(object)
		delete(o, "kind")
		meta := marked("saas-deploy", "shop")
		if r.IntN(2) == 0 || target(s.base, 0)["secretParameters"] == nil {
			meta["annotations"].(object)["prcheck/secrets"] = fmt.Sprintf("(secret %q %q %q)", path, "password", "")
		}
		meta["managedFields"] = []any{object{"manager": pick(r, "prcheck-saas-deploy", "somebody"),
			"operation": pick(r, "Apply", "Update"), "apiVersion": "apps/v1",
			"fieldsType": "FieldsV1",
			"fieldsV1":   objectOf(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"shop\"}":{"f:env":{"k:{\"name\":\"PW\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`)}}
		o["metadata"] = meta
		o["spec"].(object)["replicas"] = 1
		container([]any{o})["image"] = "quay.io/acme/shop:fedcba9"
		container([]any{o})["env"] = []any{object{"name": "PW", "value": valueOf(path, "password")},
			object{"name": "LOG_LEVEL", "value": "info"}}
		s.clusters[clusterHost].put("Deployment", "shop-stage", "shop", o)
	}},
	{"an object has a guess", func(s *scene, r *rand.Rand) {
		s.tries = append(s.tries, "a-live-guess")
		addSecretParameter(s, r, "PW", appSecret(r))
		all := s.code[codeURL]
		text := openshift([]string{"PW"}, func(o []any) []any { return parts[0].put(o, "${PW}") })
		all["main"] = commit{mainSha, with(all["main"].files, templatePath, text)}
		o := plainObjects()[0].(object)
		o["metadata"] = marked("saas-deploy", "shop")
		o["spec"].(object)["replicas"] = 1
		container([]any{o})["image"] = "quay.io/acme/shop:fedcba9"
		container([]any{o})["env"] = []any{object{"name": "LOG_LEVEL", "value": "info"},
			object{"name": "PW", "value": "a-live-guess"}}
		s.clusters[clusterHost].put("Deployment", "shop-stage", "shop", o)
	}},
}, secretEdits...), dataEdits...)

// loopEdits are the ways in which merge requests of pipelines and promotions differ. Their checks of
// a change ask nobody, so most of these are loops after the merge.
var loopEdits = append(append([]edit{
	awayEdit,
	{"it is the check of the change", func(s *scene, _ *rand.Rand) { s.isLoop = false }},
	{"runs are there", func(s *scene, r *rand.Rand) {
		s.clusters[clusterHost].put("PipelineRun", "shop-production", "run-"+word(r),
			object{"metadata": marked("saas-pipelines", "shop"),
				"status": object{"conditions": []any{object{"type": "Succeeded", "status": pick(r, "True", "False", "Unknown")}}}})
	}},
}, secretEdits...), dataEdits...)

// promotionEdits are those of promotions, which write to a forge.
var promotionEdits = append([]edit{
	{"what is decided is written", func(s *scene, _ *rand.Rand) { s.isLoop, s.writes = true, true }},
	{"the forge is away once", func(s *scene, _ *rand.Rand) { s.away[forgeHost] = "/files/" }},
}, loopEdits...)

// objectOf returns a JSON text as an object.
func objectOf(text string) (out object) {
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(err) // it is a constant
	}
	return out
}
