// Package packed reads the numbers and texts of our own files that are kept between runs: numbers as varints, and
// texts behind their lengths. A file may be damaged: nothing that it says makes the reader fail or take memory.
package packed
