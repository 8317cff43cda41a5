package csharp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolvetest"
)

func TestProcedures(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"C#'s clients", `
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
		{"C#'s", `
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
			got := resolvetest.Full(t, NewResolver(), resolvetest.Archive(t, c.archive, factsOf)).Text("implements_rpc", "consumes_rpc")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}
