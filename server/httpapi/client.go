package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/server/api"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// Client calls a node over HTTP. It implements api.Backend and is safe for concurrent use.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

var _ api.Backend = (*Client)(nil)

// NewClient returns a client of the node at base, a URL such as http://127.0.0.1:7171 or host:port.
// token may be empty; hc may be nil.
func NewClient(base, token string, hc *http.Client) (*Client, error) {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("server %q: want a URL, such as http://127.0.0.1:7171", base)
	}
	if hc == nil {
		// There is no overall timeout, because rebuild and verify stream for a long time: each
		// call's context bounds it. Redirects are not followed: the API sends none, and a redirect
		// could take the token to another server.
		hc = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{
			Proxy:                 nil,
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 90 * time.Second,
		}}
	}
	return &Client{base: u, token: token, http: hc}, nil
}

// CheckToken fails if the token would be sent in clear text over a network: by http:// to a host
// that is not this machine.
func CheckToken(base, token string) error {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || token == "" {
		return nil // NewClient reports invalid URLs
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("server %s: the token is not sent: http:// would show it to everybody on the way to %s", u.Redacted(), host)
}

// APIError is an error that the server answered with.
type APIError struct {
	Status int
	// Type is one of api's problem types, or empty.
	Type   string
	Detail string
	// Places lists what is wrong and where, such as "body[3]: command: value is required".
	Places []string

	details []*huma.ErrorDetail
}

func (e *APIError) Error() string {
	s := e.Detail
	if s == "" {
		s = strings.ToLower(http.StatusText(e.Status))
	}
	if len(e.Places) > 0 {
		s += ": " + strings.Join(e.Places, "; ")
	}
	return s
}

// Is makes errors.Is match the error classes of package schemas and the sentinels of package api.
func (e *APIError) Is(target error) bool {
	switch target {
	case schemas.ErrPoison:
		return e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusRequestEntityTooLarge
	case schemas.ErrTransient, api.ErrUnavailable:
		return e.Status == http.StatusServiceUnavailable
	case api.ErrReused:
		return e.Type == api.TypeReused
	case api.ErrBusy:
		return e.Type == api.TypeBusy
	}
	return false
}

// Append sends the events as one batch of CloudEvents.
func (c *Client) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	batch := make([]cloudEvent, len(events))
	v := url.Values{}
	for i, e := range events {
		batch[i] = toCloudEvent(e)
		if e.Topic != "" {
			v.Set("topic", e.Topic)
		}
	}
	var r AppendResponse
	err := c.call(ctx, http.MethodPost, "/v1/events", v, mediaBatch, batch, &r)
	return r.Events, refusedEvent(err, len(events))
}

// refusedEvent converts a problem with one of n appended events back into the *api.EventError of the
// server's backend. Other errors are returned unchanged.
func refusedEvent(err error, n int) error {
	var ae *APIError
	if !errors.As(err, &ae) || ae.Type != api.TypeInvalid || ae.Status != http.StatusUnprocessableEntity || len(ae.details) != 1 {
		return err
	}
	for i := range n {
		at := locationOf(i, n)
		if field, ok := strings.CutPrefix(ae.details[0].Location, at); ok && (field == "" || field[0] == '.') {
			return &api.EventError{Index: i, Of: n, Err: schemas.Poisonf("%s", strings.TrimLeft(field+": "+ae.details[0].Message, ".: "))}
		}
	}
	return err
}

// Show calls GET /v1/intents/{id}.
func (c *Client) Show(ctx context.Context, ref string) (r commands.ShowResponse, err error) {
	if ref == "" {
		return r, &query.NotFoundError{Ref: ref, Hint: "want an id, the start of one, or a position"}
	}
	err = c.call(ctx, http.MethodGet, "/v1/intents/"+url.PathEscape(ref), nil, "", nil, &r)
	return r, referred(err)
}

