package deploy

import "sync"

// A memo keeps answers, so that each question is asked once. The zero value is empty.
type memo[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]*answer[V]
}

// An answer is an answer, or the error of the question.
type answer[V any] struct {
	once  sync.Once
	value V
	err   error
}

// ask returns the answer to a question. Several goroutines that ask the same wait for one of them.
func (m *memo[K, V]) ask(question K, how func() (V, error)) (V, error) {
	m.mu.Lock()
	if m.answers == nil {
		m.answers = map[K]*answer[V]{}
	}
	a := m.answers[question]
	if a == nil {
		a = &answer[V]{}
		m.answers[question] = a
	}
	m.mu.Unlock()
	a.once.Do(func() { a.value, a.err = how() })
	return a.value, a.err
}
