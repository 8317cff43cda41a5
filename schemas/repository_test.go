package schemas_test

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

func TestCanonicalURL(t *testing.T) {
	for remote, want := range map[string]string{
		"https://me:secret@GitHub.com/acme/shop.git": "github.com/acme/shop",
		"git@github.com:acme/shop.git":               "github.com/acme/shop",
		"github.com:acme/shop":                       "github.com/acme/shop",
		"ssh://git@host.example:2222/acme/shop/":     "host.example/acme/shop",
		"/srv/git/shop.git":                          "",
		"../shop":                                    "",
		"file:///srv/shop.git":                       "",
		`C:\src\shop`:                                "",
		"":                                           "",
	} {
		if got := schemas.CanonicalURL(remote); got != want {
			t.Errorf("%s: got %q, want %q", remote, got, want)
		}
	}
}
