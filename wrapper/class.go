package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// passing are the errors that pass by themselves, as programs write them. They
// need the words around a number, because a number alone may be the data. What
// may as well be a mistake in the data, such as a host that does not exist or
// input that ends too early, is not among them.
var passing = []*regexp.Regexp{
	// connections
	regexp.MustCompile(`(?i)\bconnection (?:was |has been )?(?:reset|refused|aborted|timed out|broken|closed by (?:remote|peer|foreign) ?(?:host|server)?)\b`),
	regexp.MustCompile(`\b(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b`),
	regexp.MustCompile(`(?i)\bremote end closed connection\b|\bserver disconnected\b|\b(?:RemoteDisconnected|ServerDisconnectedError)\b`),
	regexp.MustCompile(`(?i)\btemporary failure in name resolution\b|\bno route to host\b|\bnetwork is unreachable\b`),
	// timeouts
	regexp.MustCompile(`(?i)\b(?:i/o|TLS handshake|connect|connection|read|request|gateway|operation|socket|server)[ -]time-?out\b`),
	regexp.MustCompile(`(?i)\b(?:connect|connection|read|request|operation|handshake|call) timed out\b`),
	regexp.MustCompile(`\b(?:Read|Connect|Connection|Socket|Pool|Request|Server)?Timeout(?:Error|Exception)\b|\b(?:Read|Connect|Connection)Timeout\b`),
	regexp.MustCompile(`\bcontext deadline exceeded\b`),
	// what HTTP services say
	regexp.MustCompile(`(?i)\b(?:HTTP(?:/[0-9.]+)?|status(?: ?code)?)["']?[ :=]+["']?(?:429|50[0-4]|52[0-4]|529)\b`),
	regexp.MustCompile(`(?i)\b(?:429|50[0-4])\b["':]?[ -]*(?:client error|server error|internal server error|too many requests|bad gateway|service (?:temporarily )?unavailable|gateway time-?out)\b`),
	regexp.MustCompile(`(?i)\btoo many requests\b|\brate limit (?:was |has been )?exceeded\b|\bratelimited\b|\bRate exceeded\b`),
	regexp.MustCompile(`\b(?:ThrottlingException|TooManyRequestsException|RequestLimitExceeded|RequestThrottled|SlowDown)\b`),
}

// Lines that tell of an error.
var (
	// leveled is a line of a log with the level of an error.
	leveled = regexp.MustCompile(`(?:^|[\s\[|])(?:ERROR|CRITICAL|FATAL|ERRO|FATA)(?:[\]:|\s]|$)|(?i:\blevel["']?[=:] ?["']?(?:error|critical|fatal|panic)\b)`)
	// plain is what a program says that keeps no log.
	plain = regexp.MustCompile(`(?i)^\s*(?:[\w./-]+: )?(?:fatal |runtime )?(?:error|fatal|panic)\b ?[:\[(]`)
	// raised is the end of a traceback.
	raised = regexp.MustCompile(`^[A-Za-z_][\w.]*(?:Error|Exception|Timeout|Exceeded|Refused|Disconnected|Exit|Interrupt|Failure)(?::|$)`)
	// chained says that the exception above was not the last word.
	chained = regexp.MustCompile(`^(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):$`)
)

// told returns the lines at the end of an output that tell of an error: the last
// line when none does. An exception during which another one was raised is not
// among them.
func told(tail string) []string {
	var errs []string
	fromTraceback, last := false, ""
	for line := range strings.Lines(tail) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
			continue
		case chained.MatchString(line):
			if fromTraceback {
				errs = errs[:len(errs)-1]
			}
			fromTraceback = false
		case raised.MatchString(line):
			errs, fromTraceback = append(errs, line), true
		case leveled.MatchString(line) || plain.MatchString(line):
			errs, fromTraceback = append(errs, line), false
		}
		last = line
	}
	if len(errs) == 0 {
		errs = []string{last}
	}
	return errs
}

// classify looks into what a task said that failed by itself. The failure is
// transient when every error is one that passes; it is worth another attempt when
// any is, since the others may be those of base. What the data or the settings are
// to blame for stays that, and so does what a Runner that was left behind did.
func (s *single) classify(task plan.Task, r plan.Result) (class plan.Class, again bool) {
	if r.Status != plan.Failed || r.Class != plan.ClassTask {
		return r.Class, r.Class == plan.ClassTransient
	}
	var more []*regexp.Regexp
	if s.opts.Transient != nil {
		more = s.opts.Transient(task)
	}
	said := r.Tail
	if r.ExitCode < 0 {
		said += "\n" + r.Reason // there was no command, or a signal killed it
	}
	lasts := false
	for _, line := range told(said) {
		matches := func(p *regexp.Regexp) bool { return p.MatchString(line) }
		passes := slices.ContainsFunc(passing, matches) || slices.ContainsFunc(more, matches)
		again, lasts = again || passes, lasts || !passes
	}
	if again && !lasts {
		return plan.ClassTransient, true
	}
	return r.Class, again
}
