package settings

import (
	"errors"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// memoryPattern matches an amount of memory, such as 512MiB.
var memoryPattern = lazyregexp.New(`^([1-9][0-9]{0,8})(KiB|MiB|GiB|TiB)$`)

// ParseBytes returns the number of bytes of an amount of memory such as 512MiB or 4GiB.
func ParseBytes(text string) (int64, error) {
	parts := memoryPattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, errors.New("must be an amount of memory such as 512MiB or 4GiB")
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, err
	}
	shift := map[string]int{"KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}[parts[2]]
	if n > 1<<50>>shift {
		return 0, errors.New("must be at most 1024TiB")
	}
	return n << shift, nil
}

// readMemory reads an amount of memory.
func (r *reader) readMemory(n *yaml.Node, at string) int64 {
	r.note(n, memoryText)
	bytes, err := ParseBytes(n.Value)
	if err == nil && n.Kind == yaml.ScalarNode {
		return bytes
	}
	if err == nil {
		err = errors.New("must be an amount of memory such as 512MiB or 4GiB")
	}
	r.fail(n.Line, at, "%s, got %s", err, describeNode(n))
	return 0
}
