package crash

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// Text returns a sentence about the value p of a panic, with the place in the code. Call it in
// the deferred function that recovered. Errors of the runtime, such as an index that is out of
// range, are told. Other values are not, since they may hold a secret of what was worked on.
func Text(p any) string {
	text := "panic at " + Place()
	err, _ := p.(error)
	if told := runtime.Error(nil); errors.As(err, &told) {
		text += ": " + told.Error()
	}
	return text
}

// Place returns where the code panicked: the innermost function and its line. Call it in the
// deferred function that recovered.
func Place() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	isPanic := false // a function of the runtime panicked
	for {
		f, more := frames.Next()
		isRuntime := strings.HasPrefix(f.Function, "runtime.")
		if isPanic && !isRuntime || !more {
			return fmt.Sprintf("%s, line %d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		}
		isPanic = isPanic || isRuntime
	}
}
