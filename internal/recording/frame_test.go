package recording

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const whole = "\x00\x00x2\x00t1700000000.25\x00d1500\x00c/src\x00w/src/app\x00ials\x00h  12* echo a\n b\n\x00.\x00"

func wholeFrame() frame {
	return frame{
		report: report{cwd: "/src", exit: "2", at: "1700000000.25", duration: 1500 * time.Microsecond},
		here:   "/src/app", ignore: "als", text: "echo a\n b\n",
	}
}

// TestFrames checks that complete frames are read, whatever surrounds them, and that everything
// else is dropped.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		why, in string
		want    []string
	}{
		{"none", "", nil},
		{"one", whole, []string{"echo a\n b\n"}},
		{"two", whole + "\x00\x00kls\x00.\x00", []string{"echo a\n b\n", "ls"}},
		{"no text", "\x00\x00x0\x00h\x00.\x00" + whole, []string{"", "echo a\n b\n"}},
		{"no line of a history", "\x00\x00hecho\x00.\x00\x00\x00h12\x00.\x00\x00\x00h12*\x00.\x00", []string{"", "", ""}},
		{"the rest of one", whole[9:] + whole, []string{"echo a\n b\n"}},
		{"an end alone", "\x00.\x00.\x00" + whole, []string{"", "echo a\n b\n"}},
		{"given up in the text", whole[:len(whole)-7] + whole, []string{"echo a\n b\n"}},
		{"given up before the end", whole[:len(whole)-3] + whole, []string{"echo a\n b\n"}},
		{"given up at the end of all", whole + whole[:len(whole)-3], []string{"echo a\n b\n"}},
		{"a field of nobody", "\x00\x00zz\x00kls\x00.\x00" + whole, []string{"echo a\n b\n"}},
		{"a duration that is none", "\x00\x00done\x00kls\x00.\x00" + whole, []string{"echo a\n b\n"}},
		{"longer than the buffer", "\x00\x00k" + strings.Repeat("é", 40<<10) + "\x00.\x00" + whole, []string{strings.Repeat("é", 40<<10), "echo a\n b\n"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := newFrames(iotest.OneByteReader(strings.NewReader(c.in)))
			var got []string
			for {
				f, err := r.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, f.text); f.text == wholeFrame().text {
					if d := cmp.Diff(f, wholeFrame(), cmp.AllowUnexported(frame{}, report{})); d != "" {
						t.Errorf("got - want +\n%s", d)
					}
				}
			}
			if d := cmp.Diff(got, c.want); d != "" {
				t.Errorf("got - want +\n%s", d)
			}
			if large := c.why == "longer than the buffer"; r.large() != large || r.large() {
				t.Errorf("large: want %v once", large)
			}
		})
	}
}

// FuzzFrames checks that no input makes the reader fail or hides a complete frame that follows it.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(whole[4:]))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newFrames(io.MultiReader(strings.NewReader(string(b)), strings.NewReader(whole)))
		last := frame{}
		for {
			f, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			last = f
		}
		if last.text != wholeFrame().text || last.exit != "2" {
			t.Errorf("the last is %+v", last)
		}
	})
}

// TestListenNeedsThePipe checks that a standard input that is not a hook's pipe is refused before
// anything is changed.
func TestListenNeedsThePipe(t *testing.T) {
	was := os.Stdin
	err := Record([]string{"--listen"}, nil, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--listen: ") || os.Stdin != was {
		t.Errorf("got %v", err)
	}
}
