package accesslog

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// commonTime is the time format of Common Log Format.
const commonTime = "02/Jan/2006:15:04:05 -0700"

// parseCommon parses
//
//	host ident user [time] "request" status bytes "referer" "user agent" …
//
// The last two fields belong to Combined Log Format. A virtual host may precede the host, as in
// Apache's vhost_combined.
func parseCommon(line string) (*recountv1.AccessEntry, error) {
	before, rest, ok := strings.Cut(line, " [")
	who := strings.Fields(before)
	if !ok || len(who) < 3 {
		return nil, errors.New("neither Common Log Format nor a JSON object")
	}
	when, rest, ok := strings.Cut(rest, "] ")
	if !ok {
		return nil, errors.New("no time in brackets")
	}
	at, err := parseCommonTime(when)
	if err != nil {
		return nil, err
	}
	e := &recountv1.AccessEntry{Time: timestamppb.New(at)}
	names := who[len(who)-3:]
	e.Remote, e.User = schemas.Clip(known(names[0]), maxName), schemas.Clip(known(names[2]), maxName)
	if len(who) > 3 {
		e.Host = schemas.Clip(known(who[len(who)-4]), maxName)
	}
	request, rest, ok := quoted(rest)
	if !ok {
		return nil, errors.New("no request in quotes")
	}
	setRequest(e, request)
	fields := strings.SplitN(strings.TrimSpace(rest), " ", 3)
	status, err := strconv.ParseUint(fields[0], 10, 32)
	if err != nil || status > 999 {
		return nil, fmt.Errorf("status %.20q", fields[0])
	}
	e.Status = uint32(status)
	if len(fields) > 1 {
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil && n >= 0 {
			e.Bytes = &n
		}
	}
	if len(fields) > 2 {
		if referer, rest, ok := quoted(fields[2]); ok {
			e.Referer = schemas.Clip(withoutQuery(known(referer)), maxText)
			if agent, _, ok := quoted(strings.TrimSpace(rest)); ok {
				e.UserAgent = schemas.Clip(known(agent), maxText)
			}
		}
	}
	return e, nil
}

func parseCommonTime(s string) (time.Time, error) {
	at, err := time.Parse(commonTime, s)
	if err != nil {
		return at, fmt.Errorf("time %.40q: want it as 10/Oct/2000:13:55:36 -0700", s)
	}
	return checkTime(at)
}

// checkTime rejects times that an event may not have.
func checkTime(at time.Time) (time.Time, error) {
	if y := at.UTC().Year(); y < 1971 || y >= 2250 {
		return at, fmt.Errorf("time %s: want 1971 to 2249", at.UTC().Format(time.RFC3339))
	}
	return at.UTC(), nil
}

// known returns a field, or "" for the hyphen that means none.
func known(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// quoted reads the text in double quotes at the start of s, in which a backslash escapes a quote.
func quoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unescape(s[1:i]), s[i+1:], true
		}
	}
	return "", s, false
}

// unescape reverses the escapes that servers use for quotes and unprintable bytes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	if u, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return strings.ToValidUTF8(u, "\uFFFD")
	}
	return s
}

// setRequest sets method and path from "GET /a?b HTTP/1.1". Any other line, such as the first bytes
// of TLS, leaves both empty, but still counts as a request.
func setRequest(e *recountv1.AccessEntry, line string) {
	method, rest, ok := strings.Cut(line, " ")
	if !ok || method == "" || strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' && r != '_' && r != '-' }) {
		return
	}
	target := rest
	if i := strings.LastIndex(rest, " HTTP/"); i >= 0 {
		target = rest[:i]
	}
	e.Method = schemas.Clip(method, maxMethod)
	setTarget(e, target)
}

// setTarget sets the path of the request, and the host if the target contains one.
func setTarget(e *recountv1.AccessEntry, target string) {
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		if u, err := url.Parse(target); err == nil {
			if e.Host == "" {
				e.Host = schemas.Clip(u.Host, maxName)
			}
			target = u.EscapedPath()
		}
	}
	e.Path = schemas.Clip(withoutQuery(target), maxText)
}
