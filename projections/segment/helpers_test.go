package segment

import (
	"testing"
	"unicode/utf8"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
)

func open(t testing.TB, dir string, opts Options) *Projection {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	if _, bench := t.(*testing.B); !bench && opts.disk == nil {
		opts.disk = sealedtest.NoSync{}
	}
	p, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closeOf(t testing.TB, p *Projection) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// feed applies what p lacks of a shard.
func feed(t testing.TB, p *Projection, sh projtest.Shard) {
	t.Helper()
	if err := p.Apply(t.Context(), sh.Batch(p.Next(sh.TP), sh.Next)); err != nil {
		t.Fatal(err)
	}
}

func validUTF8(s string) bool { return utf8.ValidString(s) }
