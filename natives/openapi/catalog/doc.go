// Package catalog shows people and programs what API specifications say: which resource types
// there are, what can be done with one of them, and what can be done with one property and
// who says so. It makes pages of the packages below, and writes them as text and as JSON.
//
// The JSON is a contract: it has a version, and changes only add to it. All text of a
// specification is foreign, and is made safe to show.
package catalog
