package history

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/recountdb/recount/schemas"
)

// TestRecognize checks which entries of a history are found on the log, recorded by hooks or from
// another history.
func TestRecognize(t *testing.T) {
	at := func(sec int64) time.Time { return time.Unix(1_767_000_000+sec, 500) }
	rec := func(n byte, sec int64, command, cwd string) Recorded {
		return Recorded{ID: schemas.EventID{n}, Time: at(sec), Command: command, Cwd: cwd}
	}
	timed := func(lines ...string) string {
		var b strings.Builder
		for i, l := range lines {
			fmt.Fprintf(&b, "#%d\n%s\n", at(int64(i*60)).Unix(), l)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		history  string
		recorded []Recorded
		want     string // one letter per entry: k known, n new
	}{
		"nothing recorded":            {"ls\nls\n", nil, "nn"},
		"each stands for one":         {"ls\nmake\nls\nls\n", []Recorded{rec(1, 0, "ls", "/a"), rec(2, 5, "ls", "/b")}, "nnkk"},
		"another text":                {"ls -l\n", []Recorded{rec(1, 0, "ls", "")}, "n"},
		"after the file was written":  {"ls\n", []Recorded{rec(1, 7200, "ls", "")}, "n"},
		"at its time":                 {timed("make", "make", "make"), []Recorded{rec(1, 61, "make", "/a")}, "nkn"},
		"at another time":             {timed("make"), []Recorded{rec(1, 30, "make", "/a")}, "n"},
		"twice in a second":           {timed("make") + timed("make"), []Recorded{rec(1, 0, "make", ""), rec(2, 1, "make", "")}, "kk"},
		"lines joined by the history": {timed("for i in 1; do\n  echo $i\ndone"), []Recorded{rec(1, 0, "for i in 1; do echo $i done", "")}, "k"},
	} {
		r := NewRecognizer()
		var ids []schemas.EventID
		for e, err := range Bash(strings.NewReader(c.history), Options{User: "ada", Host: "laptop", Time: at(3600)}) {
			if err != nil {
				t.Fatal(err)
			}
			r.Add(e)
			ids = append(ids, e.ID)
		}
		known := r.Known(c.recorded, at(3600))
		got := ""
		for _, id := range ids {
			if known[id] {
				got += "k"
			} else {
				got += "n"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// A command imported under its own id does not match another entry.
		own := []Recorded{{ID: ids[0], Time: at(0), Command: "ls"}, {ID: ids[0], Time: at(0), Command: "make"}}
		if k := r.Known(own, at(3600)); len(k) > 0 {
			t.Errorf("%s: its own entries stand for %v", name, k)
		}
	}
}

// TestOpen checks compressed histories. Before, one was appended as a single command.
func TestOpen(t *testing.T) {
	const text = "ls\nmake test\n"
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, text)
	w.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bz := []byte("BZh91AY&SY\x98\x96\xcfu\x00\x00\x03\xd9\x80\x00\x10\x40\x00\x10\x02\x80")
	for name, c := range map[string]struct {
		in      []byte
		want    string
		refused string
	}{
		"plain":           {[]byte(text), text, ""},
		"empty":           {nil, "", ""},
		"gzip":            {zipped.Bytes(), text, ""},
		"zstd":            {z.EncodeAll([]byte(text), nil), text, ""},
		"xz":              {[]byte("\xfd7zXZ\x00\x00\x04"), "", "xz"},
		"an executable":   {append([]byte("\x7fELF\x02\x01\x01"), bytes.Repeat([]byte{1, 2, 3, 0, 'a'}, 500)...), "", "binary"},
		"cut gzip":        {zipped.Bytes()[:12], "", "damaged"},
		"cut bzip2":       {bz, "", "damaged"},
		"NUL and escapes": {[]byte("ls\x00\x00\x00\nprintf '\x1b[1m'\n" + strings.Repeat("make test\n", 50)), "ls\x00\x00\x00\nprintf '\x1b[1m'\n" + strings.Repeat("make test\n", 50), ""},
	} {
		r, err := Open(bytes.NewReader(c.in))
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != c.want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}
