package proto

import (
	"testing"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf makes the facts of files.
var factsOf = extract.Facts(Language.Files...)

const protos = `
-- api/shop/v1/carts.proto --
syntax = "proto3";
package shop.v1;
import "shop/v1/money.proto";
import "google/protobuf/empty.proto";
option java_package = "com.acme.shop";
service Carts {
  rpc GetCart(Cart.Key) returns (stream Cart) {
    option (google.api.http) = { get: "/v1/carts/{id}" };
  }
  rpc Drop(.shop.v1.Cart.Key) returns (google.protobuf.Empty);
}
message Cart {
  message Key { string id = 1; }
  Key key = 1;
  Money total = 2;
  Gone gone = 3;
  Base base = 4;
}
-- api/shop/v1/money.proto --
syntax = "proto3";
package shop.v1;
import public "shop/base.proto";
message Money { Unit unit = 1; enum Unit { EUR = 0; } }
-- api/shop/base.proto --
syntax = "proto3";
package shop;
message Base {}
-- old/shop/v1/money.proto --
syntax = "proto3";
package shop.v1;
message Money {}
`

func TestProto(t *testing.T) {
	graph := resolvetest.Edges(t, NewResolver(), factsOf, protos, `
imports api/shop/v1/carts.proto -> api/shop/v1/money.proto @3:0
references api/shop/v1/carts.proto:Cart.base -> api/shop/base.proto:Base @17:2
references api/shop/v1/carts.proto:Cart.key -> api/shop/v1/carts.proto:Cart.Key @14:2
references api/shop/v1/carts.proto:Cart.total -> api/shop/v1/money.proto:Money @15:2
references api/shop/v1/carts.proto:Carts.Drop -> api/shop/v1/carts.proto:Cart.Key @10:11
references api/shop/v1/carts.proto:Carts.GetCart -> api/shop/v1/carts.proto:Cart @7:40
references api/shop/v1/carts.proto:Carts.GetCart -> api/shop/v1/carts.proto:Cart.Key @7:14
handles_route api/shop/v1/carts.proto:Carts.GetCart -> api/shop/v1/carts.proto:GET /v1/carts/{id} @8:38
imports api/shop/v1/carts.proto -> proto google/protobuf/empty.proto @4:0 (external)
references api/shop/v1/carts.proto:Carts.Drop -> proto google.protobuf Empty @10:39 (external)
references api/shop/v1/carts.proto:Cart.gone -> Gone @16:2 (unresolved)
imports api/shop/v1/money.proto -> api/shop/base.proto @3:0
references api/shop/v1/money.proto:Money.unit -> api/shop/v1/money.proto:Money.Unit @4:16
`, "imports", "handles_route", "references")
	var stubs string
	for _, n := range graph["api/shop/v1/carts.proto"].Nodes {
		if n.Key.Chain() == "Carts.GetCart" {
			stubs = n.Node.Attributes["stubs"]
		}
	}
	if want := "csharp:Shop.V1 java:com.acme.shop js:shop.v1 python:carts"; stubs != want {
		t.Errorf("stubs %q, want %q", stubs, want)
	}
}

func TestProtoKeepsUp(t *testing.T) {
	first := resolvetest.Archive(t, protos, factsOf)
	second := first.With(map[string]string{"api/shop/v1/money.proto": "syntax = \"proto3\";\npackage shop.v1;\n"})
	third := second.With(nil, "api/shop/base.proto")
	resolvetest.Series(t, NewResolver, first, second, third, first)
}
