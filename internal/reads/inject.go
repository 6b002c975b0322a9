//go:build linux && amd64

package reads

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// redZone is the number of bytes below the stack pointer that belong to the program.
const redZone = 128

// code64 is the code segment of a 64-bit program.
const code64 = 0x33

// install makes a process that has stopped before its first instruction install the filter.
// It leaves the process as it was.
func install(pid int, program []unix.SockFilter) error {
	var saved unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &saved); err != nil {
		return fmt.Errorf("reading registers: %w", err)
	}
	if saved.Cs != code64 {
		return errors.New("the program is not a 64-bit program")
	}
	text := encode(program)
	at := (saved.Rsp - redZone - uint64(len(text))) &^ 15
	binary.LittleEndian.PutUint64(text[8:], at+headSize)
	restore, err := swapMemory(pid, uintptr(at), text)
	if err != nil {
		return err
	}
	defer restore()
	restoreCode, err := swapMemory(pid, uintptr(saved.Rip), []byte{0x0f, 0x05, 0xcc}) // syscall; int3
	if err != nil {
		return err
	}
	defer restoreCode()
	err = setFilter(pid, saved, at)
	// Without the right to do so, only a process that cannot gain rights may have a filter.
	if errors.Is(err, unix.EACCES) {
		if err = inject(pid, saved, unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); err == nil {
			err = setFilter(pid, saved, at)
		}
	}
	if err != nil {
		return fmt.Errorf("installing a filter: %w", err)
	}
	if err = probe(pid, saved); err != nil {
		return err
	}
	saved.Orig_rax = ^uint64(0) // nothing is to be repeated
	return unix.PtraceSetRegs(pid, &saved)
}

// setFilter makes the process install the filter at this address.
func setFilter(pid int, saved unix.PtraceRegs, at uint64) error {
	set := func(flags uint64) error {
		return inject(pid, saved, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, at)
	}
	err := set(unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW) // the filter is no protection, and shall not slow the program down
	if errors.Is(err, unix.EINVAL) {
		err = set(0)
	}
	return err
}

// headSize is the size of struct sock_fprog.
const headSize = 16

// encode returns a struct sock_fprog, without its address, and the program behind it.
func encode(program []unix.SockFilter) []byte {
	text := make([]byte, headSize, headSize+8*len(program))
	binary.LittleEndian.PutUint16(text, uint16(len(program)))
	for _, f := range program {
		text = binary.LittleEndian.AppendUint16(text, f.Code)
		text = append(text, f.Jt, f.Jf)
		text = binary.LittleEndian.AppendUint32(text, f.K)
	}
	return text
}

// swapMemory writes text into a stopped process. The returned function undoes this.
func swapMemory(pid int, at uintptr, text []byte) (restore func(), err error) {
	old := make([]byte, len(text))
	if n, err := readMemory(pid, uint64(at), old); err != nil || n != len(old) {
		return nil, fmt.Errorf("reading memory: %w", cmp.Or(err, error(unix.EFAULT)))
	}
	if err := writeMemory(pid, at, text); err != nil {
		return nil, fmt.Errorf("writing memory: %w", err)
	}
	return func() { _ = writeMemory(pid, at, old) }, nil
}

// writeMemory writes memory of a stopped process. Only a tracer can write to code, word by word.
func writeMemory(pid int, at uintptr, text []byte) error {
	local := unix.Iovec{Base: &text[0], Len: uint64(len(text))}
	remote := unix.RemoteIovec{Base: at, Len: len(text)}
	n, _, errno := unix.Syscall6(unix.SYS_PROCESS_VM_WRITEV, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno == 0 && int(n) == len(text) {
		return nil
	}
	_, err := unix.PtracePokeData(pid, at, text)
	return err
}

// inject makes the process do one call with three arguments, and returns the error of the
// call. The next instruction of the process must be a call, followed by a trap.
func inject(pid int, saved unix.PtraceRegs, number uint64, a, b, c uint64) error {
	if err := begin(pid, saved, number, a, b, c); err != nil {
		return err
	}
	return finish(pid)
}

// begin makes the process begin a call.
func begin(pid int, regs unix.PtraceRegs, number uint64, a, b, c uint64) error {
	regs.Orig_rax, regs.Rax = ^uint64(0), number
	regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8 = a, b, c, 0, 0
	if err := unix.PtraceSetRegs(pid, &regs); err != nil {
		return fmt.Errorf("writing registers: %w", err)
	}
	return runToTrap(pid)
}

// finish returns the error of a call that the process has done.
func finish(pid int) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return fmt.Errorf("reading registers: %w", err)
	}
	if result := int64(regs.Rax); result < 0 {
		return unix.Errno(-result)
	}
	return nil
}

// probe makes the process do a call at which it must stop, and checks that it does.
func probe(pid int, saved unix.PtraceRegs) error {
	if err := begin(pid, saved, unix.SYS_ACCESS, 0, 0, 0); err != nil {
		return err
	}
	var at stop
	if err := at.load(pid); err != nil {
		return fmt.Errorf("asking for the call of a stop: %w", err)
	}
	if at.op != unix.PTRACE_SYSCALL_INFO_SECCOMP || at.number != unix.SYS_ACCESS || at.mark != nativeCall {
		return errors.New("a process does not stop at a call")
	}
	return runToTrap(pid)
}

// runToTrap lets the process run until it stops by a trap or an event of the tracer.
func runToTrap(pid int) error {
	if err := unix.PtraceCont(pid, 0); err != nil {
		return fmt.Errorf("continuing: %w", err)
	}
	status, err := waitFor(pid)
	if err != nil {
		return fmt.Errorf("waiting for a stop: %w", err)
	}
	if !status.Stopped() || status.StopSignal() != unix.SIGTRAP {
		return errors.New("a signal came before the program began")
	}
	return nil
}

// waitFor waits for the next stop or the end of a process.
func waitFor(pid int) (status unix.WaitStatus, err error) {
	for {
		if _, err = unix.Wait4(pid, &status, unix.WALL, nil); !errors.Is(err, unix.EINTR) {
			return status, err
		}
	}
}

// A stop is a struct ptrace_syscall_info: at which call a process stopped.
type stop struct {
	op     uint8
	_      [3]byte
	arch   uint32
	ip     uint64
	sp     uint64
	number uint64 // at an exit, the result
	args   [6]uint64
	mark   uint32 // the data of SECCOMP_RET_TRACE
	_      uint32
}

// load asks at which call a process stopped.
func (s *stop) load(pid int) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(pid), unsafe.Sizeof(*s),
		uintptr(unsafe.Pointer(s)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
