package rules

import (
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// The members of an object that names a value, such as a variable of an environment.
const valueName = "value"

var nameNames = []string{"name", "key"}

// SecretMember returns the member of an object that names a value if the name looks like that of a secret, as in
// {"name": "DB_PASSWORD", "value": "x"}; else "".
func SecretMember(members map[string]any) string {
	if _, isText := members[valueName].(string); !isText {
		return ""
	}
	for _, of := range nameNames {
		if name, isText := members[of].(string); isText && classes.LooksSecret(name) {
			return valueName
		}
	}
	return ""
}

// isOfSecretPair reports whether a path is that of the value of such an object in a list, which is known by its name.
func isOfSecretPair(path string) bool {
	item, isValue := strings.CutSuffix(path, "/"+valueName)
	if !isValue || !strings.Contains(item, "=") {
		return false
	}
	keys := jsonpointer.Unescape(item[strings.LastIndexByte(item, '/')+1:])
	for _, of := range nameNames {
		for _, one := range strings.Split(keys, ",") {
			if name, isKey := strings.CutPrefix(one, of+"="); isKey && classes.LooksSecret(name) {
				return true
			}
		}
	}
	return false
}
