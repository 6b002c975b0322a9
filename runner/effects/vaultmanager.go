package effects

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// A vaultManager finds effects in the log of vault-manager, which is in logfmt:
//
//	time="…" level=info msg="[Dry Run] [Vault Policy] policy to be written='x'" instance="…"
type vaultManager struct{}

// vaultMessage matches the message of an effect: the part of Vault, the kind of thing, what
// would be done, and sometimes its name.
var vaultMessage = lazyregexp.New(`^\[Dry Run\]\s+(?:\[([^\]]+)\]\s+)?(\S.*?) to be (enabled|disabled|written|deleted|delelted|created|updated|removed)(?:='?(.*?)'?)?$`)

// vaultKinds are the kinds of what vault-manager would do. To disable an engine deletes its
// content. What is written may exist already.
var vaultKinds = map[string]plan.EffectKind{
	"enabled": plan.EffectCreate, "created": plan.EffectCreate, "written": plan.EffectChange, "updated": plan.EffectChange,
	"disabled": plan.EffectDelete, "deleted": plan.EffectDelete, "delelted": plan.EffectDelete,
	"removed": plan.EffectDelete,
}

func (vaultManager) read(line string, claimed bool, found *collection) bool {
	if claimed || !strings.Contains(line, "level=") {
		return false
	}
	fields, ok := readLogfmt(line)
	if !ok {
		return false
	}
	var level, message string
	var details []string
	for _, f := range fields {
		switch f[0] {
		case "level":
			level = f[1]
		case "msg":
			message = f[1]
		case "time":
		default:
			details = append(details, f[0]+"="+f[1])
		}
	}
	m := vaultMessage.FindStringSubmatch(message)
	if level != "info" || m == nil {
		return false
	}
	subject := strings.Join(append([]string{m[2], m[4]}, details...), " ")
	found.add(vaultKinds[m[3]], subject, 1)
	return true
}

func (vaultManager) end(*collection) {}

// logfmtField matches the next field of a line in logfmt.
var logfmtField = lazyregexp.New(`^ *([A-Za-z_][\w.-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?: |$)`)

// readLogfmt returns the fields of a line in logfmt, in order.
func readLogfmt(line string) (fields [][2]string, ok bool) {
	for strings.TrimSpace(line) != "" {
		m := logfmtField.FindStringSubmatch(line)
		if m == nil {
			return nil, false
		}
		v := m[2]
		if strings.HasPrefix(v, `"`) {
			plain, err := strconv.Unquote(v)
			if err != nil {
				return nil, false
			}
			v = plain
		}
		fields = append(fields, [2]string{m[1], v})
		line = line[len(m[0]):]
	}
	return fields, true
}
