package live

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

// A Browser is a program that was started to show the page. It ends at once if it handed the page to a browser
// that runs.
type Browser struct{ ended chan struct{} }

// Open starts the browser of the user with an address that is good once. The variable BROWSER names another program.
// Say tells a person that the program did not open the page.
func (s *Session) Open(getenv func(string) string, say func(string)) (*Browser, error) {
	program := getenv("BROWSER")
	if program == "" {
		program = map[string]string{"darwin": "open", "windows": "explorer"}[runtime.GOOS]
	}
	if program == "" {
		program = "xdg-open"
	}
	cmd := exec.Command(program, s.base()+s.keys.ticket+"/") //nolint:gosec // the user's own browser
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("no browser can be opened: %w", err)
	}
	b := &Browser{ended: make(chan struct{})}
	s.mu.Lock()
	s.isOpened = true
	s.mu.Unlock()
	s.watch.Go(func() {
		err := cmd.Wait()
		if err != nil {
			s.mu.Lock()
			s.isOpened = false // nobody comes
			s.mu.Unlock()
			say(fmt.Sprintf("no browser opened the page: %s: %v; open the address above yourself", program, err))
		}
		close(b.ended)
	})
	return b, nil
}

// Wait waits until the program has ended or the context ends. If it runs still, a person is told first.
func (b *Browser) Wait(ctx context.Context, tell func()) {
	select {
	case <-b.ended:
		return
	default:
	}
	tell()
	select {
	case <-b.ended:
	case <-ctx.Done():
	}
}
