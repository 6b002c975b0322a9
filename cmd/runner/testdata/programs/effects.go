package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// effects does something with the file {effects}, by a word:
//
//	write TEXT   writes a text into it
//	replace TEXT puts another file with a text in its place
//	flood        writes twenty megabytes of effects
//	many         writes ten thousand different effects
//	remove, link, pipe, folder   leaves something else in its place
func effects(file, word string, text ...string) {
	switch word {
	case "write":
		must(os.WriteFile(file, []byte(strings.Join(text, "\n")), 0o600))
	case "replace":
		must(os.WriteFile(file+".new", []byte(strings.Join(text, "\n")), 0o600))
		must(os.Rename(file+".new", file))
	case "flood":
		must(os.WriteFile(file, []byte(strings.Repeat(`{"kind":"delete","subject":"everything"}`+"\n", 1<<19)), 0o600))
	case "many":
		var b strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&b, `{"kind":"change","subject":"lamp %d"}`+"\n", i)
		}
		must(os.WriteFile(file, []byte(b.String()), 0o600))
	case "remove":
		must(os.Remove(file))
	case "link":
		secret := filepath.Join(filepath.Dir(file), "elsewhere")
		must(os.WriteFile(secret, []byte(`{"kind":"delete","subject":"by a link"}`), 0o600))
		must(os.Remove(file))
		must(os.Symlink(secret, file))
	case "pipe":
		must(os.Remove(file))
		must(syscall.Mkfifo(file, 0o600))
	case "folder":
		must(os.Remove(file))
		must(os.Mkdir(file, 0o700))
	}
}

// printFile prints a file.
func printFile(name string) {
	raw, err := os.ReadFile(strings.TrimPrefix(name, "@")) // the word itself names no file
	must(err)
	fmt.Print(string(raw))
}
