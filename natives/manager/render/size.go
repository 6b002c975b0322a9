package render

import "github.com/app-sre/prcheck/natives/manifests"

// The limits of texts. Kubernetes stores no object that is larger than the first. The second
// keeps a change from filling the memory with many large objects.
const (
	maxObject = 1 << 20
	maxTotal  = 64 << 20
)

// addSize counts the texts of an object. It notes a mistake if they are too large.
func (r *renderer) addSize(object manifests.Object) {
	size := sizeOf(object)
	r.size += size
	switch {
	case size > maxObject:
		r.mistake("/spec", "an object of %d MiB is larger than Kubernetes accepts", size>>20)
	case r.size > maxTotal:
		r.mistake("/sharding", "the objects of all shards are larger than %d MiB", maxTotal>>20)
	default:
		return
	}
	r.isTooLarge = true
}

// sizeOf returns how long the texts of a value are.
func sizeOf(value any) int {
	size := 1
	switch value := value.(type) {
	case string:
		size += len(value)
	case list:
		for _, item := range value {
			size += sizeOf(item)
		}
	case fields:
		for key, item := range value {
			size += len(key) + sizeOf(item)
		}
	}
	return size
}