// Event calls GET /v1/events/{topic}/{partition}/{offset}.
func (c *Client) Event(ctx context.Context, at schemas.Position) (r api.StoredEvent, err error) {
	path := "/v1/events/" + url.PathEscape(at.Topic) + "/" + strconv.Itoa(int(at.Partition)) + "/" + strconv.FormatInt(at.Offset, 10)
	err = c.call(ctx, http.MethodGet, path, nil, "", nil, &r)
	return r, referred(err)
}

// LogTopics calls GET /v1/log.
func (c *Client) LogTopics(ctx context.Context) (r api.LogTopics, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/log", nil, "", nil, &r)
	return r, err
}

// LogPage calls GET /v1/log/{topic}/{partition}.
func (c *Client) LogPage(ctx context.Context, r api.LogRequest) (page api.LogPage, err error) {
	v := url.Values{}
	if r.From != nil {
		v.Set("from", strconv.FormatInt(*r.From, 10))
	}
	if r.Limit != 0 {
		v.Set("limit", strconv.Itoa(r.Limit))
	}
	if r.Raw {
		v.Set("raw", "true")
	}
	err = c.call(ctx, http.MethodGet, "/v1/log/"+url.PathEscape(r.Topic)+"/"+strconv.Itoa(int(r.Partition)), v, "", nil, &page)
	return page, referred(err)
}

// referred converts a problem about a reference to an event back into the error of package query
// that the server's backend returned. Other errors are returned unchanged.
func referred(err error) error {
	var ae *APIError
	if !errors.As(err, &ae) || len(ae.details) == 0 {
		return err
	}
	end := len(ae.details) - 1
	last := ae.details[end]
	ref, named := last.Value.(string)
	switch {
	case ae.Type == api.TypeErased:
		if gone, ok := valueOf[query.ErasedError](last); ok {
			return &gone
		}
	case ae.Type == api.TypeNotFound && named:
		nf := &query.NotFoundError{Ref: ref, Hint: last.Message}
		if last.Location != "id" {
			nf.Kind = query.NotFoundKind(last.Location)
		}
		return nf
	case ae.Type == api.TypeAmbiguous && last.Location == nameLocation:
		am, ok := valueOf[code.AmbiguousNameError](last)
		candidates, all := valuesOf[code.NameCandidate](ae.details[:end])
		if ok && all {
			am.Candidates = candidates
			return &am
		}
	case ae.Type == api.TypeAmbiguous && named:
		if matches, ok := valuesOf[query.Candidate](ae.details[:end]); ok {
			return &query.AmbiguousError{Prefix: ref, Matches: matches}
		}
	}
	return err
}

