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
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/server/access"
)

// The limits of gRPC connections.
const (
	// maxStreams is the maximum number of concurrent exports on one connection.
	maxStreams = 256
	// window is the number of bytes of a request that are accepted before memory is reserved for
	// it.
	window = 64 << 10
)

// GRPC returns the gRPC server; it serves without TLS if creds is nil.
func (r *Receiver) GRPC(creds credentials.TransportCredentials) *grpc.Server {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(asBytes{}),
		grpc.MaxRecvMsgSize(r.o.MaxRequest),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(1 << 20),
		grpc.MaxHeaderListSize(64 << 10),
		grpc.ConnectionTimeout(10 * time.Second),
		// Senders ping more often than gRPC's default policy allows and would be disconnected.
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
	// On the wire a unary call is a stream of one request. Registering it as a stream makes it
	// possible to read the request only once memory is reserved for it.
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
		if _, no := r.o.Gate.AuthorizeFrom(ctx, from, access.Spans, metadata.ValueFromIncomingContext(ctx, "authorization")...); no != nil {
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

// receive reads the single request of a stream.
func (r *Receiver) receive(stream grpc.ServerStream) ([]byte, error) {
	type message struct {
		b   []byte
		err error
	}
	// The channel is buffered: if this function returns first, the stream ends, and with it the
	// read.
	got := make(chan message, 1)
	go func() {
		var m message
		m.err = stream.RecvMsg(&m.b)
		got <- m
	}()
	// How much of it has arrived is not known, so that it gets more time than one that stalls.
	arriving, _, arrived := r.room.arrives(stream.Context(), 4*r.o.Patience)
	defer arrived()
	timeout := time.NewTimer(r.o.ReceiveTimeout)
	defer timeout.Stop()
	var m message
	select {
	case m = <-got:
	case <-arriving.Done():
		if why := stalled(arriving); why != nil {
			return nil, why
		}
		m = <-got // ends with the stream
	case <-timeout.C:
		return nil, arrivedLate(r.o.ReceiveTimeout)
	}
	switch {
	case m.err == nil:
		return m.b, nil
	case errors.Is(m.err, io.EOF):
		return nil, &refusal{kind: badData, why: "no message; want one ExportTraceServiceRequest"}
	case stream.Context().Err() != nil:
		return nil, &refusal{kind: gone, why: "the client disconnected"}
	}
	// An error of gRPC itself, which it has already sent to the client: the request exceeds the
	// limit, or its compression is unknown.
	return nil, m.err
}

// answered counts a request and converts its error to a gRPC status.
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

// unknownMethod returns the refusal of a method; senders of other signals learn how to switch them
// off.
func unknownMethod(method string) *refusal {
	for signal := range envName {
		if strings.HasPrefix(method, "/opentelemetry.proto.collector."+signal+".") {
			return notTraces(method, signal)
		}
	}
	return &refusal{kind: onlyTraces, why: method + ": want /opentelemetry.proto.collector.trace.v1.TraceService/Export"}
}

// response returns the answer of OTLP to an export.
func (a accepted) response() *collectorpb.ExportTraceServiceResponse {
	if a.refused == 0 {
		return &collectorpb.ExportTraceServiceResponse{}
	}
	return &collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{
		RejectedSpans: int64(a.refused), ErrorMessage: a.problem,
	}}
}

// asBytes is a codec that passes messages on in their wire format.
type asBytes struct{}

// Name implements encoding.CodecV2.
func (asBytes) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (asBytes) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

// Unmarshal implements encoding.CodecV2. It copies the message, because gRPC reuses its buffers.
func (asBytes) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
