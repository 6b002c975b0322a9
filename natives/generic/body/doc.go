// Package body works with the values of resources: JSON, decoded into map[string]any, []any,
// [encoding/json.Number], string, bool and nil.
//
// Numbers are exact. They are compared as decimal numbers, not as floating point numbers:
// 1 and 1.0 are equal, 9007199254740993 and 9007199254740992 are not, and an exponent of any
// length costs nothing.
//
// In a live resource null, an empty list, an empty object and a member that is missing mean
// the same. "", 0 and false are values.
//
// A format says that two texts may be spelled otherwise and mean the same: see [Format].
// Functions return new values; a value that is handed in is never changed, and the result may
// share parts with it.
package body
