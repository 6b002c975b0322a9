//go:build linux && amd64

package reads

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"strings"
)

// maxHeaders is how many program headers of a program are looked at.
const maxHeaders = 64

// loader returns the loader of libraries that a 64-bit program names, "" if it names none.
// It reads only what the kernel reads.
func loader(program io.ReaderAt) string {
	var head elf.Header64
	if err := binary.Read(io.NewSectionReader(program, 0, 64), binary.LittleEndian, &head); err != nil {
		return ""
	}
	if string(head.Ident[:4]) != elf.ELFMAG || elf.Class(head.Ident[elf.EI_CLASS]) != elf.ELFCLASS64 {
		return ""
	}
	for i := range min(int64(head.Phnum), maxHeaders) {
		var part elf.Prog64
		at := io.NewSectionReader(program, int64(head.Phoff)+i*int64(head.Phentsize), 56)
		if err := binary.Read(at, binary.LittleEndian, &part); err != nil {
			return ""
		}
		if elf.ProgType(part.Type) != elf.PT_INTERP {
			continue
		}
		name := make([]byte, min(part.Filesz, 4096))
		if _, err := program.ReadAt(name, int64(part.Off)); err != nil {
			return ""
		}
		return strings.TrimRight(string(name), "\x00")
	}
	return ""
}
