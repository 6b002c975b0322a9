//go:build linux && amd64

package reads

import (
	"testing"

	"golang.org/x/sys/unix"
)

// decide runs the filter for a call with its first argument, as the kernel does, and counts the instructions.
func decide(t *testing.T, program []unix.SockFilter, arch, number, arg uint32) (answer uint32, steps int) {
	t.Helper()
	loaded := uint32(0)
	for at := 0; at < len(program); at++ {
		steps++
		jump := func(holds bool) {
			at += map[bool]int{true: int(program[at].Jt), false: int(program[at].Jf)}[holds]
		}
		switch i := program[at]; i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = map[uint32]uint32{archOffset: arch, numberOffset: number, arg0Offset: arg}[i.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(loaded == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(loaded >= i.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			jump(loaded&i.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return i.K, steps
		default:
			t.Fatalf("instruction %d: %+v", at, i)
		}
	}
	t.Fatal("the program does not end")
	return 0, 0
}

// Each call gets the answer of its description, whatever its number, in few steps.
func TestFilter(t *testing.T) {
	program := filter()
	described := map[uint32]bool{}
	for _, c := range tracedCalls() {
		described[uint32(c.number)] = true
	}
	for number := range uint32(2000) {
		for _, arg := range []uint32{0, unix.CLONE_FS, unix.CLONE_NEWNS, unix.CLONE_NEWUSER, unix.CLONE_NEWPID,
			unix.CLONE_UNTRACED, unix.CLONE_FILES | unix.CLONE_VM, ^uint32(0)} {
			want := allowed.K
			switch {
			case number == unix.SYS_IO_URING_SETUP:
				want = refused.K
			case number == unix.SYS_CLONE && arg&(escapes|unix.CLONE_FS) == 0, number == unix.SYS_UNSHARE && arg&escapes == 0:
			case described[number]:
				want = traced.K
			}
			if got, steps := decide(t, program, unix.AUDIT_ARCH_X86_64, number, arg); got != want || steps > 16 {
				t.Errorf("call %d with %#x: got %#x in %d steps, want %#x", number, arg, got, steps, want)
			}
			if got, _ := decide(t, program, unix.AUDIT_ARCH_I386, number, arg); got != foreign.K {
				t.Errorf("call %d of 32 bits: got %#x", number, got)
			}
			if got, _ := decide(t, program, unix.AUDIT_ARCH_X86_64, firstX32+number, arg); got != foreign.K {
				t.Errorf("call %d of x32: got %#x", number, got)
			}
		}
	}
	for _, i := range program {
		if int(i.Jt) >= 250 {
			t.Errorf("a jump of %d is nearly too long", i.Jt)
		}
	}
}

// BenchmarkInstall measures how long a command takes that is recorded and ends at once.
func BenchmarkInstall(b *testing.B) {
	for b.Loop() {
		if err := Supported(); err != nil {
			b.Fatal(err)
		}
	}
}
