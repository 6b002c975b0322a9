//go:build unix

// Package main holds the law of worlds over random repositories: what prcheck says of a change
// is held against the truth. The truth is each program, run by hand in a checkout that git made
// of each side, with a server over the data of that side. "make laws" runs it. It is no part of
// the product, and knows the commands from outside alone.
//
// # A pair
//
// A pair is a small repository with two to four integrations, and two rounds of edits. The
// programs are made of blocks: a block reads something in one way (it opens a file, lists a
// folder, asks git or the server) and complains when it sees a word with BAD. Edits change
// such words, and add, remove, rename and link files. Everything follows from the seed and the
// number of the pair.
//
// Every second pair has an aim: each of its programs also reads in one way that random edits
// rarely meet, such as a name that it looks for in vain. Its first round breaks nothing, so that
// runs pass and are recorded, and its second round changes what was read in this way alone.
//
// # What is checked
//
//   - False green: exit code 0, although an integration passes on base and fails on head, or
//     fails on both with other words.
//   - Wrong skip: such an integration has no task in the plan, also where another one makes the
//     check red.
//   - Needless: a task of the second round, although its input is the same as when it passed in
//     the first one. What a program reads is known from its blocks, and docs/input.md says what
//     else counts. The table names the reasons of the plan.
//   - Over-strict: red, although all faults are the same on base. False red: red without a fault.
//     Both are counted, and are no violations.
//
// # Upsets
//
// With --upsets the first check of each pair is disturbed: files change while it runs, or between
// the plan and the run; its processes are killed; or a file of the kept worlds or of the state is
// spoilt afterwards. The second check uses the state and the cache that the first one left. Both must
// keep the law: no pass counts for other bytes than those that passed, and no half-made or damaged
// folder is used.
//
// # What counts for needless
//
// Some tasks have to run by the documents, whatever their programs do with what differs. They are
// no needless ones:
//
//   - Head edits the queries of the integration: no earlier run counts (docs/reuse.md).
//   - A pattern of `programs` matches a file that is another one (docs/settings.md). The law's
//     patterns match more than a program reads: all files of folders, all targets of links.
//   - A file of which the program asks no more than whether it is there, how large it is or
//     whether it can run has other bytes (docs/input.md: files that it asks for).
//   - There is another name in the folder of a script for Python, which lists it to find modules.
//
// # What the law does not demand
//
// Files that git ignores are built of files that git knows, in every checkout. A program asks
// git only when its settings let it use all files. Declared queries and programs are true: they
// name all that the program reads. Commands of definitions do not change, since base decides
// about them.
//
// # Where to find what
//
//   - pair.go, pool.go: what a pair is, and how it is drawn; edits.go, aims.go: the edits.
//   - blocks.go, shell.go, python.go: the blocks, what they read, and their text.
//   - layout.go: the files of a repository; tree.go: files in memory and on disk.
//   - places.go, truth.go, verdict.go: git, the truth, and what prcheck says.
//   - check.go: holds one against the other; shrink.go: the smallest pair.
//   - upsets.go: what disturbs checks; mutants.go: broken engines, which the law must catch.
package main