// valuesOf decodes the values of an error's details as Ts.
func valuesOf[T any](details []*huma.ErrorDetail) (values []T, ok bool) {
	for _, d := range details {
		v, ok := valueOf[T](d)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// valueOf decodes the value of an error's detail as a T.
func valueOf[T any](d *huma.ErrorDetail) (v T, ok bool) {
	b, err := json.Marshal(d.Value)
	return v, err == nil && json.Unmarshal(b, &v) == nil
}

// Answer calls POST /v1/{path}.
func (c *Client) Answer(ctx context.Context, path string, request, response any) error {
	return referred(c.call(ctx, http.MethodPost, "/v1/"+path, nil, mediaJSON, request, response))
}

// Scan calls GET /v1/intents and copies the answer to w.
func (c *Client) Scan(ctx context.Context, q api.ScanRequest, w io.Writer) error {
	v := filterValues(q.Filters)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	accept := mediaNDJSON
	if q.Format == api.FormatArrow {
		accept = mediaArrow
	}
	resp, err := c.do(ctx, http.MethodGet, "/v1/intents", v, "", nil, accept)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(w, resp.Body)
	return err
}

// Objects calls GET /v1/objects and copies the answer to w.
func (c *Client) Objects(ctx context.Context, q evidence.ExportRequest, w io.Writer) error {
	v, err := exportValues(q)
	if err != nil {
		return err
	}
	accept := mediaNDJSON
	if q.Arrow {
		accept = mediaArrow
	}
	resp, err := c.do(ctx, http.MethodGet, "/v1/objects", v, "", nil, accept)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(w, resp.Body)
	return err
}

// Export calls POST /v1/code/export and copies the answer to w.
func (c *Client) Export(ctx context.Context, q code.ExportRequest, w io.Writer) error {
	b, err := json.Marshal(q)
	if err != nil {
		return err
	}
	resp, err := c.do(ctx, http.MethodPost, "/v1/code/export", nil, mediaJSON, b, exportMedia(q.Format))
	if err != nil {
		return referred(err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(w, resp.Body)
	return err
}

// Follow calls GET /v1/intents for server-sent events. The request's Beat is ignored: the server's
// applies.
func (c *Client) Follow(ctx context.Context, q commands.FollowRequest, each func(commands.Followed) error) error {
	v := filterValues(q.Filters)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.From != nil {
		v.Set("from", q.From.String())
	}
	resp, err := c.do(ctx, http.MethodGet, "/v1/intents", v, "", nil, mediaStream)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	sent := 0
	err = readStream(resp.Body, func(f commands.Followed) error {
		if f.Command != nil {
			sent++
		}
		return each(f)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && (q.Limit == 0 || sent < q.Limit):
		return fmt.Errorf("follow: %w: the server closed the stream", api.ErrUnavailable)
	}
	return err
}

// Status calls GET /v1/status.
func (c *Client) Status(ctx context.Context, q api.StatusRequest) (r api.Status, err error) {
	v := url.Values{}
	if q.Roots {
		v.Set("roots", "true")
	}
	if q.Mark != nil {
		v.Set("mark", q.Mark.String())
	}
	err = c.call(ctx, http.MethodGet, "/v1/status", v, "", nil, &r)
	return r, err
}

// Rebuild calls POST /v1/rebuild.
func (c *Client) Rebuild(ctx context.Context, q api.RebuildRequest, progress func(api.Progress)) (api.RebuildReport, error) {
	return work[api.RebuildReport](ctx, c, "/v1/rebuild", q, progress)
}

// Verify calls POST /v1/verify.
func (c *Client) Verify(ctx context.Context, q api.VerifyRequest, progress func(api.Progress)) (api.VerifyReport, error) {
	return work[api.VerifyReport](ctx, c, "/v1/verify", q, progress)
}

// Backup calls POST /v1/backup.
func (c *Client) Backup(ctx context.Context, q api.BackupRequest, progress func(api.Progress)) (api.BackupReport, error) {
	return work[api.BackupReport](ctx, c, "/v1/backup", q, progress)
}

// Fsck calls POST /v1/fsck.
func (c *Client) Fsck(ctx context.Context, q api.FsckRequest, progress func(api.Progress)) (api.FsckReport, error) {
	return work[api.FsckReport](ctx, c, "/v1/fsck", q, progress)
}

// Grow calls POST /v1/grow.
func (c *Client) Grow(ctx context.Context, q api.GrowRequest, progress func(api.Progress)) (api.GrowReport, error) {
	return work[api.GrowReport](ctx, c, "/v1/grow", q, progress)
}

// Ready calls GET /readyz and returns nil if the node is ready.
func (c *Client) Ready(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "/readyz", nil, "", nil, &Health{})
}

func work[R any](ctx context.Context, c *Client, path string, q any, progress func(api.Progress)) (report R, err error) {
	b, err := json.Marshal(q)
	if err != nil {
		return report, err
	}
	resp, err := c.do(ctx, http.MethodPost, path, nil, mediaJSON, b, mediaNDJSON)
	if err != nil {
		return report, err
	}
	defer resp.Body.Close()
	done := false
	err = readLines(resp.Body, func(raw json.RawMessage) error {
		var l WorkLine[R]
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		switch {
		case l.Problem != nil:
			return apiError(resp, l.Problem)
		case l.Report != nil:
			report, done = *l.Report, true
		case l.Progress != nil && progress != nil:
			progress(*l.Progress)
		}
		return nil
	})
	if err == nil && !done {
		err = fmt.Errorf("%s: the answer was cut short: %w", path, io.ErrUnexpectedEOF)
	}
	return report, err
}

func (c *Client) call(ctx context.Context, method, path string, v url.Values, media string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in); err != nil {
			return err
		}
	}
	resp, err := c.do(ctx, method, path, v, media, body.Bytes(), mediaJSON)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			return fmt.Errorf("%s %s%s: answered %s that is not JSON, not by recount", method, c.base, path, cmp.Or(resp.Header.Get("Content-Type"), "something"))
		}
		return fmt.Errorf("%s %s: answer: %w", method, path, err)
	}
	// Read to the end, so that the connection is reused.
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// remedy returns what to do about a connection that failed, to follow the error; "" if nothing is known.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "; is it running? recount up starts a server, recount status (without --server and RECOUNT_SERVER) prints the address of a running one"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "; did it end, or is this the address of Kafka or of spans? recount status (without --server and RECOUNT_SERVER) prints the address of its HTTP API"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "; it has no TLS: use http://"
	}
	return ""
}

