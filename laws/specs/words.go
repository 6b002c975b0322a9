package main

import (
	"fmt"
	"regexp"
	"strings"
)

// looksSecret are the ends of names whose values must not get out.
var looksSecret = regexp.MustCompile(`(?i)(password|passphrase|secret|token|connection-?_?string|(account|access|api|shared|primary|secondary|private)-?_?key)\d*$`)

// number returns a number within the bounds of a schema.
func number(s schema, v float64) (any, bool) {
	if least, ok := s.get("minimum").(float64); ok && v < least {
		v = least
		if s.get("exclusiveMinimum") == true {
			v++
		}
	}
	if most, ok := s.get("maximum").(float64); ok && v > most {
		v = most
	}
	if step, ok := s.get("multipleOf").(float64); ok && step > 0 {
		v = step * float64(int(v/step)+1)
	}
	return v, true
}

// byFormat are texts of formats.
var byFormat = map[string]string{
	"date-time": "2026-05-04T03:02:01Z", "date": "2026-05-04", "duration": "PT1H",
	"uuid": "11111111-2222-3333-4444-555555555555", "uri": "https://example.org/x",
	"url": "https://example.org/x", "byte": "Y2FuYXJ5", "base64url": "Y2FuYXJ5", "email": "a@example.org",
	"time": "03:02:01", "ipv4": "192.0.2.1",
	"arm-id": "/subscriptions/s1/resourceGroups/g/providers/Example.Other/things/t", "char": "x",
	"date-time-rfc1123": "Mon, 04 May 2026 03:02:01 GMT",
}

// candidates are texts for patterns that nobody wrote a maker for.
var candidates = []string{"a1b2c3d4", "abcdefgh", "A1234567", "12345678", "1", "1.0", "10.0.0.0/16", "192.0.2.1",
	"11111111-2222-3333-4444-555555555555", "a@example.org",
	"https://example.org/x", "/a/b", "/subscriptions/s1/resourceGroups/g/providers/Example.Other/things/t", "03:02",
	"2026-05-04", "PT1H", "westus", "example.org", "$Default", "#ff00ff", "sha256:" + strings.Repeat("a", 64)}

// word returns a text of a schema, "" if there is none, and whether it was made up freely.
func word(s schema, path string, n uint64, isCanary bool) (string, bool) {
	if v := byFormat[text(s.get("format"))]; v != "" {
		return v, false
	}
	least, _ := s.get("minLength").(float64)
	most, hasMost := s.get("maxLength").(float64)
	if strings.HasSuffix(path, "location") && s.get("pattern") == nil {
		return "West US", false
	}
	v := fmt.Sprintf("w%06d", n)
	if isCanary {
		v = fmt.Sprintf("canary%06d", n)
	}
	if isID(path) && !isCanary && s.get("pattern") == nil {
		v = fmt.Sprintf("/subscriptions/s1/resourceGroups/g/providers/Example.Other/things/T%d", n%100)
	}
	for len(v) < int(least) {
		v += "x"
	}
	if hasMost && len(v) > int(most) {
		v = v[len(v)-int(most):]
	}
	pattern, isBound := s.get("pattern").(string)
	if !isBound {
		return v, true
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, c := range append([]string{v, strings.Repeat("a", max(int(least), 1))}, candidates...) {
		if re.MatchString(c) && len(c) >= int(least) && (!hasMost || len(c) <= int(most)) {
			return c, c == v
		}
	}
	return "", false
}

// isID reports whether a property of a name refers to a resource.
func isID(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name == "id" || strings.HasSuffix(name, "ResourceId") || strings.HasSuffix(name, "SubnetId")
}
