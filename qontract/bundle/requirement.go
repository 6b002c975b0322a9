package bundle

// A requirement checks a file of a section. It returns what is missing, such as "has no
// path", or "".
type requirement func(f *File, has resourceKeys) string

// resourceKeys records which of the keys that every resource needs were found.
type resourceKeys struct{ path, content, sha256sum bool }

func (k *resourceKeys) record(key []byte) {
	switch string(key) {
	case "path":
		k.path = true
	case "content":
		k.content = true
	case "sha256sum":
		k.sha256sum = true
	}
}

func requireSchema(f *File, _ resourceKeys) string {
	if f.Schema == "" {
		return "has no $schema"
	}
	return ""
}

func requireContent(_ *File, has resourceKeys) string {
	switch {
	case !has.path:
		return "has no path"
	case !has.content:
		return "has no content"
	case !has.sha256sum:
		return "has no sha256sum"
	}
	return ""
}

func requireNothing(*File, resourceKeys) string { return "" }
