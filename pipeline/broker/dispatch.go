package broker

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// api describes how one Kafka API is served.
type api struct {
	// min and max are the supported versions, which ApiVersions advertises.
	min, max int16

	// serve answers a request. It runs on the connection's worker, so requests of a connection are
	// served one after the other. It may block (a long poll, a join), and must return soon after
	// ctx ends, which happens when the client disconnects or the broker closes. A nil response
	// sends no answer. An error closes the connection, so it is only for what the protocol cannot
	// express; other errors go into the response.
	serve func(ctx context.Context, r *request) (kmsg.Response, error)

	// begin is for an API with overlapping requests (produce): it starts the work in the order of
	// arrival, the worker continues with the next request, and finish is called for the response
	// when it is to be written. An API has either serve or begin.
	begin func(ctx context.Context, r *request) (finish func() (kmsg.Response, error), err error)

	// open reports that the API is served before a client has authenticated.
	open bool

	// large allows requests up to Options.MaxFrameBytes; others are limited to maxControlFrame,
	// because a decoder may allocate a hundred times the size of the frame.
	large bool
}

// request is one decoded request of a client.
type request struct {
	conn     *conn
	clientID string // "" if the client sent none
	msg      kmsg.Request
	rights   *Rights // rights of the client; nil: everything
}

// apis returns the table of supported APIs. The handlers of groups and SASL are in their own files
// and have one line here.
func (b *Broker) apis() map[int16]api {
	t := map[int16]api{
		kmsg.ApiVersions.Int16(): {min: 0, max: 4, serve: b.serveAPIVersions, open: true},
	}
	b.addLogAPIs(t)
	b.addGroupAPIs(t)
	b.addSASLAPIs(t)
	return t
}

// begin starts one request according to the table. A panic in a handler is a bug, but affects only
// this connection.
func (b *Broker) begin(ctx context.Context, h api, r *request) (finish func() (kmsg.Response, error), err error) {
	defer func() {
		if p := recover(); p != nil {
			b.log.Error("request handler panicked", "api", kmsg.NameForKey(r.msg.Key()), "panic", p, "stack", string(debug.Stack()))
			finish, err = nil, fmt.Errorf("serve %s: panic: %v", kmsg.NameForKey(r.msg.Key()), p)
		}
	}()
	if h.begin != nil {
		return h.begin(ctx, r)
	}
	resp, err := h.serve(ctx, r)
	return func() (kmsg.Response, error) { return resp, err }, nil
}

// serveAPIVersions returns the table. The frame decoder has already turned an unknown version into
// version 0, as KIP-511 requires; the client gets the table together with the error, so that it can
// retry with a supported version.
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
