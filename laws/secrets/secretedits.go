package main

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// target returns a target of a side: that of stage, or that of production.
func target(w *world, i int) object {
	if t := w.at(saastest.File, "resourceTemplates", 0, "targets", i); t != nil {
		return t
	}
	return object{}
}

// layer returns one of the places that give parameters to the targets.
func layer(w *world, r *rand.Rand) object {
	return []object{w.Data[saastest.StageEnv], w.Data[saastest.File], w.at(saastest.File, "resourceTemplates", 0),
		target(w, 0)}[r.IntN(4)]
}

// addSecretParameter gives the targets a secret parameter.
func addSecretParameter(s *scene, r *rand.Rand, name string, of object) {
	sides := []*world{s.head}
	if r.IntN(3) == 0 {
		sides = s.both()
	}
	which := r.Uint64()
	for _, w := range sides {
		at := layer(w, rand.New(rand.NewPCG(which, 1))) //nolint:gosec // tests need no secure numbers
		list, _ := at["secretParameters"].([]any)
		at["secretParameters"] = append(list, object{"name": name, "secret": of})
	}
}

// appSecret returns a secret that the saas file allows.
func appSecret(r *rand.Rand) object {
	return secret("app/shop/"+word(r), pick(r, "password", "key"))
}

// useInTemplate uses a parameter in the templates of head, and of base as well if both is true.
func useInTemplate(s *scene, r *rand.Rand, name string, both bool) {
	var uses []func([]any) []any
	for range 1 + r.IntN(2) {
		p, use := pick(r, parts...), reference(r, name)
		uses = append(uses, func(o []any) []any {
			if len(o) < 3 {
				return o
			}
			return safely(func() []any { return p.put(o, use) }, o)
		})
	}
	text := openshift([]string{"PW", name, "IMAGE_DIGEST", "REGISTRY_IMG"}[:pick(r, 2, 2, 2, 4)], uses...)
	all := s.code[codeURL]
	all["feature"] = commit{featureSha, with(all["feature"].files, templatePath, text)}
	if both {
		all["main"] = commit{mainSha, with(all["main"].files, templatePath, text)}
	}
}

// useChart makes the template a chart with a secret.
func useChart(s *scene, r *rand.Rand, computes bool) {
	all := s.code[codeURL]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		for file, text := range chart(chartPath, r, computes) {
			c.files = with(c.files, file, text)
		}
		all[name] = c
	}
	addSecretParameter(s, r, "PW", appSecret(r))
	for _, w := range s.both()[r.IntN(2):] {
		t := w.at(saastest.File, "resourceTemplates", 0)
		t["provider"], t["path"] = "helm", "/"+chartPath
	}
}

// safely returns what a function returns, or another value if two parts do not fit each other.
func safely(do func() []any, otherwise []any) (out []any) {
	defer func() {
		if recover() != nil {
			out = otherwise
		}
	}()
	return do()
}

// with returns files with another one.
func with(files map[string]string, name, text string) map[string]string {
	out := maps.Clone(files)
	out[name] = text
	return out
}

// secretEdits give targets secrets, and use them.
var secretEdits = []edit{
	{"a secret parameter", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", appSecret(r))
		useInTemplate(s, r, "PW", r.IntN(3) == 0)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a second secret parameter", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", appSecret(r))
		useInTemplate(s, r, "PW", true)
	}},
	{"a secret that has the name of another parameter", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, pick(r, "IMAGE_TAG", "REGISTRY_IMG", "REPLICAS", "LOG_LEVEL", "CHANNEL", "COMMIT_SHA",
			"image"), appSecret(r))
	}},
	{"a parameter that refers to a secret", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", appSecret(r))
		target(s.head, 0)["parameters"] = object{"REPLICAS": 1, pick(r, "IMAGE_TAG", "LOG_LEVEL", "REGISTRY_IMG"): pick(r,
			"${PW}", "v-${PW}", "quay.io/${PW}")}
	}},
	{"a digest of the image", func(s *scene, r *rand.Rand) {
		s.head.at(saastest.File, "resourceTemplates", 0)["parameters"] = object{"LOG_LEVEL": "info",
			"REGISTRY_IMG": "quay.io/acme/shop"}
		useInTemplate(s, r, "IMAGE_DIGEST", false)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a secret that base does not allow", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.File]["allowedSecretParameterPaths"] = []any{"app"}
		addSecretParameter(s, r, "PW", secret("app/"+pick(r, "code", "image", "cluster/c-1", "other/"+word(r)), "token"))
		useInTemplate(s, r, "PW", false)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a secret that nobody allows", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", secret("other/"+word(r), "token"))
	}},
	{"a credential as a parameter", func(s *scene, r *rand.Rand) {
		for _, w := range s.both() {
			w.Data[saastest.File]["allowedSecretParameterPaths"] = []any{"app"}
		}
		addSecretParameter(s, r, "PW", secret("app/"+pick(r, "code", "image", "cluster/c-1"), "token"))
		useInTemplate(s, r, "PW", false)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a chart", func(s *scene, r *rand.Rand) { useChart(s, r, r.IntN(3) == 0) }},
	{"a chart that computes", func(s *scene, r *rand.Rand) { useChart(s, r, true) }},
	{"a folder", func(s *scene, r *rand.Rand) {
		all := s.code[codeURL]
		for name, c := range all {
			c.files = with(c.files, "folder/a.yaml",
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: folder}\ndata: {pw: \"${PW}\"}\n")
			all[name] = c
		}
		addSecretParameter(s, r, "PW", appSecret(r))
		t := s.head.at(saastest.File, "resourceTemplates", 0)
		t["provider"], t["path"] = "directory", "/folder"
	}},
	{"a value that was plain in base", func(s *scene, r *rand.Rand) {
		target(s.base, 0)["parameters"] = object{"REPLICAS": 1, "PW": "a-guess"}
		s.tries = append(s.tries, "a-guess")
		list, _ := target(s.head, 0)["secretParameters"].([]any)
		target(s.head, 0)["secretParameters"] = append(list, object{"name": "PW", "secret": appSecret(r)})
		useInTemplate(s, r, "PW", true)
	}},
	{"a secret is a word of the data", func(s *scene, _ *rand.Rand) {
		s.words = append(s.words, "shop", "stage", "main", "Deployment", "Service", "info", "quay.io/acme/shop", "80")
	}},
	{"a secret is not there", func(s *scene, _ *rand.Rand) { s.absent = true }},
}
