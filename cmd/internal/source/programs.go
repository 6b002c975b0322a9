package source

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxProgram bounds how much of a file is read that a command names, in bytes.
const maxProgram = 256 << 20

// programs digests the files that the words of a command name, as seen from the
// folder in which tasks run: scripts of the repository, and what else stands there
// by name. Words that name no file, such as a command that is looked for elsewhere,
// are no part of it. Each file is read once.
func programs(folder string) func(argv []string) string {
	known := map[string]string{}
	return func(argv []string) string {
		all := ""
		for _, word := range argv {
			digest, read := known[word]
			if !read {
				digest = digestFile(folder, word)
				known[word] = digest
			}
			all += digest
		}
		return all
	}
}

// digestFile digests a word and the file that it names, "" when it names none. Of a
// file that cannot be read, or is too large, the age stands for what is in it.
func digestFile(folder, word string) string {
	name := filepath.FromSlash(word)
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // no device, no pipe
		return ""
	}
	sum := sha256.New()
	if f, err := os.Open(name); err == nil {
		defer f.Close()
		if n, err := io.Copy(sum, io.LimitReader(f, maxProgram)); err == nil && n < maxProgram {
			return fmt.Sprintf("%q %x\n", word, sum.Sum(nil))
		}
	}
	return fmt.Sprintf("%q %d bytes of %d\n", word, info.Size(), info.ModTime().UnixNano())
}
