// Package proofs shows to a person what the replay of a plan has proven. [HTML] writes one
// page: both sides, what differs between them, and for each integration what it reads, what
// of that differs, and what follows. The package decides nothing.
package proofs
