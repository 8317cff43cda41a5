package scope

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

func TestProcedures(t *testing.T) {
	for _, c := range []struct {
		name          string
		lang          func() resolve.Resolver
		archive, want string
	}{
		{"Python's stubs that are not of the repository", fresh, `
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
		{"Python's stubs that are", fresh, `
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
		{"JavaScript's, read at run time", func() resolve.Resolver { return NewScript() }, `
-- server.js --
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const shop = load('./demo.proto').acme.shop;
function load(path) { return grpc.loadPackageDefinition(loader.loadSync(path)); }
function getCart(call, callback) {}
class Server {
  constructor() { this.packages = { shop: load('x') }; }
  static drop(call) {}
  start(server) {
    const all = this.packages.shop.acme.shop;
    server.addService(all.Items.service, { drop: Server.drop.bind(this), list(call) {} });
  }
}
function main() {
  const server = new grpc.Server();
  server.addService(shop.Carts.service, { getCart });
  server.addService(unknown.Carts.service, { getCart });
  server.addService(unknown.Gone, { getCart });
}
function client() {
  const c = new shop.Carts('localhost', grpc.credentials.createInsecure());
  c.getCart({}, () => {});
}
`, `
implements_rpc server.js:Server.drop -> proto *: Items.drop @11:43 (name_matched 500) (external)
implements_rpc server.js:Server.start -> proto *: Items.list @11:73 (name_matched 500) (external)
consumes_rpc server.js:client -> proto js:acme.shop Carts.getCart @22:4 (external)
implements_rpc server.js:getCart -> proto *: Carts.getCart @17:45 (name_matched 500) (external)
implements_rpc server.js:getCart -> proto js:acme.shop Carts.getCart @16:42 (external)
implements_rpc server.js:main -> unknown.Gone @18:36 (unresolved)
`},
		{"Java's base classes", func() resolve.Resolver { return NewJava() }, `
-- src/main/java/shop/AdService.java --
package shop;
import demo.AdServiceGrpc;
import demo.CartServiceGrpc.CartServiceImplBase;
import io.grpc.stub.StreamObserver;
class AdService {
  private static class Impl extends AdServiceGrpc.AdServiceImplBase {
    @Override
    public void getAds(AdRequest req, StreamObserver<AdResponse> out) { out.onCompleted(); }
    void helper(int a) {}
  }
}
class Carts extends CartServiceImplBase {
  public void getCart(GetCartRequest req, StreamObserver<Cart> out) {}
}
class Same extends hipstershop.MailGrpc.MailImplBase {
  public void send(Req req, StreamObserver<Res> out) {}
}
`, `
implements_rpc src/main/java/shop/AdService.java:AdService.Impl.getAds -> proto java:demo AdService.getAds @8:4 (external)
implements_rpc src/main/java/shop/AdService.java:Carts.getCart -> proto java:demo CartService.getCart @13:2 (external)
implements_rpc src/main/java/shop/AdService.java:Same.send -> proto java:hipstershop Mail.send @16:2 (external)
`},
		{"Java's clients", func() resolve.Resolver { return NewJava() }, `
-- src/shop/Client.java --
package shop;
import demo.AdServiceGrpc;
import demo.CartServiceGrpc;
import demo.CartServiceGrpc.CartServiceFutureStub;
class Client {
  private final AdServiceGrpc.AdServiceBlockingStub stub;
  private final CartServiceFutureStub carts = CartServiceGrpc.newFutureStub(null);
  Client(Channel c) { stub = AdServiceGrpc.newBlockingStub(c); }
  void ads() { stub.withDeadlineAfter(3, SECONDS).getAds(null); stub.getChannel(); }
  void more(Channel c) {
    var s = CartServiceGrpc.newBlockingStub(c).withWaitForReady();
    s.addItem(null);
    carts.getCart(null).get();
    hipstershop.MailGrpc.newStub(c).send(null, null);
    AdServiceGrpc.getServiceDescriptor();
  }
}
-- src/own/OwnGrpc.java --
package own;
public final class OwnGrpc {
  public static OwnBlockingStub newBlockingStub(Channel c) { return null; }
  public static final class OwnBlockingStub { public Res ask(Req r) { return null; } }
}
-- src/own/Use.java --
package own;
class Use { void use(Channel c) { OwnGrpc.newBlockingStub(c).ask(null); } }
`, `
consumes_rpc src/own/Use.java:Use.use -> proto java:own Own.ask @2:61 (external)
consumes_rpc src/shop/Client.java:Client.ads -> proto java:demo AdService.getAds @9:50 (external)
consumes_rpc src/shop/Client.java:Client.more -> proto java:demo CartService.addItem @12:6 (external)
consumes_rpc src/shop/Client.java:Client.more -> proto java:demo CartService.getCart @13:10 (external)
consumes_rpc src/shop/Client.java:Client.more -> proto java:hipstershop Mail.send @14:36 (external)
`},
		{"C#'s clients", func() resolve.Resolver { return NewCSharp() }, `
-- Client.cs --
using Hipstershop;
namespace shop;
class Client
{
    private readonly CartService.CartServiceClient carts;
    public Client(Channel c) { carts = new CartService.CartServiceClient(c); }
    public async Task Run(Channel c)
    {
        await carts.GetCartAsync(new Req());
        var mail = new Hipstershop.Mail.MailClient(c);
        mail.Send(null);
        carts.WithHost("x").AddItem(null);
        HttpClient http = new HttpClient();
        http.Send(null);
    }
}
`, `
consumes_rpc Client.cs:Client.Run -> proto *: CartService.addItem @12:28 (name_matched 500) (external)
consumes_rpc Client.cs:Client.Run -> proto *: CartService.getCart @9:20 (name_matched 500) (external)
consumes_rpc Client.cs:Client.Run -> proto csharp:Hipstershop Mail.send @11:13 (external)
`},
		{"C#'s", func() resolve.Resolver { return NewCSharp() }, `
-- services/CartService.cs --
using System.Threading.Tasks;
using Grpc.Core;
using Hipstershop;

namespace cartservice.services
{
    public class CartService : Hipstershop.CartService.CartServiceBase
    {
        public async override Task<Empty> AddItem(AddItemRequest request, ServerCallContext context) { return Empty; }
        public override Task Watch(Req request, IServerStreamWriter<Res> stream, ServerCallContext context) { }
        public void Helper(int a) {}
    }
    internal class Health : HealthBase
    {
        public override Task<Res> Check(Req request, ServerCallContext context) { }
    }
    class Mail : Mails.MailsBase
    {
        public override Task<Res> Send(Req request, ServerCallContext context) { }
    }
}
`, `
implements_rpc services/CartService.cs:CartService.AddItem -> proto csharp:Hipstershop CartService.addItem @9:8 (external)
implements_rpc services/CartService.cs:CartService.Watch -> proto csharp:Hipstershop CartService.watch @10:8 (external)
implements_rpc services/CartService.cs:Mail.Send -> proto *: Mails.send @19:8 (name_matched 500) (external)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, c.lang(), resolvetest.Archive(t, c.archive, factsOf)).Text("implements_rpc", "consumes_rpc")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}