// otherVersion is said of a server that does not know what this program sends.
const otherVersion = "the server is of another version than this program: recount status prints the server's, recount version this program's"

// unknownToServer reports whether a server of recount refuses a request because it does not know the endpoint, or a
// field, that this program knows.
func unknownToServer(m *huma.ErrorModel) bool {
	if m.Type == "" && (m.Status == http.StatusNotFound || m.Status == http.StatusMethodNotAllowed) {
		return true
	}
	return slices.ContainsFunc(m.Errors, func(d *huma.ErrorDetail) bool { return strings.HasPrefix(d.Message, validation.MsgUnexpectedProperty) })
}

// do sends a request and returns an answer of status 200, whose body the caller closes. Any other
// status is an *APIError; a failed connection is an error of class ErrTransient.
func (c *Client) do(ctx context.Context, method, path string, v url.Values, media string, body []byte, accept string) (*http.Response, error) {
	target := strings.TrimSuffix(c.base.String(), "/") + path
	if len(v) > 0 {
		target += "?" + v.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	req.Header.Set("Accept", accept)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, schemas.Transientf("server at %s: %w%s", c.base, err, remedy(err))
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	m := &huma.ErrorModel{}
	switch {
	case json.Unmarshal(b, m) == nil:
		m.Status = resp.StatusCode
		if unknownToServer(m) {
			m.Errors = append(m.Errors, &huma.ErrorDetail{Message: otherVersion})
		}
	case resp.StatusCode == http.StatusBadRequest && resp.TLS == nil && bytes.Contains(b, []byte("HTTPS server")): // Go's own answer
		m = &huma.ErrorModel{Detail: fmt.Sprintf("server at %s: it has TLS: use https://", c.base)}
	default: // a proxy, or another program on the port
		m = &huma.ErrorModel{Detail: fmt.Sprintf("%s %s: answered %s, not by recount", method, target, resp.Status)}
	}
	m.Status = resp.StatusCode
	return nil, apiError(resp, m)
}

func apiError(resp *http.Response, m *huma.ErrorModel) error {
	e := &APIError{Status: m.Status, Type: m.Type, Detail: m.Detail, details: m.Errors}
	for _, d := range m.Errors {
		if m.Type == api.TypeNotFound || m.Type == api.TypeAmbiguous {
			break // the detail already names them
		}
		place := d.Message
		if d.Location != "" {
			place = d.Location + ": " + place
		}
		e.Places = append(e.Places, place)
	}
	return e
}
