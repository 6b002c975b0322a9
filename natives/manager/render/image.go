package render

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/manifests"
)

// image returns the reference of the image of a shard: the imageRef of its override, else that
// of the spec, else tag and digest of the parameters.
func (r *renderer) image(shard Shard) string {
	name, version := "${IMAGE}", "${IMAGE_TAG}@${IMAGE_DIGEST}"
	if r.Process != nil {
		name, version = splitImage(r.Process.Image)
	}
	if ref, _ := r.imageRef(shard); ref != "" {
		version = ref
	}
	if isDigest(version) {
		return name + "@" + version
	}
	return name + ":" + version
}

// isDigest reports whether an imageRef is a digest and not a tag, which has no colon.
func isDigest(ref string) bool {
	return strings.HasPrefix(ref, "sha256:") || strings.HasPrefix(ref, "sha512:")
}

// imageRef returns the imageRef of a shard and the pointer to it, "" if there is none.
func (r *renderer) imageRef(shard Shard) (ref, pointer string) {
	switch {
	case r.kind == manifests.CronJob && r.Parity: // the chart forgets it
		return "", ""
	case shard.ImageRef != "":
		return shard.ImageRef, overridePointer(shard) + "/imageRef"
	case r.of.Spec.ImageRef != "":
		return r.of.Spec.ImageRef, "/spec/imageRef"
	}
	return "", ""
}

// splitImage splits the reference of an image into its name, and its tag and digest.
func splitImage(reference string) (name, version string) {
	name, digest, hasDigest := strings.Cut(reference, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		name, version = name[:colon], name[colon+1:]
	}
	if hasDigest {
		version += "@" + digest
	}
	return name, version
}

// cleanImage returns the reference of an image without an empty tag or digest.
func cleanImage(reference string) string {
	reference = strings.TrimSuffix(reference, "@")
	reference = strings.Replace(reference, ":@", "@", 1)
	return strings.TrimSuffix(reference, ":")
}

// The grammar of image references: a registry and a port, a path in lower case, a tag, a digest.
var imageGrammar = lazyregexp.New(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?/)?` +
	`[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*` +
	`(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?$`)

// checkImage returns an error if a text is no reference of an image.
func checkImage(reference string) error {
	if !imageGrammar.MatchString(reference) {
		return fmt.Errorf("%.160q is no reference of an image, such as quay.io/team/name:tag@sha256:…", reference)
	}
	return nil
}

// cleanImages cleans the references of all images of an object, which it changes.
func cleanImages(object manifests.Object) {
	for _, c := range containers(object) {
		if image, ok := c["image"].(string); ok {
			c["image"] = cleanImage(image)
		}
	}
}

// podTemplate returns the template that an object has for its pods.
func podTemplate(object manifests.Object) fields {
	path := []string{"spec", "template"}
	if object["kind"] == manifests.CronJob.Name {
		path = []string{"spec", "jobTemplate", "spec", "template"}
	}
	at := object
	for _, step := range path {
		at, _ = at[step].(fields)
	}
	return at
}

// containers returns the containers of the pods of an object, those that run first before the
// others.
func containers(object manifests.Object) []fields {
	spec, _ := podTemplate(object)["spec"].(fields)
	var out []fields
	for _, group := range []string{"initContainers", "containers"} {
		all, _ := spec[group].(list)
		for _, one := range all {
			if container, ok := one.(fields); ok {
				out = append(out, container)
			}
		}
	}
	return out
}
