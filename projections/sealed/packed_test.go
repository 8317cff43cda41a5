package sealed

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestPacked checks that a packed file is smaller, that Map returns what was written or an error if
// the file is truncated or changed, and that Map returns an unpacked file unchanged.
func TestPacked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tail")
	want := bytes.Repeat([]byte("RECOTAIL vectors are mostly zeros\x00\x00\x00\x00\x00\x00\x00\x00"), 60_000) // more than one block
	write := func(w io.Writer) error { _, err := w.Write(want); return err }
	for _, durable := range []bool{false, true} {
		if err := ReplacePacked(OS{}, dir, "tail", durable, write); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(path)
	if err != nil || len(packed)*10 > len(want) {
		t.Fatalf("%d bytes for %d, %v", len(packed), len(want), err)
	}
	mapped := func(content []byte) ([]byte, error) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		b, release, err := Map("a", path)
		if err != nil {
			return nil, err
		}
		defer release()
		return bytes.Clone(b), nil
	}
	for name, content := range map[string][]byte{"packed": packed, "as it is": want} {
		if got, err := mapped(content); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d; %v", name, len(got), len(want), err)
		}
	}
	flipped := bytes.Clone(packed)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{"cut": packed[:len(packed)-1], "flipped": flipped, "begun": packed[:4]} {
		if got, err := mapped(content); err == nil && bytes.Equal(got, want) {
			t.Errorf("%s: taken", name)
		} else if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
