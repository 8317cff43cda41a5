package otlp

import (
	"errors"
	"io"
	"strings"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // the compression that every sender has
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/server/access"
)

// How gRPC connections are held.
const (
	// maxStreams bounds the exports that one connection may have under way.
	maxStreams = 256
	// window is how much of a request is taken before there is room for it.
	window = 64 << 10
	// receiveTimeout bounds how long a request may take to arrive once there is room
	// for it.
	receiveTimeout = 30 * time.Second
)

// GRPC makes the gRPC server; creds nil serves without TLS.
func (r *Receiver) GRPC(creds credentials.TransportCredentials) *grpc.Server {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(asBytes{}),
		grpc.MaxRecvMsgSize(r.o.MaxRequest),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(1 << 20),
		grpc.MaxHeaderListSize(64 << 10),
		grpc.ConnectionTimeout(10 * time.Second),
		// Senders ping more often than gRPC's default allows, and would be cut off.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 2 * time.Minute, Timeout: 20 * time.Second}),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			method, _ := grpc.MethodFromServerStream(stream)
			return r.answered("grpc", unknownMethod(method), time.Now())
		}),
	}
	if creds != nil {
		options = append(options, grpc.Creds(creds))
	}
	s := grpc.NewServer(options...)
	// On the wire a call with one request is a stream of one. Registered as a stream,
	// the request is read when there is room for it, and not before.
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: collectorpb.TraceService_ServiceDesc.ServiceName,
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{{StreamName: "Export", ClientStreams: true, ServerStreams: true, Handler: r.grpcExport}},
		Metadata:    collectorpb.TraceService_ServiceDesc.Metadata,
	}, nil)
	return s
}

func (r *Receiver) grpcExport(_ any, stream grpc.ServerStream) error {
	start := time.Now()
	ctx := stream.Context()
	answer, err := func() ([]byte, error) {
		from := ""
		if p, ok := peer.FromContext(ctx); ok {
			from = p.Addr.String()
		}
		if _, no := r.o.Gate.EnterFrom(ctx, from, access.Spans, metadata.ValueFromIncomingContext(ctx, "authorization")...); no != nil {
			return nil, notAdmitted(no)
		}
		s, err := r.room.take(ctx, firstShare)
		if err != nil {
			return nil, err
		}
		defer s.leave()
		b, err := r.receive(stream)
		if err != nil {
			return nil, err
		}
		if err := s.grow(ctx, int64(len(b))); err != nil {
			return nil, err
		}
		s.shrink(int64(len(b)))
		a, err := r.export(ctx, b)
		if err != nil {
			return nil, err
		}
		return proto.Marshal(a.response())
	}()
	if err == nil {
		err = stream.SendMsg(&answer)
	}
	return r.answered("grpc", err, start)
}

// receive reads the one request of a stream.
func (r *Receiver) receive(stream grpc.ServerStream) ([]byte, error) {
	type message struct {
		b   []byte
		err error
	}
	// Buffered: when this returns first, the stream ends and with it the read.
	got := make(chan message, 1)
	go func() {
		var m message
		m.err = stream.RecvMsg(&m.b)
		got <- m
	}()
	timeout := time.NewTimer(receiveTimeout)
	defer timeout.Stop()
	var m message
	select {
	case m = <-got:
	case <-timeout.C:
		return nil, &refusal{kind: late, why: "the request did not arrive within " + receiveTimeout.String(), after: afterOverload}
	}
	switch {
	case m.err == nil:
		return m.b, nil
	case errors.Is(m.err, io.EOF):
		return nil, &refusal{kind: badData, why: "no request; want one ExportTraceServiceRequest"}
	case stream.Context().Err() != nil:
		return nil, &refusal{kind: gone, why: "the client went away"}
	}
	// gRPC's own, which it has told the client already: larger than the limit, a
	// compression that is not known.
	return nil, m.err
}

// answered counts a request and gives its error the form that gRPC has.
func (r *Receiver) answered(protocol string, err error, start time.Time) error {
	code := codes.OK
	if err != nil {
		if _, own := status.FromError(err); !own {
			err = refused(err).status().Err()
		}
		code = status.Code(err)
	}
	r.metrics.requests.WithLabelValues(protocol, code.String()).Inc()
	r.metrics.seconds.WithLabelValues(protocol).Observe(time.Since(start).Seconds())
	return err
}

// unknownMethod tells the senders of other signals what to do.
func unknownMethod(method string) *refusal {
	for signal := range envName {
		if strings.HasPrefix(method, "/opentelemetry.proto.collector."+signal+".") {
			return notTraces(method, signal)
		}
	}
	return &refusal{kind: onlyTraces, why: method + ": want /opentelemetry.proto.collector.trace.v1.TraceService/Export"}
}

// response is what OTLP answers.
func (a accepted) response() *collectorpb.ExportTraceServiceResponse {
	if a.refused == 0 {
		return &collectorpb.ExportTraceServiceResponse{}
	}
	return &collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{
		RejectedSpans: int64(a.refused), ErrorMessage: a.problem,
	}}
}

// asBytes hands messages on as they stand on the wire.
type asBytes struct{}

// Name is encoding.CodecV2's.
func (asBytes) Name() string { return "proto" }

// Marshal is encoding.CodecV2's.
func (asBytes) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

// Unmarshal is encoding.CodecV2's. The message is the handler's own: gRPC uses its
// buffers again.
func (asBytes) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
