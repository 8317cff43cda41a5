package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

func TestProcedures(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"JavaScript's, read at run time", `
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
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, c.archive, factsOf)).Text("implements_rpc", "consumes_rpc")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}
