package promotion

import "github.com/app-sre/prcheck/natives/saas/ledger"

// A RecordPlace is where the records of a publisher in one channel are.
type RecordPlace struct{ Channel, UID string }

// A Log is what is known of the records of one place, by commit.
type Log struct {
	Records map[string]Record
	Wrong   map[string]error // records that cannot be used
	// Runs are what the publisher ran, oldest first, as far as it is noted; see timeline.
	Runs []Run
	// Book is the ledger of the publisher, nil if nobody read one, and BookErr why it cannot be used.
	Book    *ledger.Book
	BookErr error
	// Err says why nothing is known of records that are not in Records or Wrong, nil if there
	// are none.
	Err error
}

// Logs are logs by place.
type Logs map[RecordPlace]Log

// record returns the record of a commit, nil if there is none, or why it is not known.
func (l Logs) record(at RecordPlace, commit string) (*Record, error) {
	log := l[at]
	if err := log.Wrong[commit]; err != nil {
		return nil, err
	}
	if r, ok := log.Records[commit]; ok {
		return &r, nil
	}
	return nil, log.Err
}
