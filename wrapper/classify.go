package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// transientPatterns match error lines that programs write for failures that may go
// away by themselves. A number such as 503 matches only together with its usual
// words, because the number alone may be data. Errors that a mistake in the data can
// cause as well, such as an unknown host or an unexpected end of input, match none.
var transientPatterns = []*lazyregexp.Regexp{
	// connections
	lazyregexp.New(`(?i)\bconnection (?:was |has been )?(?:reset|refused|aborted|timed out|broken|closed by (?:remote|peer|foreign) ?(?:host|server)?)\b`),
	lazyregexp.New(`\b(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b`),
	lazyregexp.New(
		`(?i)\bremote end closed connection\b|\bserver disconnected\b|\b(?:RemoteDisconnected|ServerDisconnectedError)\b`),
	lazyregexp.New(`(?i)\btemporary failure in name resolution\b|\bno route to host\b|\bnetwork is unreachable\b`),
	// timeouts
	lazyregexp.New(
		`(?i)\b(?:i/o|TLS handshake|connect|connection|read|request|gateway|operation|socket|server)[ -]time-?out\b`),
	lazyregexp.New(`(?i)\b(?:connect|connection|read|request|operation|handshake|call) timed out\b`),
	lazyregexp.New(`\b(?:Read|Connect|Connection|Socket|Pool|Request|Server)?Timeout(?:Error|Exception)\b|\b(?:Read|Connect|Connection)Timeout\b`),
	lazyregexp.New(`\bcontext deadline exceeded\b`),
	// answers of HTTP services
	lazyregexp.New(`(?i)\b(?:HTTP(?:/[0-9.]+)?|status(?: ?code)?)["']?[ :=]+["']?(?:429|50[0-4]|52[0-4]|529)\b`),
	lazyregexp.New(`(?i)\b(?:429|50[0-4])\b["':]?[ -]*(?:client error|server error|internal server error|too many requests|bad gateway|service (?:temporarily )?unavailable|gateway time-?out)\b`),
	lazyregexp.New(
		`(?i)\btoo many requests\b|\brate limit (?:was |has been )?exceeded\b|\bratelimited\b|\bRate exceeded\b`),
	lazyregexp.New(`\b(?:ThrottlingException|TooManyRequestsException|RequestLimitExceeded|RequestThrottled|SlowDown)\b`),
}

// Patterns of lines that report an error.
var (
	// errorLogLine matches a log line whose level is error or worse.
	errorLogLine = lazyregexp.New(`(?:^|[\s\[|])(?:ERROR|CRITICAL|FATAL|ERRO|FATA)(?:[\]:|\s]|$)|(?i:\blevel["']?[=:] ?["']?(?:error|critical|fatal|panic)\b)`)
	// plainErrorLine matches the error message of a program that writes no log levels.
	plainErrorLine = lazyregexp.New(`(?i)^\s*(?:[\w./-]+: )?(?:fatal |runtime )?(?:error|fatal|panic)\b ?[:\[(]`)
	// exceptionLine matches the last line of a traceback.
	exceptionLine = lazyregexp.New(
		`^[A-Za-z_][\w.]*(?:Error|Exception|Timeout|Exceeded|Refused|Disconnected|Exit|Interrupt|Failure)(?::|$)`)
	// chainedExceptionLine matches the line between two tracebacks, where the second
	// exception was raised while the first was handled.
	chainedExceptionLine = lazyregexp.New(`^(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):$`)
)

// errorLines returns the lines of an output's tail that report an error, or the
// tail's last line if no line does. Of chained exceptions only the last one counts.
func errorLines(tail string) []string {
	var errs []string
	fromTraceback, last := false, ""
	for line := range strings.Lines(tail) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
			continue
		case chainedExceptionLine.MatchString(line):
			if fromTraceback {
				errs = errs[:len(errs)-1]
			}
			fromTraceback = false
		case exceptionLine.MatchString(line):
			errs, fromTraceback = append(errs, line), true
		case errorLogLine.MatchString(line) || plainErrorLine.MatchString(line):
			errs, fromTraceback = append(errs, line), false
		}
		last = line
	}
	if len(errs) == 0 {
		errs = []string{last}
	}
	return errs
}

// classify returns the class of a result and whether another attempt is worthwhile.
// It looks at the error lines of a task that failed by itself. If all of them are
// transient, the failure is transient. If at least one is transient, the task gets
// another attempt, since base may have the other errors as well. Every other class
// stays: bad data, bad settings, and a Runner that was left behind.
func (e *executor) classify(task plan.Task, r plan.Result) (class plan.Class, retry bool) {
	if r.Status != plan.Failed || r.Class != plan.ClassTask {
		return r.Class, r.Class == plan.ClassTransient
	}
	var own []*regexp.Regexp
	if e.opts.Transient != nil {
		own = e.opts.Transient(task)
	}
	output := r.Tail
	if r.ExitCode < 0 {
		output += "\n" + r.Reason // the command did not start, or a signal killed it
	}
	anyTransient, allTransient := false, true // errorLines returns at least one line
	for _, line := range errorLines(output) {
		transient := slices.ContainsFunc(transientPatterns, func(p *lazyregexp.Regexp) bool { return p.MatchString(line) }) ||
			slices.ContainsFunc(own, func(p *regexp.Regexp) bool { return p.MatchString(line) })
		anyTransient, allTransient = anyTransient || transient, allTransient && transient
	}
	if allTransient {
		return plan.ClassTransient, true
	}
	return r.Class, anyTransient
}
