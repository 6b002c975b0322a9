//go:build linux && amd64

package reads

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// The data of SECCOMP_RET_TRACE, which the tracer gets at a stop.
const (
	nativeCall  = 1 // a call of tracedCalls
	foreignCall = 2 // a call by the rules of another processor: 32-bit or x32
)

// The offsets of the fields of struct seccomp_data.
const (
	numberOffset = 0
	archOffset   = 4
	arg0Offset   = 16
)

// firstX32 is the number from which on calls are those of x32.
const firstX32 = 0x40000000

// The answers of the filter.
var (
	allowed = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	traced  = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE | nativeCall}
	foreign = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE | foreignCall}
	refused = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
)

// filter returns the program that decides at which calls a task stops. The kernel remembers
// the calls that never stop, so that they cost nothing. To do so it tries the program with
// every number of a call when the program is installed; so the program searches by halves.
func filter() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	)
	return append([]unix.SockFilter{
		{Code: load, K: archOffset},
		{Code: equal, K: unix.AUDIT_ARCH_X86_64, Jt: 1},
		foreign,
		{Code: load, K: numberOffset},
	}, search(ranges())...)
}

// A numberRange is a row of numbers of calls, up to the next range, with the instructions that
// answer them.
type numberRange struct {
	from   uint32
	answer []unix.SockFilter
}

// ranges returns all ranges, sorted.
func ranges() []numberRange {
	answers := map[uint32][]unix.SockFilter{
		unix.SYS_IO_URING_SETUP: {refused},
	}
	for _, c := range tracedCalls() {
		answers[uint32(c.number)] = []unix.SockFilter{traced}
	}
	answers[unix.SYS_CLONE] = ifFlags(escapes | unix.CLONE_FS)
	answers[unix.SYS_UNSHARE] = ifFlags(escapes)
	var out []numberRange
	for _, number := range slices.Sorted(maps.Keys(answers)) {
		out = append(out, numberRange{number, answers[number]}, numberRange{number + 1, []unix.SockFilter{allowed}})
	}
	out = append(out, numberRange{firstX32, []unix.SockFilter{foreign}})
	merged := []numberRange{{0, []unix.SockFilter{allowed}}}
	for i, r := range out {
		isEmpty := i+1 < len(out) && out[i+1].from == r.from
		if !isEmpty && !slices.Equal(r.answer, merged[len(merged)-1].answer) {
			merged = append(merged, r)
		}
	}
	return merged
}

// ifFlags returns the instructions for a call that stops only if its first argument has one of
// these flags.
func ifFlags(flags uint32) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: arg0Offset},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: flags, Jf: 1},
		traced, allowed,
	}
}

// search returns the instructions that find the range of the number that is loaded.
func search(in []numberRange) []unix.SockFilter {
	if len(in) == 1 {
		return in[0].answer
	}
	half := len(in) / 2
	lower, upper := search(in[:half]), search(in[half:])
	program := []unix.SockFilter{{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: in[half].from, Jt: uint8(len(lower))}}
	return slices.Concat(program, lower, upper)
}
