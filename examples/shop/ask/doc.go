// Package ask is shared by the integrations of the shop. It asks one GraphQL server
// for the current state and another one for the wanted state, and prints what would
// change.
package ask
