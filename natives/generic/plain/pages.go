package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
)

// The names under which answers have what leads to the next page, and the parameters that take it.
var (
	nextAddresses = []string{"/links/pages/next", "/links/next", "/links/next/href", "/_links/next/href", "/next",
		"/next_page_uri", "/next_url", "/next_page_url", "/nextLink", "/paging/next", "/pagination/next", "/meta/next"}
	nextNumbers = []string{"/meta/pagination/next_page", "/pagination/next_page", "/meta/next_page", "/next_page"}
	nextCursors = []string{"/next_cursor", "/meta/next_cursor", "/pagination/next_cursor",
		"/response_metadata/next_cursor",
		"/paging/cursors/after", "/nextPageToken", "/next_page_token", "/next_token", "/cursor", "/meta/cursor",
		"/meta/page/after"}
	cursorParameters = []string{"cursor", "page_token", "pageToken", "next_token", "after", "starting_after", "page"}
	moreAt           = []string{"/has_more", "/hasMore", "/more", "/meta/has_more", "/pagination/has_more"}
	totals           = []string{"/meta/pagination/total_entries", "/meta/total", "/total", "/total_count",
		"/pagination/total", "/count"}
)

// A Lister reads a collection page by page.
type Lister struct {
	*Habits
	Items []any

	pages int
}

// errPage says that a collection may have more items than were read. It is never taken for "not there".
var errPage = errors.New("its list has a next page, and nothing says how it is read: name next and parameter in the " +
	"description of the type")

// Add takes the items of an answer. It returns the query or the address of the next page, nil if this was the last one.
func (l *Lister) Add(answer any, header http.Header) (*url.URL, error) {
	items, err := l.itemsOf(answer)
	if err != nil {
		return nil, err
	}
	if l.pages++; l.pages > 1 && len(items) > 0 && len(l.Items) >= len(items) &&
		body.Digest(items) == body.Digest(l.Items[len(l.Items)-len(items):]) {
		return nil, errors.New("the next page of its list has the same items as the one before")
	}
	l.Items = append(l.Items, items...)
	next, isTold, err := l.next(answer, header, items)
	switch {
	case err != nil || next != nil:
		return next, err
	case isTold || len(items) == 0:
		return nil, l.checkTotal(answer)
	}
	return l.unspoken()
}

// itemsOf returns the items of an answer.
func (l *Lister) itemsOf(answer any) ([]any, error) {
	if list, isList := answer.([]any); isList {
		return list, nil
	}
	object, _ := answer.(map[string]any)
	if l.List != "" {
		if items, isList := object[l.List].([]any); isList {
			return items, nil
		}
		return nil, fmt.Errorf("the answer of the collection has no list %q", l.List)
	}
	var found []any
	lists := 0
	for _, name := range sortedKeys(object) {
		if items, isList := object[name].([]any); isList {
			found = items
			lists++
		}
	}
	if lists != 1 {
		return nil, fmt.Errorf("the answer of the collection has %d lists, and nothing says which one has the items", lists)
	}
	return found, nil
}

// next returns what leads to the next page, and whether the answer tells about pages at all.
func (l *Lister) next(answer any, header http.Header, items []any) (next *url.URL, isTold bool, err error) {
	if l.Pages.Next != "" {
		v, has := body.Get(answer, l.Pages.Next)
		if text := text(v); text != "" {
			next, err = l.lead(text)
			return next, true, err
		}
		return nil, has, nil
	}
	if link, has := linkOf(header); has {
		if link == "" {
			return nil, true, nil
		}
		next, err = url.Parse(link)
		return next, true, err
	}
	for _, at := range nextAddresses {
		v, has := body.Get(answer, at)
		if text := text(v); text != "" && (strings.HasPrefix(text, "/") || strings.Contains(text, "://")) {
			next, err = url.Parse(text)
			return next, true, err
		}
		isTold = isTold || has && v == nil
	}
	for _, at := range nextNumbers {
		v, has := body.Get(answer, at)
		if text := text(v); text != "" {
			next, err = l.with("page", text)
			return next, true, err
		}
		isTold = isTold || has
	}
	return l.cursor(answer, items, isTold)
}

// cursor returns the next page by a cursor or by the id of the last item.
func (l *Lister) cursor(answer any, items []any, isTold bool) (*url.URL, bool, error) {
	for _, at := range nextCursors {
		v, has := body.Get(answer, at)
		if text := text(v); text != "" {
			for _, name := range cursorParameters {
				if slices.Contains(l.Pages.Parameters, name) {
					next, err := l.with(name, text)
					return next, true, err
				}
			}
			return nil, true, errPage
		}
		isTold = isTold || has
	}
	for _, at := range moreAt {
		v, _ := body.Get(answer, at)
		if more, isBool := v.(bool); isBool && !more {
			isTold = true
		} else if isBool {
			for _, name := range []string{"starting_after", "after", "cursor"} {
				if slices.Contains(l.Pages.Parameters, name) && len(items) > 0 {
					next, err := l.with(name, l.Identity(items[len(items)-1]))
					return next, true, err
				}
			}
			return nil, true, errPage
		}
	}
	return nil, isTold, nil
}

// unspoken returns the next page of a list whose answers tell nothing about pages: a list that has parameters for
// them is read until a page is empty.
func (l *Lister) unspoken() (*url.URL, error) {
	for _, name := range []string{"page", "page_number"} {
		if slices.Contains(l.Pages.Parameters, name) {
			return l.with(name, strconv.Itoa(l.pages+1))
		}
	}
	if slices.Contains(l.Pages.Parameters, "offset") {
		return l.with("offset", strconv.Itoa(len(l.Items)))
	}
	return nil, nil
}

// checkTotal returns an error if the answer counts more items than were read.
func (l *Lister) checkTotal(answer any) error {
	for _, at := range totals {
		v, _ := body.Get(answer, at)
		if n, err := strconv.Atoi(text(v)); err == nil && n > len(l.Items) {
			return fmt.Errorf("its list counts %d items, and has %d: %w", n, len(l.Items), errPage)
		}
	}
	return nil
}

// lead returns the next page by what the description names.
func (l *Lister) lead(text string) (*url.URL, error) {
	if l.Pages.Parameter == "" {
		return url.Parse(text)
	}
	return l.with(l.Pages.Parameter, text)
}

func (l *Lister) with(name, value string) (*url.URL, error) {
	if value == "" {
		return nil, errPage
	}
	return &url.URL{RawQuery: url.Values{name: {value}}.Encode()}, nil
}

// text returns a text or a number as text, "" for anything else.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// linkOf returns the address of the next page in the header Link, and whether there is such a header.
func linkOf(header http.Header) (string, bool) {
	values := header.Values("Link")
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		address, parameters, hasParameters := strings.Cut(strings.TrimSpace(part), ">")
		if !hasParameters || !strings.HasPrefix(address, "<") {
			continue
		}
		for p := range strings.SplitSeq(parameters, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(name, "rel") && slices.Contains(strings.Fields(strings.Trim(value, `"`)), "next") {
				return address[1:], true
			}
		}
	}
	return "", len(values) > 0
}
