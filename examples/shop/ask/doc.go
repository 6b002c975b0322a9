// Package ask is what the integrations of the shop have in common: it asks a
// qontract-server for what is there now and for what is wanted, and prints
// what would change.
package ask
