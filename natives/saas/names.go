package saas

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// maxPipeline is how long the name of a pipeline may be.
const maxPipeline = 56

// Pipeline returns the name of the pipeline that deploys a saas file.
func (f *File) Pipeline() string { return "o-" + f.Provider.Template + "-" + f.Name }

// labelPattern matches names of objects that are labels, see RFC 1123.
var labelPattern = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// wrongName returns why a name cannot be that of an object, "" if it can.
func wrongName(name string) string {
	switch {
	case labelPattern.MatchString(name):
		return ""
	case strings.ToLower(name) != name:
		return "it has upper-case letters"
	}
	return "it may have lower-case letters, digits, dots and hyphens alone"
}

// minTimeout is the shortest time that a pipeline accepts.
const minTimeout = time.Hour

// timeoutPattern matches the form of a time: days, hours, minutes and seconds, each of which may
// be missing.
var timeoutPattern = lazyregexp.New(`^(?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?$`)

// ParseTimeout reads a time such as 1h30m or 2d.
func ParseTimeout(text string) (time.Duration, error) {
	parts := timeoutPattern.FindStringSubmatch(text)
	if parts == nil || text == "" {
		return 0, fmt.Errorf("%.40q is no time, such as 1h30m", text)
	}
	var out time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(parts[i+1])
		if err != nil {
			return 0, err
		}
		out += time.Duration(n) * unit
	}
	return out, nil
}
