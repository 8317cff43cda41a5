package broker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// api is how one Kafka API is served: one line in apis.
type api struct {
	// min and max are the versions served, as ApiVersions advertises them.
	min, max int16

	// serve answers a request. It runs on the connection's worker, so requests
	// of a connection are served one after the other; it may block (a long
	// poll, a join), and must return soon after ctx ends, which it does when
	// the client is gone or the broker closes. A nil response answers nothing.
	// An error closes the connection: only for what the protocol cannot
	// express. What an API can express it puts into its response.
	serve func(ctx context.Context, r *request) (kmsg.Response, error)

	// begin is for an API whose requests overlap (produce): it starts the work
	// in the order of arrival, the worker goes on to the next request, and
	// finish is called for the response when its turn to be written comes.
	// An API has either serve or begin.
	begin func(ctx context.Context, r *request) (finish func() (kmsg.Response, error), err error)

	// open says that the API is served before a client has authenticated.
	open bool

	// large lets a request be as large as Options.MaxFrameBytes; the others
	// stop at maxControlFrame, because what a decoder allocates can be a
	// hundred times the frame.
	large bool
}

// request is one request of a client, decoded.
type request struct {
	conn     *conn
	clientID string // "" if the client gave none
	msg      kmsg.Request
	rights   *Rights // what the client may do; nil: everything
}

// apis is the table of what the broker serves. Group and SASL handlers live in
// their own files; here stands one line each.
func (b *Broker) apis() map[int16]api {
	t := map[int16]api{
		kmsg.ApiVersions.Int16(): {min: 0, max: 4, serve: b.serveAPIVersions, open: true},
	}
	b.addLogAPIs(t)
	b.addGroupAPIs(t)
	b.addSASLAPIs(t)
	return t
}

// serveRequest runs one request against the table. A panic in a handler is a
// bug of ours, but costs only this connection.
func (b *Broker) begin(ctx context.Context, h api, r *request) (finish func() (kmsg.Response, error), err error) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			b.log.Error("request handler panicked", "api", kmsg.NameForKey(r.msg.Key()), "panic", p, "stack", string(debug.Stack()))
			finish, err = nil, fmt.Errorf("serve %s: panic: %v", kmsg.NameForKey(r.msg.Key()), p)
		}
	}()
	done := func(resp kmsg.Response, err error) (kmsg.Response, error) {
		b.opts.Hooks.onRequest(r.msg.Key(), time.Since(start), err)
		return resp, err
	}
	if h.begin != nil {
		wait, err := h.begin(ctx, r)
		if err != nil {
			return nil, err
		}
		return func() (kmsg.Response, error) { return done(wait()) }, nil
	}
	resp, err := done(h.serve(ctx, r))
	return func() (kmsg.Response, error) { return resp, err }, nil
}

// serveAPIVersions lists the table. A version we do not know was already turned
// into version 0 by the frame decoder, as KIP-511 wants, and gets the list along
// with the error, so that the client can try again with one that we do.
func (b *Broker) serveAPIVersions(_ context.Context, r *request) (kmsg.Response, error) {
	return b.apiVersions(r.msg.(*kmsg.ApiVersionsRequest).Version, 0), nil
}

func (b *Broker) apiVersions(version, code int16) *kmsg.ApiVersionsResponse {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.SetVersion(version)
	resp.ErrorCode = code
	for k := int16(0); k <= kmsg.MaxKey; k++ {
		h, ok := b.table[k]
		if !ok {
			continue
		}
		entry := kmsg.NewApiVersionsResponseApiKey()
		entry.ApiKey, entry.MinVersion, entry.MaxVersion = k, h.min, h.max
		resp.ApiKeys = append(resp.ApiKeys, entry)
	}
	return resp
}

// code is the number of a Kafka error; 0 for nil.
func code(err *kerr.Error) int16 {
	if err == nil {
		return 0
	}
	return err.Code
}
