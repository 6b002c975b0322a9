package body

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// A Format says how two values may be spelled otherwise and mean the same. A text that is not
// of its format is compared as text.
type Format string

// The formats.
const (
	Plain       Format = ""
	ARMID       Format = "arm-id"        // case, and a slash at the end, do not count
	ARMText     Format = "arm-text"      // an ARM id if it begins like one, else exact
	Location    Format = "location"      // case and blanks do not count
	EnumFold    Format = "enum-fold"     // case does not count
	Duration    Format = "duration"      // ISO 8601, by length; a month has no length in days
	DateTime    Format = "date-time"     // RFC 3339, by instant
	Quantity    Format = "quantity"      // of Kubernetes, also as a number
	IntOrString Format = "int-or-string" // 80 and "80" differ
)

// spell returns the one spelling of a text of a format.
func (f Format) spell(text string) string {
	switch f {
	case ARMText:
		const begin = "/subscriptions/"
		if len(text) >= len(begin) && strings.EqualFold(text[:len(begin)], begin) {
			return ARMID.spell(text)
		}
	case ARMID:
		if trimmed := strings.TrimRight(text, "/"); trimmed != "" {
			text = trimmed
		}
		return fold(text)
	case Location:
		return fold(strings.ReplaceAll(text, " ", ""))
	case EnumFold:
		return fold(text)
	case Duration:
		if months, seconds, ok := parseDuration(text); ok {
			return "P" + months.RatString() + "M" + seconds.RatString() + "S"
		}
	case DateTime:
		return instant(text)
	case Quantity:
		if d, ok := parseQuantity(text); ok {
			return d.text()
		}
	}
	return text
}

// fold returns a text without the difference between upper and lower case.
func fold(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// instant returns a time in UTC, with its fraction of any length.
func instant(text string) string {
	if len(text) > 100 {
		return text
	}
	whole, fraction := strings.ToUpper(text), ""
	if i := strings.IndexByte(whole, '.'); i >= 0 {
		end := i + 1
		for end < len(whole) && whole[end] >= '0' && whole[end] <= '9' {
			end++
		}
		if end == i+1 {
			return text
		}
		whole, fraction = whole[:i]+whole[end:], strings.TrimRight(whole[i+1:end], "0")
	}
	t, err := time.Parse(time.RFC3339, whole)
	if err != nil {
		return text
	}
	return t.UTC().Format("2006-01-02T15:04:05") + "." + fraction
}

// parseDuration reads a duration of ISO 8601, such as P1DT12H or -PT0.5S, as months and
// seconds. The last part may have a fraction.
func parseDuration(text string) (months, seconds *big.Rat, ok bool) {
	months, seconds = new(big.Rat), new(big.Rat)
	if len(text) > 100 {
		return nil, nil, false
	}
	rest, isNegative := strings.CutPrefix(text, "-")
	rest, ok = strings.CutPrefix(rest, "P")
	if !ok || rest == "" {
		return nil, nil, false
	}
	date, clock, hasClock := strings.Cut(rest, "T")
	if hasClock && clock == "" {
		return nil, nil, false
	}
	units := []struct {
		part *string
		name byte
		of   *big.Rat
		size int64
	}{
		{&date, 'Y', months, 12}, {&date, 'M', months, 1}, {&date, 'W', seconds, 7 * 86400}, {&date, 'D', seconds, 86400},
		{&clock, 'H', seconds, 3600}, {&clock, 'M', seconds, 60}, {&clock, 'S', seconds, 1},
	}
	isLast := false
	for _, u := range units {
		i := strings.IndexFunc(*u.part, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
		if i <= 0 || (*u.part)[i] != u.name {
			continue
		}
		amount, found := parseAmount((*u.part)[:i])
		if !found || isLast {
			return nil, nil, false
		}
		isLast = !amount.IsInt()
		if isNegative {
			amount.Neg(amount)
		}
		u.of.Add(u.of, amount.Mul(amount, new(big.Rat).SetInt64(u.size)))
		*u.part = (*u.part)[i+1:]
	}
	return months, seconds, date == "" && clock == ""
}

// parseAmount reads a number with a fraction and without an exponent.
func parseAmount(text string) (*big.Rat, bool) {
	whole, fraction, hasFraction := strings.Cut(strings.ReplaceAll(text, ",", "."), ".")
	if !isDigits(whole) || hasFraction && !isDigits(fraction) {
		return nil, false
	}
	return new(big.Rat).SetString(whole + "." + fraction + "0")
}

// parseQuantity reads a quantity of Kubernetes, such as 500m or 1Gi.
func parseQuantity(text string) (decimal, bool) {
	if d, ok := parseDecimal(text); ok {
		return d, true
	}
	if len(text) > 100 {
		return decimal{}, false
	}
	end := strings.LastIndexAny(text, "0123456789.") + 1
	d, ok := parseDecimal(text[:end])
	if !ok || strings.ContainsAny(text[:end], "eE") {
		return decimal{}, false
	}
	suffix := text[end:]
	if i := strings.Index("KMGTPE", strings.TrimSuffix(suffix, "i")); len(suffix) == 2 && suffix[1] == 'i' && i >= 0 {
		m, ok := new(big.Int).SetString("0"+d.digits, 10)
		if !ok {
			return decimal{}, false
		}
		scaled, ok := parseDecimal(m.Lsh(m, uint(10*(i+1))).String())
		scaled.isNegative = d.isNegative
		scaled.exponent.Add(scaled.exponent, d.exponent)
		return scaled, ok
	}
	scale, ok := map[string]int64{"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}[suffix]
	if !ok {
		return decimal{}, false
	}
	if d.digits != "" {
		d.exponent.Add(d.exponent, big.NewInt(scale))
	}
	return d, true
}

// scalar returns the one spelling of a value that is neither a list nor an object, as JSON.
func (f Format) scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if f == Quantity {
			return quote(number(v.String()))
		}
		return number(v.String())
	case string:
		return quote(f.spell(v))
	}
	return quote("?")
}
