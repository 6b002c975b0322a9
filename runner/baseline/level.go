package baseline

import (
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// infoOrDebugLine matches a line of level INFO or DEBUG, with or without a time before
// the level: as plain text, as logfmt, and as JSON.
var infoOrDebugLine = lazyregexp.New(`^(?:` +
	`(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\]\s]*\]?[ \t]+)?(?:\[(?:DEBUG|INFO)\](?:[ \t:]|$)|(?:DEBUG|INFO)(?:[ \t]|:))` +
	`|(?:(?:time|ts)=(?:"[^"]*"|\S+) )?level="?(?i:debug|info)"?(?: |$)` +
	`|\{"(?:time|ts|timestamp)":"[^"]*","level":"(?i:debug|info)",` +
	`)`)

// debugLine matches a line of level DEBUG, in the same forms.
var debugLine = lazyregexp.New(strings.NewReplacer(`(?:DEBUG|INFO)`, `DEBUG`, `(?i:debug|info)`,
	`(?i:debug)`).Replace(infoOrDebugLine.String()))

// recordTime matches the time at the beginning of a line that is a record of a log by its
// form: a time in brackets, a time before a level, and logfmt or JSON.
var recordTime = lazyregexp.New(`^(?:` +
	`()\[` + datePart + `[T ]` + clockPart + zonePart + `\]` +
	`|()` + datePart + `[T ]` + clockPart + zonePart +
	`([ \t]+(?:-[ \t]+)?\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b)` +
	`|((?:time|ts)=)(?:"[^"]*"|\S+)` +
	`|(\{"(?:time|ts|timestamp)":)(?:"[^"]*"|[0-9.]+)` +
	`)`)

// The verbs with which an effect begins, up to their endings.
const effectVerb = `(?i:add|creat|delet|del|updat|disabl|enabl|reset|remov|writ|appl|replac|recycl|invit|accept|shar|tag|send|trigger|mov|renam|replicat|resiz|merg|rebas|grant|revok|patch|restart|scal|set|unset|rotat|publish|unpublish|instal|uninstal|upgrad)`

// effect matches a line in which a dry run says what it would do: a Python list that
// begins with an action, a sentence of a dry run that begins with a verb, and the forms of
// vault-manager, kubectl and terraform.
var effect = lazyregexp.New(`(?:^|[\s\]:="-])(?:` +
	`\[["']` + effectVerb + `[a-z]*(?:_[a-z_]+)?["'],` +
	`|\[(?i:dry[- ]?run)\] (?:\[[^\]]*\] )*(?:- )?` + effectVerb + `[a-z]*\b` +
	`|\[(?i:dry[- ]?run)\].* to be (?:enabled|disabled|written|deleted|created)\b` +
	`|(?i:would) ` + effectVerb + `` +
	`|Plan: \d+ to add, ` +
	`)|\((?:server )?dry run\)$|^\s*# \S+ (?:will|must) be `)
