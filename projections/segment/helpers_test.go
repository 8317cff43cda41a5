package segment

import (
	"testing"
	"unicode/utf8"

	"github.com/recountdb/recount/projections/projtest"
)

// noSync is a disk that does not wait for the machine's: enough where a crash is
// that of the process, and tests are many.
type noSync struct{ osDisk }

type noSyncFile struct{ syncFile }

func (d noSync) Create(name string) (syncFile, error) {
	f, err := d.osDisk.Create(name)
	return noSyncFile{f}, err
}

func (noSync) SyncDir(string) error { return nil }
func (noSyncFile) Sync() error      { return nil }

func open(t testing.TB, dir string, opts Options) *Projection {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	if _, bench := t.(*testing.B); !bench && opts.disk == nil {
		opts.disk = noSync{}
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
