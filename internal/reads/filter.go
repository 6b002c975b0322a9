//go:build linux && amd64

package reads

import "golang.org/x/sys/unix"

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

// filter returns the program that decides at which calls a task stops. The kernel remembers
// the calls that never stop, so that they cost nothing.
func filter() []unix.SockFilter {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		anyOf   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer  = unix.BPF_RET | unix.BPF_K
	)
	native := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_TRACE | nativeCall}
	foreign := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_TRACE | foreignCall}
	allow := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW}
	program := []unix.SockFilter{
		{Code: load, K: archOffset},
		{Code: equal, K: unix.AUDIT_ARCH_X86_64, Jt: 1},
		foreign,
		{Code: load, K: numberOffset},
		{Code: atLeast, K: firstX32, Jf: 1},
		foreign,
		{Code: equal, K: unix.SYS_IO_URING_SETUP, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	byFlags := []struct{ number, flags uint32 }{
		{unix.SYS_CLONE, escapes | unix.CLONE_FS}, {unix.SYS_UNSHARE, escapes},
	}
	for _, c := range byFlags { // these stop only if their first argument has one of the flags
		program = append(program,
			unix.SockFilter{Code: equal, K: c.number, Jf: 4},
			unix.SockFilter{Code: load, K: arg0Offset},
			unix.SockFilter{Code: anyOf, K: c.flags, Jf: 1},
			native, allow)
	}
	var numbers []uint32
	for _, c := range tracedCalls() {
		if c.number != unix.SYS_CLONE && c.number != unix.SYS_UNSHARE {
			numbers = append(numbers, uint32(c.number))
		}
	}
	for i, number := range numbers { // jumps to the last answer
		program = append(program, unix.SockFilter{Code: equal, K: number, Jt: uint8(len(numbers) - i)})
	}
	return append(program, allow, native)
}
