//go:build unix

// Package main measures how much CPU the commands take, and prints one table: each path beside
// a peer that does the least that any program must do, and beside the budget. "make bench" runs
// it. It is no part of the product.
//
//   - Data are made up: a checkout with two commits, and the bundles of both.
//   - Numbers are user and system time of a process and all that it starts, the median of
//     several runs. Wall time would say more about the machine than about the programs.
//   - cmp, git, Node and Python stand beside the commands where they are installed.
package main
