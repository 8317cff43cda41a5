package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These are the names that servers and proxies give to fields, in any case: nginx' variables,
// Caddy's, Traefik's, Envoy's and common custom ones. The first one present is used.
var (
	timeNames     = []string{"time", "timestamp", "@timestamp", "ts", "time_iso8601", "start_time", "starttimeutc", "startutc", "time_local", "msec", "date"}
	methodNames   = []string{"method", "request_method", "http_method", "requestmethod", "verb"}
	pathNames     = []string{"path", "uri", "request_uri", "url", "request_path", "requestpath", "target"}
	routeNames    = []string{"route", "http_route", "http.route", "route_pattern"}
	statusNames   = []string{"status", "status_code", "response_code", "response_status", "downstreamstatus", "code"}
	bytesNames    = []string{"bytes", "body_bytes_sent", "bytes_sent", "size", "response_size", "downstreamcontentsize"}
	remoteNames   = []string{"remote_addr", "remote_ip", "client_ip", "remote", "clienthost", "client", "ip"}
	userNames     = []string{"remote_user", "user", "user_id", "clientusername"}
	hostNames     = []string{"host", "http_host", "requesthost", "server_name", "authority", "vhost"}
	refererNames  = []string{"referer", "http_referer", "referrer", "http_referrer"}
	agentNames    = []string{"user_agent", "http_user_agent", "useragent", "agent"}
	traceNames    = []string{"trace_id", "traceid", "otel_trace_id"}
	durationNames = []struct {
		name string
		unit time.Duration
	}{
		{"request_time", time.Second},
		{"duration", time.Second},
		{"latency", time.Second},
		{"duration_s", time.Second},
		{"elapsed", time.Second},
		{"duration_ms", time.Millisecond},
		{"latency_ms", time.Millisecond},
		{"request_time_ms", time.Millisecond},
		{"elapsed_ms", time.Millisecond},
		{"duration_us", time.Microsecond},
		{"duration_ns", time.Nanosecond},
	}
)

// object is a JSON object with lower-case names.
type object map[string]any

// parseJSON parses an object. The members of Caddy's "request" are added to those of the object.
func parseJSON(line string) (*recountv1.AccessEntry, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(line)))
	d.UseNumber()
	var raw map[string]any
	if err := d.Decode(&raw); err != nil {
		return nil, errors.New("not a JSON object")
	}
	o := object{}
	o.add(raw)
	line, _ = raw["request"].(string)
	if inner, ok := raw["request"].(map[string]any); ok {
		o.add(inner)
		if headers, ok := inner["headers"].(map[string]any); ok {
			for header, field := range map[string]string{"User-Agent": "user_agent", "Referer": "referer"} {
				if list, ok := headers[header].([]any); ok && len(list) > 0 {
					o.set(field, list[0])
				}
			}
		}
	}
	at, err := o.time()
	if err != nil {
		return nil, err
	}
	e := &recountv1.AccessEntry{Time: timestamppb.New(at)}
	if line != "" {
		setRequest(e, line)
	}
	if m := o.text(methodNames); m != "" {
		e.Method = schemas.Clip(strings.ToUpper(m), maxMethod)
	}
	e.Host = schemas.Clip(o.text(hostNames), maxName)
	if p := o.text(pathNames); p != "" {
		setTarget(e, p)
	}
	if e.Method == "" && e.Path == "" {
		return nil, errors.New("neither a method nor a path: want method, path, status and time")
	}
	e.Route = schemas.Clip(withoutQuery(o.text(routeNames)), maxText)
	if n, ok := o.number(statusNames); ok && n >= 0 && n <= 999 {
		e.Status = uint32(n)
	}
	if n, ok := o.number(bytesNames); ok && n >= 0 && n < math.MaxInt64 {
		size := int64(n)
		e.Bytes = &size
	}
	e.Duration = o.duration()
	e.Remote, e.User = schemas.Clip(o.text(remoteNames), maxName), schemas.Clip(o.text(userNames), maxName)
	e.Referer, e.UserAgent = schemas.Clip(withoutQuery(o.text(refererNames)), maxText), schemas.Clip(o.text(agentNames), maxText)
	if id := strings.ToLower(o.text(traceNames)); len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" {
		e.TraceId = id
	}
	return e, nil
}

// add adds the fields of m that are not set yet.
func (o object) add(m map[string]any) {
	// Sorted, since two names may differ only in case.
	for _, name := range slices.Sorted(maps.Keys(m)) {
		o.set(strings.ToLower(name), m[name])
	}
}

func (o object) set(name string, v any) {
	if _, there := o[name]; !there {
		o[name] = v
	}
}

// text returns the first of the named fields that is a string or a number, "" for "-".
func (o object) text(names []string) string {
	for _, name := range names {
		switch v := o[name].(type) {
		case string:
			if v != "" && v != "-" {
				return v
			}
		case json.Number:
			return v.String()
		}
	}
	return ""
}

func (o object) number(names []string) (float64, bool) {
	n, err := strconv.ParseFloat(o.text(names), 64)
	return n, err == nil && !math.IsNaN(n)
}

// time returns when the request arrived: a string in one of several formats, or a number of
// seconds, milli-, micro- or nanoseconds since 1970, told apart by its size.
func (o object) time() (time.Time, error) {
	s := o.text(timeNames)
	if s == "" {
		return time.Time{}, fmt.Errorf("no time: want one of %s", strings.Join(timeNames, ", "))
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02 15:04:05.999999999Z07:00", commonTime} {
		if at, err := time.Parse(form, s); err == nil {
			return checkTime(at)
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || math.IsNaN(n) || n > 1e19 {
		return time.Time{}, fmt.Errorf("time %.40q: want RFC 3339, or a number since 1970", s)
	}
	unit := time.Second
	for _, u := range []struct {
		above float64
		unit  time.Duration
	}{{1e11, time.Millisecond}, {1e14, time.Microsecond}, {1e17, time.Nanosecond}} {
		if n >= u.above {
			unit = u.unit
		}
	}
	// In whole microseconds: a float is not more precise at this size.
	micros := n * float64(unit) / float64(time.Microsecond)
	return checkTime(time.UnixMicro(int64(math.Round(micros))))
}

// duration returns how long the answer took; nil if the line does not say. A string contains its
// unit, or is a number.
func (o object) duration() *durationpb.Duration {
	for _, field := range durationNames {
		s := o.text([]string{field.name})
		if s == "" {
			continue
		}
		unit := field.unit
		if _, traefik := o["downstreamstatus"]; traefik {
			unit = time.Nanosecond
		}
		if d, err := time.ParseDuration(s); err == nil && d >= 0 {
			return durationpb.New(d)
		}
		if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n*float64(unit) < math.MaxInt64 {
			return durationpb.New(time.Duration(math.Round(n * float64(unit))))
		}
	}
	return nil
}
