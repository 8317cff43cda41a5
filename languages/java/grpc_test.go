package java

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

func TestProcedures(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"Java's base classes", `
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
		{"Java's clients", `
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
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, c.archive, factsOf)).Text("implements_rpc", "consumes_rpc")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}
