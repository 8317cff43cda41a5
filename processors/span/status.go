package span

import (
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// status sets the protocol's code and returns how the span ended: the status that the program set,
// else the one that the conventions derive from the code. For a caller every refusal is an error;
// for a server only its own faults are.
func (u *interpretation) status(said tracepb.Status_StatusCode) recountv1.Status {
	code, bad, known := u.protocolCode()
	if known {
		*u.code = code
		u.o.Code = u.code
	}
	switch {
	case said == tracepb.Status_STATUS_CODE_ERROR:
		return recountv1.Status_STATUS_ERROR
	case said == tracepb.Status_STATUS_CODE_OK:
		return recountv1.Status_STATUS_OK
	case !known:
		return recountv1.Status_STATUS_UNSPECIFIED
	case bad:
		return recountv1.Status_STATUS_ERROR
	}
	return recountv1.Status_STATUS_OK
}

// protocolCode returns gRPC's code for RPCs, otherwise the HTTP status.
func (u *interpretation) protocolCode() (code uint32, bad, known bool) {
	caller := u.o.Side == recountv1.Side_SIDE_CALLER
	if u.o.Kind == recountv1.RuntimeKind_RUNTIME_KIND_RPC {
		switch u.o.System {
		case "grpc", "connect_rpc", "connectrpc", "":
			if code, known = u.a.number(rpcCode, 16); !known {
				code, known = grpcCode(u.a.text(rpcCode))
			}
			return code, known && code != 0 && (caller || serversFault[code]), known
		}
	}
	code, known = u.a.number(httpStatus, 999)
	if code == 0 {
		return 0, false, false // 0 is a browser's "no answer"
	}
	return code, httpFault(code, caller), known
}

func httpFault(code uint32, caller bool) bool {
	return code >= 500 || caller && code >= 400
}
