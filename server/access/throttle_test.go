package access_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/server/access"
)

const find = "POST /v1/find"

// TestWrongTokensCostTime checks that the delay grows with each wrong token of an address, and that
// valid tokens and requests without a token never wait.
func TestWrongTokensCostTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := access.NewGate("s3cret", nil)
		took := func(address, token string, want int) time.Duration {
			t.Helper()
			began := time.Now()
			_, no := g.AuthorizeFrom(t.Context(), address, find, "Bearer "+token)
			if (no == nil) != (want == 0) || no != nil && no.Status != want {
				t.Errorf("%s from %s: %+v, want %d", token, address, no, want)
			}
			return time.Since(began)
		}
		var delays []time.Duration
		for range 7 {
			delays = append(delays, took("192.0.2.1:5", "wrong", 401))
		}
		if got := fmt.Sprint(delays); got != "[100ms 200ms 400ms 800ms 1.6s 2s 2s]" {
			t.Errorf("delays %s", got)
		}
		for _, c := range []struct {
			address, token string
			status         int
			want           time.Duration
		}{
			{"192.0.2.1:5", "s3cret", 0, 0},
			{"192.0.2.2:5", "wrong", 401, 100 * time.Millisecond},
			{"[::ffff:192.0.2.1]:9", "wrong", 401, 2 * time.Second},
			{"[2001:db8::1]:9", "wrong", 401, 100 * time.Millisecond},
			{"[2001:db8::2]:9", "wrong", 401, 200 * time.Millisecond},
			{"@", "wrong", 401, 100 * time.Millisecond},
		} {
			if got := took(c.address, c.token, c.status); got != c.want {
				t.Errorf("%s from %s took %s, want %s", c.token, c.address, got, c.want)
			}
		}
		time.Sleep(2 * time.Minute)
		if got := took("192.0.2.1:5", "wrong", 401); got != 100*time.Millisecond {
			t.Errorf("a while later it took %s", got)
		}
		began := time.Now()
		if _, no := g.AuthorizeFrom(t.Context(), "192.0.2.1:5", find); no == nil || no.Status != 401 || time.Since(began) > 0 {
			t.Errorf("without a token: %+v after %s", no, time.Since(began))
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, no := g.AuthorizeFrom(gone, "192.0.2.1:5", find, "Bearer wrong"); no == nil || time.Since(began) > 0 {
			t.Errorf("who goes away waits: %+v after %s", no, time.Since(began))
		}
	})
}

// TestManyWrongTokensAtOnce checks that a client that tries many tokens at once does not learn
// sooner which is valid, and that a token in use from the same address is still admitted.
func TestManyWrongTokensAtOnce(t *testing.T) {
	used, unused := access.NewToken(), access.NewToken()
	path := tokensFile(t, access.Entry{SHA256: access.Hash(used), Agent: "a"}, access.Entry{SHA256: access.Hash(unused), Agent: "b"})
	synctest.Test(t, func(t *testing.T) {
		g := open(t, path)
		enter := func(token string) int {
			if _, no := g.AuthorizeFrom(t.Context(), "192.0.2.1:5", "POST /v1/query", "Bearer "+token); no != nil {
				return no.Status
			}
			return 200
		}
		if enter(used) != 200 {
			t.Fatal("refused at rest")
		}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() { enter(fmt.Sprint("wrong", i)) })
		}
		synctest.Wait()
		began := time.Now()
		if got := [3]int{enter(used), enter(unused), enter("wrong")}; got != [3]int{200, 429, 429} || time.Since(began) > 0 {
			t.Errorf("a used token, an unused one and a wrong one: %v after %s", got, time.Since(began))
		}
		all.Wait()
		if got := enter(unused); got != 200 {
			t.Errorf("afterwards: %d", got)
		}
	})
}
