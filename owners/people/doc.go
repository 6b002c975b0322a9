// Package people finds the fewest people who can approve all open places.
//
//	p := people.Find(people.Question{Needs: map[string][]string{"/f.yml a": {"ann", "bob"}}})
//	fmt.Println(p.Sets) // [[ann] [bob]]
//
// Up to 20 people the sets are the smallest ones there are. Beyond that one set is found by leaving out what cannot
// matter, and, where that does not decide, by choosing who reaches the most; the answer says how many people are needed
// at least.
package people
