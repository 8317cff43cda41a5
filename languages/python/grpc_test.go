package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

func TestProcedures(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"Python's stubs that are not of the repository", `
-- server.py --
import demo_pb2_grpc
from gen import demo_pb2_grpc as g
class Carts(demo_pb2_grpc.CartsServicer):
    def __init__(self, a, b): pass
    def GetCart(self, request, context):
        return self.stub.GetItem(request)
    def helper(self): pass
class Bare:
    def Drop(self, request, context): pass
def serve(server):
    g.add_ItemsServicer_to_server(Bare(), server)
-- client.py --
import grpc
from demo_pb2_grpc import CartsStub
def show():
    stub = CartsStub(grpc.insecure_channel("x"))
    return stub.GetCart(1)
`, `
consumes_rpc client.py:show -> proto python:demo Carts.getCart @5:16 (external)
implements_rpc server.py:Bare.Drop -> proto python:demo Items.drop @9:4 (external)
implements_rpc server.py:Carts.GetCart -> proto python:demo Carts.getCart @5:4 (external)
`},
		{"Python's stubs that are", `
-- demo_pb2_grpc.py --
class CartsStub(object):
    def __init__(self, channel):
        self.GetCart = channel.unary_unary('/shop.Carts/GetCart')
class CartsServicer(object):
    def GetCart(self, request, context): raise NotImplementedError()
def add_CartsServicer_to_server(servicer, server): pass
-- app.py --
import demo_pb2_grpc
class Carts(demo_pb2_grpc.CartsServicer):
    def GetCart(self, request, context): return stub.GetCart(request)
    def Check(self, request, context): pass
stub = demo_pb2_grpc.CartsStub(None)
demo_pb2_grpc.add_CartsServicer_to_server(Carts(), None)
`, `
implements_rpc app.py:Carts.GetCart -> proto python:demo Carts.getCart @3:4 (external)
consumes_rpc app.py:Carts.GetCart -> proto python:demo Carts.getCart @3:53 (external)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, c.archive, factsOf)).Text("implements_rpc", "consumes_rpc")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}
